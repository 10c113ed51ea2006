"""Commands about players' accounts: list, show, add, password, ban, enable.

They count from the next login on; who is banned is sent away at once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from emu.admin.commands.characters import CHARACTER, character_named
from emu.admin.ports import AccountAdministration, CharacterList
from emu.commands import Argument, ArgumentKind, Call, Command, Reply
from emu.commands.registry import ADMINISTRATOR, GUIDE, MASTER, check_authority
from emu.errors import CommandError
from emu.model import Account
from emu.texts import timestamp
from emu.times import Moment

MOST_SHOWN: Final = 500
NAME: Final = Argument("name", help="the account")


@dataclass(frozen=True, slots=True)
class AccountCommandContext:
    """What these commands work on.

    `clean_name` returns a name as it is stored or raises `ValueError`; `hash_password` makes a PHC
    string; `send_away` ends the sessions of an account, saying why; `authority_of` returns the
    rank that protects an account, see `emu.commands.registry.account_authority`.
    """

    store: AccountAdministration
    clean_name: Callable[[str], str]
    hash_password: Callable[[str], Awaitable[str]]
    send_away: Callable[[int, str], None]
    moment: Callable[[], Moment]
    authority_of: Callable[[int], Awaitable[int]]


def account_commands(accounts: AccountCommandContext) -> list[Command]:
    """Return the commands of this room."""
    return [*_looking(accounts), *_making(accounts)]


def _looking(accounts: AccountCommandContext) -> list[Command]:
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


def _making(accounts: AccountCommandContext) -> list[Command]:
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


async def found(accounts: AccountCommandContext, name: str) -> Account:
    """Return the account of a name. Raises `CommandError`."""
    account = await accounts.store.find_account(name)
    if account is None:
        raise CommandError(f"there is no account {name}")
    return account


async def subordinate(accounts: AccountCommandContext, call: Call, name: str) -> Account:
    """Return an account that the caller stands above. Raises `CommandError`."""
    account = await found(accounts, name)
    rank = await accounts.authority_of(account.id)
    check_authority(call.caller.rank, rank, f"account {account.name}")
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


UNITS: Final = {"m": 60, "h": 3600, "d": 86400, "w": 604800}
FOR_EVER: Final = "ever"
LASTING: Final = Argument(
    "lasting", help="90m, 12h, 7d, 2w or ever", optional=True, default=FOR_EVER
)
REASON: Final = Argument(
    "reason", ArgumentKind.TEXT, "players do not see it", optional=True, default=""
)


def ban_commands(accounts: AccountCommandContext, characters: CharacterList) -> list[Command]:
    """Return the commands of this room."""
    return [*_banning(accounts, characters), *_switching(accounts)]


def _banning(accounts: AccountCommandContext, characters: CharacterList) -> list[Command]:
    async def ban(call: Call) -> Reply:
        return await _ban(accounts, call, call["name"])

    async def ban_owner(call: Call) -> Reply:
        entry = await character_named(characters, call["name"])
        if not entry.account:
            raise CommandError(f"the account of {entry.name} is another login server's")
        return await _ban(accounts, call, entry.account)

    async def unban(call: Call) -> Reply:
        account = await subordinate(accounts, call, call["name"])
        await accounts.store.ban(account.id, None, "")
        return Reply((f"account {account.name} is not banned",))

    return [
        Command("account ban", "keep an account out", ban, (NAME, LASTING, REASON), MASTER),
        Command("account unban", "let a banned account in again", unban, (NAME,), MASTER),
        Command("character ban", "keep the account of a character out", ban_owner,
                (CHARACTER, LASTING, REASON), MASTER),
    ]  # fmt: skip


async def _ban(accounts: AccountCommandContext, call: Call, name: str) -> Reply:
    account = await subordinate(accounts, call, name)
    until = _end(call["lasting"], accounts.moment())
    await accounts.store.ban(account.id, until, call["reason"])
    accounts.send_away(account.id, f"account banned by {call.caller.name}")
    end = "for ever" if math.isinf(until) else f"until {timestamp(until)}"
    return Reply((f"account {account.name} is banned {end}",))


def _switching(accounts: AccountCommandContext) -> list[Command]:
    async def enable(call: Call) -> Reply:
        account = await subordinate(accounts, call, call["name"])
        await accounts.store.set_enabled(account.id, enabled=True)
        return Reply((f"account {account.name} is enabled",))

    async def disable(call: Call) -> Reply:
        account = await subordinate(accounts, call, call["name"])
        await accounts.store.set_enabled(account.id, enabled=False)
        accounts.send_away(account.id, f"account disabled by {call.caller.name}")
        return Reply((f"account {account.name} is disabled",))

    return [
        Command("account enable", "let a disabled account log in again", enable, (NAME,),
                ADMINISTRATOR),
        Command("account disable", "keep an account from logging in", disable, (NAME,),
                ADMINISTRATOR),
    ]  # fmt: skip


def _end(lasting: str, moment: Moment) -> Moment:
    """Return when a ban ends that begins now. Raises `CommandError`."""
    if lasting == FOR_EVER:
        return Moment(math.inf)
    match = re.fullmatch(r"(\d{1,5})([mhdw])", lasting)
    if match is None:
        raise CommandError(f"lasting: {lasting!r} is no span of time; write 90m, 12h, 7d, 2w, ever")
    return Moment(moment + int(match[1]) * UNITS[match[2]])
