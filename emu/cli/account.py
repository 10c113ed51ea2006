"""`emu account`: players' accounts. Works on the database, beside a running server if need be."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from emu.cli.account_addresses import address
from emu.cli.common import load_config
from emu.cli.moments import end_of, end_options, present
from emu.cli.secrets import password_option
from emu.cli.stores import change_store, chosen_password, look_store
from emu.cli.tables import Row, format_option, print_record, print_rows, show_moment
from emu.errors import CommandError
from emu.login.account_names import account_name
from emu.login.passwords import SALT_SIZE, PasswordConfig, hash_password, is_phc
from emu.model import Account
from emu.sqldump import read_inserts
from emu.store import Store
from emu.store.eq2emu_import import TABLES, ImportReport, import_dump
from emu.times import Moment

COLUMNS = (
    "id", "name", "state", "created", "last_login", "last_address", "last_client_version",
)  # fmt: skip

CONFIGURED_BY = {
    "max_characters_per_account": "[login] max_characters",
    "accountcreation": "[login] auto_create_accounts",
    "expansionflag": "[login] expansion_flag",
    "citiesflag": "[login] cities_flag",
    "defaultsubscriptionlevel": "[login] subscription_level",
    "enabledraces": "[login] enabled_races",
}
"""Setting of EQ2Emulator -> our configuration key."""


@click.group()
def account() -> None:
    """Players' accounts: add, list, ban, import.

    Changes count from the next login on; who is logged in stays.

    Example: emu account list
    """


account.add_command(address)


@account.command()
@click.argument("name")
@password_option
@click.pass_context
def add(ctx: click.Context, name: str, password: str | None) -> None:
    """Add an account; the database is made when there is none.

    Example: emu account add alice
    """
    clean = _clean(name)
    with change_store(ctx, create=True) as store:
        if store.find_account(clean) is not None:
            raise CommandError(f"there is already an account {clean!r}")
        hashed = _hash(ctx, chosen_password(password))
        added = store.add_account(clean, hashed, present())
    click.echo(f"added account {added.name!r} with the id {added.id}", err=True)


@account.command("list")
@format_option
@click.pass_context
def list_accounts(ctx: click.Context, style: str) -> None:
    """List all accounts by name.

    Example: emu account list --format csv > accounts.csv
    """
    moment = present()
    with look_store(ctx) as store:
        print_rows([_row(account, moment) for account in store.accounts()], style, COLUMNS)


@account.command()
@click.argument("name")
@format_option
@click.pass_context
def show(ctx: click.Context, name: str, style: str) -> None:
    """Show all there is to know about one account, but for its password.

    Example: emu account show alice
    """
    with look_store(ctx) as store:
        found = _find(store, name)
        characters = store.characters_of(found.id)
    record = _row(found, present()) | {
        "banned_until": _ban_end(found.banned_until),
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
@click.pass_context
def password(ctx: click.Context, name: str, password: str | None) -> None:
    """Give an account another password.

    Example: emu account password alice
    """
    with change_store(ctx) as store:
        found = _find(store, name)
        store.set_password(found.id, _hash(ctx, chosen_password(password)))
    click.echo(f"account {found.name!r} has a new password", err=True)


@account.command()
@click.argument("name")
@click.pass_context
def disable(ctx: click.Context, name: str) -> None:
    """Keep an account from logging in until it is enabled again.

    Example: emu account disable alice
    """
    _set_enabled(ctx, name, enabled=False)


@account.command()
@click.argument("name")
@click.pass_context
def enable(ctx: click.Context, name: str) -> None:
    """Let a disabled account log in again.

    Example: emu account enable alice
    """
    _set_enabled(ctx, name, enabled=True)


@account.command()
@click.argument("name")
@end_options
@click.option("--reason", default="", help="Why; players do not see it.")
@click.pass_context
def ban(
    ctx: click.Context, name: str, until: Moment | None, lasting: float | None, reason: str
) -> None:
    """Ban an account for a while, or for ever without --until and --for.

    Example: emu account ban alice --for 7d --reason "gold selling"
    """
    end = end_of(until, lasting, present())
    with change_store(ctx) as store:
        found = _find(store, name)
        store.ban_account(found.id, end, reason)
    click.echo(f"account {found.name!r} is banned until: {_ban_end(end)}", err=True)


@account.command()
@click.argument("name")
@click.pass_context
def unban(ctx: click.Context, name: str) -> None:
    """Lift an account's ban.

    Example: emu account unban alice
    """
    with change_store(ctx) as store:
        found = _find(store, name)
        store.ban_account(found.id, None, "")
    click.echo(f"account {found.name!r} is not banned", err=True)


@account.command()
@click.argument("name")
@click.option("--characters", is_flag=True, help="Remove it even though it has characters.")
@click.pass_context
def remove(ctx: click.Context, name: str, characters: bool) -> None:
    """Remove an account for good, with the login server's rows of its characters.

    Example: emu account remove alice
    """
    with change_store(ctx) as store:
        found = _find(store, name)
        count = store.count_characters(account_id=found.id)
        if count and not characters:
            raise CommandError(
                f"account {found.name!r} has {count} characters; disable it instead, or add"
                " --characters"
            )
        store.remove_account(found.id)
    click.echo(f"removed account {found.name!r} and {count} characters", err=True)


@account.command("import-eq2emu")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
@click.option(
    "--renumber", is_flag=True, help="Give rows whose id is taken here a new one; see above."
)
@format_option
@click.pass_context
def import_eq2emu(
    ctx: click.Context, file: Path, dry_run: bool, renumber: bool, style: str
) -> None:
    """Take over an SQL dump of EQ2Emulator's login database; nothing in it is executed.

    Takes the tables account, login_worldservers, login_bannedips and login_config, all or nothing.
    Passwords keep working. Accounts and worlds that are here already stay as they are, so the
    command may be run again. Ids are kept, because worlds know their players' accounts by id; when
    an id belongs to somebody else here, nothing is imported unless --renumber is given, and then
    characters on existing worlds do not belong to the renumbered accounts.

    Example: emu account import-eq2emu eq2login.sql.gz --dry-run
    """
    with _import_target(ctx, dry_run=dry_run) as store:
        report = import_dump(
            store,
            partial(read_inserts, file, TABLES),
            clean_name=account_name,
            moment=present(),
            renumber=renumber,
            dry_run=dry_run,
        )
    _print_report(report, style)
    click.echo("nothing was changed (--dry-run)" if dry_run else "done", err=True)


@contextmanager
def _import_target(ctx: click.Context, *, dry_run: bool) -> Iterator[Store]:
    """Open the database; to try an import where there is none, an empty one for the moment."""
    if not dry_run:
        with change_store(ctx, create=True) as store:
            yield store
        return
    path = load_config(ctx).database.path
    if path.exists():
        with Store.create(path) as store:
            yield store
        return
    with TemporaryDirectory() as folder, Store.create(Path(folder) / "emu.sqlite") as store:
        yield store


def _print_report(report: ImportReport, style: str) -> None:
    for note in report.notes:
        click.echo(note, err=True)
    for name, value in report.settings.items():
        key = CONFIGURED_BY.get(name)
        if key is not None:
            click.echo(f"{name} was {value}: set {key} in the configuration if you want", err=True)
    rows: list[Row] = [
        {
            "table": table,
            "rows": tally.read,
            "added": tally.added,
            "here_already": tally.present,
            "left_out": tally.skipped,
        }
        for table, tally in report.tables.items()
    ]
    print_rows(rows, style, ("table", "rows", "added", "here_already", "left_out"))


def _clean(name: str) -> str:
    try:
        return account_name(name)
    except ValueError as error:
        raise CommandError(str(error)) from None


def _find(store: Store, name: str) -> Account:
    found = store.find_account(name.strip())
    if found is None:
        raise CommandError(f"there is no account {name!r}; `emu account list` shows all")
    return found


def _set_enabled(ctx: click.Context, name: str, *, enabled: bool) -> None:
    with change_store(ctx) as store:
        found = _find(store, name)
        store.set_account_enabled(found.id, enabled)
    click.echo(f"account {found.name!r} is {'enabled' if enabled else 'disabled'}", err=True)


def _hash(ctx: click.Context, password: bytes) -> str:
    login = load_config(ctx).login
    config = PasswordConfig(
        memory_cost=login.password_memory_cost, iterations=login.password_iterations
    )
    return hash_password(password, secrets.token_bytes(SALT_SIZE), config)


def _row(account: Account, moment: Moment) -> dict[str, str | int | float | bool | None]:
    banned = account.banned_until is not None and moment < account.banned_until
    state = "banned" if banned else "enabled"
    return {
        "id": account.id,
        "name": account.name,
        "state": state if account.enabled else "disabled",
        "created": show_moment(account.created),
        "last_login": show_moment(account.last_login),
        "last_address": account.last_address,
        "last_client_version": account.last_client_version,
    }


def _ban_end(until: Moment | None) -> str | None:
    return "never" if until == math.inf else show_moment(until)


def _kind(stored: str) -> str:
    if is_phc(stored):
        return "Argon2id"
    return "EQ2Emulator's SHA-512, upgraded at the next login" if stored else "none"
