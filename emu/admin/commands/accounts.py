"""Commands about players' accounts: account list, show, add and password."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from emu.admin.ports import AccountAdministration
from emu.commands import Argument, ArgumentKind, Call, Command, Reply
from emu.commands.ranks import ADMINISTRATOR, GUIDE
from emu.errors import CommandError
from emu.model import Account
from emu.times import Moment
from emu.timestamps import timestamp

MOST_SHOWN: Final = 500
NAME: Final = Argument("name", help="the account")


@dataclass(frozen=True, slots=True)
class Accounts:
    """What these commands work on.

    `clean_name` returns a name as it is stored or raises `ValueError`; `hash_password` makes a PHC
    string; `send_away` ends the sessions of an account, saying why; `rank_of` returns the highest
    rank among an account's characters.
    """

    store: AccountAdministration
    clean_name: Callable[[str], str]
    hash_password: Callable[[str], Awaitable[str]]
    send_away: Callable[[int, str], None]
    moment: Callable[[], Moment]
    rank_of: Callable[[int], Awaitable[int]]


def commands(accounts: Accounts) -> list[Command]:
    """Return the commands of this room."""
    return [*_looking(accounts), *_making(accounts)]


def _looking(accounts: Accounts) -> list[Command]:
    async def list_all(call: Call) -> Reply:
        beginning = call["beginning"].casefold()
        moment = accounts.moment()
        rows = [
            _row(account, moment)
            for account in await accounts.store.every()
            if account.name.casefold().startswith(beginning)
        ]
        shown = [
            f"{row['name']:<24} {row['state']:<8} last login {row['last_login'] or 'never'}"
            for row in rows[:MOST_SHOWN]
        ]
        return Reply((f"{len(rows)} accounts", *shown), rows)

    async def show(call: Call) -> Reply:
        row = _row(await found(accounts, call["name"]), accounts.moment())
        return Reply(tuple(f"{key}: {value}" for key, value in row.items()), row)

    beginning = Argument("beginning", help="how names begin", optional=True, default="")
    return [
        Command("account list", "list accounts", list_all, (beginning,), GUIDE),
        Command("account show", "show an account", show, (NAME,), GUIDE),
    ]


def _making(accounts: Accounts) -> list[Command]:
    async def add(call: Call) -> Reply:
        try:
            name = accounts.clean_name(call["name"])
        except ValueError as error:
            raise CommandError(str(error)) from None
        hashed = await accounts.hash_password(call["password"])
        made = await accounts.store.add_account(name, hashed, accounts.moment())
        return Reply((f"added account {made.name} with the id {made.id}",), {"id": made.id})

    async def password(call: Call) -> Reply:
        account = await subordinate(accounts, call, call["name"])
        hashed = await accounts.hash_password(call["password"])
        await accounts.store.set_password(account.id, hashed)
        return Reply((f"account {account.name} has a new password",))

    secret = Argument("password", ArgumentKind.SECRET)
    return [
        Command("account add", "add an account", add, (NAME, secret), ADMINISTRATOR),
        Command("account password", "give an account another password", password,
                (NAME, secret), ADMINISTRATOR),
    ]  # fmt: skip


async def found(accounts: Accounts, name: str) -> Account:
    """Return the account of a name. Raises `CommandError`."""
    account = await accounts.store.find_account(name)
    if account is None:
        raise CommandError(f"there is no account {name}")
    return account


async def subordinate(accounts: Accounts, call: Call, name: str) -> Account:
    """Return an account that the caller stands above. Raises `CommandError`."""
    account = await found(accounts, name)
    if await accounts.rank_of(account.id) >= call.caller.rank:
        raise CommandError(f"account {account.name} has your rank or a higher one")
    return account


def _row(account: Account, moment: Moment) -> dict[str, Any]:
    return {
        "id": account.id,
        "name": account.name,
        "state": account.state(moment),
        "created": _shown(account.created),
        "last_login": _shown(account.last_login),
        "last_address": account.last_address,
        "last_client_version": account.last_client_version,
        "ban_reason": account.ban_reason,
    }


def _shown(moment: Moment | None) -> str:
    return timestamp(moment) if moment else ""
