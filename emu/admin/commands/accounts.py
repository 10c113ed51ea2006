"""Commands about players' accounts: list, show, add, password, ban, enable.

A change takes effect at the next login. A ban also ends the account's sessions at once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from emu.admin.commands.characters import CHARACTER, character_named
from emu.admin.ports import AccountAdministration, CharacterList
from emu.commands import Argument, ArgumentKind, Call, CommandSet, Reply
from emu.commands.registry import ADMINISTRATOR, GUIDE, MASTER, check_authority
from emu.errors import CommandError
from emu.model import Account
from emu.texts import timestamp
from emu.times import Moment

MOST_SHOWN: Final = 500
UNITS: Final = {"m": 60, "h": 3600, "d": 86400, "w": 604800}
FOR_EVER: Final = "ever"

NAME: Final = Argument("name", help="the account")
BEGINNING: Final = Argument("beginning", help="how names begin", optional=True, default="")
PASSWORD: Final = Argument("password", ArgumentKind.SECRET)
LASTING: Final = Argument(
    "lasting", help="90m, 12h, 7d, 2w or ever", optional=True, default=FOR_EVER
)
REASON: Final = Argument(
    "reason", ArgumentKind.TEXT, "players do not see it", optional=True, default=""
)


@dataclass(frozen=True, slots=True)
class AccountCommandContext:
    """The context of these commands.

    `clean_name` returns a name as it is stored, or raises `ValueError`. `hash_password` returns a
    PHC string. `disconnect` ends the sessions of an account, with a reason for the log.
    `authority_of` returns the rank that protects an account, see
    `emu.commands.registry.account_authority`.
    """

    store: AccountAdministration
    characters: CharacterList
    clean_name: Callable[[str], str]
    hash_password: Callable[[str], Awaitable[str]]
    disconnect: Callable[[int, str], None]
    moment: Callable[[], Moment]
    authority_of: Callable[[int], Awaitable[int]]


COMMANDS = CommandSet[AccountCommandContext]()


@COMMANDS.command("account list", "list accounts", BEGINNING, rank=GUIDE, example="account list al")
async def _list(accounts: AccountCommandContext, call: Call) -> Reply:
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


@COMMANDS.command("account show", "show an account", NAME, rank=GUIDE, example="account show alice")
async def _show(accounts: AccountCommandContext, call: Call) -> Reply:
    row = _row(await found(accounts, call["name"]), accounts.moment())
    return Reply(tuple(f"{key}: {value}" for key, value in row.items()), row)


@COMMANDS.command(
    "account add", "add an account", NAME, PASSWORD, rank=ADMINISTRATOR,
    example="account add alice 'a long password'",
)  # fmt: skip
async def _add(accounts: AccountCommandContext, call: Call) -> Reply:
    try:
        name = accounts.clean_name(call["name"])
    except ValueError as error:
        raise CommandError(str(error)) from None
    hashed = await accounts.hash_password(call["password"])
    made = await accounts.store.add_account(name, hashed, accounts.moment())
    return Reply((f"added account {made.name} with the id {made.id}",), {"id": made.id})


@COMMANDS.command(
    "account password", "change the password of an account", NAME, PASSWORD, rank=ADMINISTRATOR,
    example="account password alice 'another password'",
)  # fmt: skip
async def _password(accounts: AccountCommandContext, call: Call) -> str:
    account = await subordinate(accounts, call, call["name"])
    hashed = await accounts.hash_password(call["password"])
    await accounts.store.set_password(account.id, hashed)
    return f"account {account.name} has a new password"


@COMMANDS.command(
    "account ban", "ban an account", NAME, LASTING, REASON, rank=MASTER,
    example="account ban alice 7d spam",
)  # fmt: skip
async def _ban_account(accounts: AccountCommandContext, call: Call) -> str:
    return await _ban(accounts, call, call["name"])


@COMMANDS.command(
    "character ban", "ban the account of a character", CHARACTER, LASTING, REASON, rank=MASTER,
    example="character ban Borvik 12h",
)  # fmt: skip
async def _ban_owner(accounts: AccountCommandContext, call: Call) -> str:
    entry = await character_named(accounts.characters, call["name"])
    if not entry.account:
        raise CommandError(f"the account of {entry.name} is another login server's")
    return await _ban(accounts, call, entry.account)


async def _ban(accounts: AccountCommandContext, call: Call, name: str) -> str:
    account = await subordinate(accounts, call, name)
    until = _ban_end(call["lasting"], accounts.moment())
    await accounts.store.ban(account.id, until, call["reason"])
    accounts.disconnect(account.id, f"account banned by {call.caller.name}")
    end = "for ever" if math.isinf(until) else f"until {timestamp(until)}"
    return f"account {account.name} is banned {end}"


@COMMANDS.command(
    "account unban", "lift the ban of an account", NAME, rank=MASTER, example="account unban alice"
)
async def _unban(accounts: AccountCommandContext, call: Call) -> str:
    account = await subordinate(accounts, call, call["name"])
    await accounts.store.ban(account.id, None, "")
    return f"account {account.name} is not banned"


@COMMANDS.command(
    "account enable", "enable a disabled account", NAME, rank=ADMINISTRATOR,
    example="account enable alice",
)  # fmt: skip
async def _enable(accounts: AccountCommandContext, call: Call) -> str:
    account = await subordinate(accounts, call, call["name"])
    await accounts.store.set_enabled(account.id, enabled=True)
    return f"account {account.name} is enabled"


@COMMANDS.command(
    "account disable", "disable an account: it cannot log in", NAME, rank=ADMINISTRATOR,
    example="account disable alice",
)  # fmt: skip
async def _disable(accounts: AccountCommandContext, call: Call) -> str:
    account = await subordinate(accounts, call, call["name"])
    await accounts.store.set_enabled(account.id, enabled=False)
    accounts.disconnect(account.id, f"account disabled by {call.caller.name}")
    return f"account {account.name} is disabled"


async def found(accounts: AccountCommandContext, name: str) -> Account:
    """Return the account of a name. Raises `CommandError`."""
    account = await accounts.store.find_account(name)
    if account is None:
        raise CommandError(f"there is no account {name}")
    return account


async def subordinate(accounts: AccountCommandContext, call: Call, name: str) -> Account:
    """Return an account that the caller outranks. Raises `CommandError`."""
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


def _ban_end(lasting: str, moment: Moment) -> Moment:
    """Return the end of a ban that begins at `moment`. Raises `CommandError`."""
    if lasting == FOR_EVER:
        return Moment(math.inf)
    match = re.fullmatch(r"(\d{1,5})([mhdw])", lasting)
    if match is None:
        raise CommandError(f"lasting: {lasting!r} is no duration; write 90m, 12h, 7d, 2w or ever")
    return Moment(moment + int(match[1]) * UNITS[match[2]])
