"""`emu account`: players' accounts. Works on the database, also while a server is running."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import click

from emu.cli.addresses import address
from emu.cli.common import (
    VerbGroup,
    acting,
    add_removal,
    add_switches,
    change_store,
    chosen_password,
    load_config,
    read_store,
)
from emu.cli.eq2emu import import_login_dump
from emu.cli.options import end_of, end_options, password_option, present
from emu.cli.tables import (
    Row,
    format_option,
    print_record,
    print_rows,
    show_moment,
    show_rank,
)
from emu.commands.registry import account_rank
from emu.errors import CommandError
from emu.login.names import new_account_name
from emu.login.passwords import SALT_SIZE, hash_password, is_phc, password_fault
from emu.model import Account
from emu.net import parameters
from emu.store import Store
from emu.texts import ban_end_text
from emu.times import Moment

COLUMNS = (
    "id", "name", "state", "rank", "banned_until", "created", "last_login", "last_address",
    "last_client_version",
)  # fmt: skip


@click.group(cls=VerbGroup)
def account() -> None:
    """Manage players' accounts: add, list, ban, import.

    A running server applies a change at once: a player leaves its world if the account or address
    is banned, or the account is disabled or removed. An account's rank is the highest rank of its
    characters; `emu character rank` changes it.

    Example: emu account list
    """


account.add_command(address)
account.add_command(import_login_dump)


@account.command()
@click.argument("name")
@password_option
def add(name: str, password: str | None) -> None:
    """Add an account. The database is created if it does not exist.

    Example: emu account add alice
    """
    clean = _clean(name)
    with change_store(create=True) as store:
        if store.login.accounts.find(clean) is not None:
            raise CommandError(f"there is already an account {clean!r}")
        # The password is asked for only after the name has been found to be free.
        hashed = _hash(chosen_password(password))
        with acting(store, f"account {clean}", f"added account {clean!r}") as report:
            added = store.login.accounts.add(clean, hashed, present())
            report.result += f" with the id {added.id}"


@account.command("list")
@format_option
def list_accounts(style: str) -> None:
    """List all accounts, sorted by name.

    Example: emu account list --format csv > accounts.csv
    """
    moment = present()
    with read_store() as store:
        accounts, statuses = store.login.accounts.every(), store.world.characters.statuses()
    rows = [_row(one, moment, statuses.get(one.id, ()), style) for one in accounts]
    print_rows(rows, style, COLUMNS, least=("created", "last_client_version"))


@account.command()
@click.argument("name")
@format_option
def show(name: str, style: str) -> None:
    """Show one account: state, last login, ban.

    Example: emu account show alice
    """
    with read_store() as store:
        found = _find(store, name)
        characters = store.login.characters.of_account(found.id)
        statuses = store.world.characters.statuses_of(found.id)
    record = _row(found, present(), statuses, style) | {
        "banned_until": ban_end_text(found.banned_until),
        "ban_reason": found.ban_reason,
        "password_kind": _kind(found.password),
        "characters": ", ".join(f"{item.name} (level {item.level})" for item in characters),
    }
    listed: list[Row] = [
        {"name": item.name, "level": item.level, "world_id": item.world_id, "id": item.char_id}
        for item in characters
    ]
    print_record(record, style, structured={"characters": listed})


@account.command()
@click.argument("name")
@password_option
def password(name: str, password: str | None) -> None:
    """Change the password of an account.

    Example: emu account password alice
    """
    with change_store() as store:
        found = _find(store, name)
        hashed = _hash(chosen_password(password))
        with acting(store, f"account {found.name}", f"account {found.name!r} has a new password"):
            store.login.accounts.set_password(found.id, hashed)


@account.command()
@click.argument("name")
@end_options
@click.option("--reason", default="", help="The reason; players do not see it.")
def ban(name: str, until: Moment | None, lasting: float | None, reason: str) -> None:
    """Ban an account for some time, or for ever without --until and --for.

    Example: emu account ban alice --for 7d --reason "gold selling"
    """
    end = end_of(until, lasting, present())
    with change_store() as store:
        found = _find(store, name)
        state = f"banned until: {ban_end_text(end)}"
        with acting(
            store, f"account {found.name}", f"account {found.name!r} is {state}",
            before=found.state(present()), after=state, reason=reason,
        ):  # fmt: skip
            store.login.accounts.ban(found.id, end, reason)


@account.command()
@click.argument("name")
def unban(name: str) -> None:
    """Lift the ban of an account.

    Example: emu account unban alice
    """
    with change_store() as store:
        found = _find(store, name)
        with acting(
            store, f"account {found.name}", f"account {found.name!r} is not banned",
            before=found.state(present()), after="not banned",
        ):  # fmt: skip
            store.login.accounts.ban(found.id, None, "")


def _clean(name: str) -> str:
    try:
        return new_account_name(name)
    except ValueError as error:
        raise CommandError(str(error)) from None


def _find(store: Store, name: str) -> Account:
    found = store.login.accounts.find(name.strip())
    if found is None:
        raise CommandError(f"there is no account {name!r}; `emu account list` shows all")
    return found


add_switches(
    account, "account", "log in", "alice", find=_find,
    store_enabled=lambda store, row_id, on: store.login.accounts.set_enabled(row_id, on),
)  # fmt: skip
add_removal(
    account, "account", "alice", find=_find,
    count=lambda store, row_id: store.login.characters.count_of_account(row_id),
    remove=lambda store, row_id: store.login.accounts.remove(row_id),
)  # fmt: skip


def _hash(password: bytes) -> str:
    """Return the hash of a new password. Raises `CommandError` if it cannot be set."""
    config = parameters.account_config(load_config())
    fault = password_fault(password, config.shortest_password)
    if fault:
        raise CommandError(f"{fault} (login.password_min_length)")
    return hash_password(password, secrets.token_bytes(SALT_SIZE), config.passwords)


def _row(
    account: Account, moment: Moment, statuses: Sequence[int], style: str
) -> dict[str, str | int | float | bool | None]:
    return {
        "id": account.id,
        "name": account.name,
        "state": account.state(moment),
        "rank": show_rank(account_rank(statuses), style),
        "banned_until": ban_end_text(account.ban_end(moment)),
        "created": show_moment(account.created),
        "last_login": show_moment(account.last_login),
        "last_address": account.last_address,
        "last_client_version": account.last_client_version,
    }


def _kind(stored: str) -> str:
    if is_phc(stored):
        return "Argon2id"
    return "EQ2Emulator's SHA-512, upgraded at the next login" if stored else "none"
