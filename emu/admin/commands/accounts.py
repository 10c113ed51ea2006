"""Commands about players' accounts: list, show, add, password, ban, enable.

A change takes effect at the next login. A ban also ends the account's sessions at once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from emu.admin.commands.characters import CHARACTER, character_named
from emu.admin.ports import AccountAdministration, CharacterList
from emu.audit import Change
from emu.commands import Argument, ArgumentKind, Call, CommandSet, Reply
from emu.commands.registry import (
    ADMINISTRATOR,
    GUIDE,
    MASTER,
    OWNER,
    account_rank,
    check_authority,
    rank_text,
)
from emu.errors import CommandError
from emu.model import Account
from emu.texts import ban_end_text, timestamp
from emu.times import Moment

MOST_SHOWN: Final = 500
UNITS: Final = {"m": 60, "h": 3600, "d": 86400, "w": 604800}
FOR_EVER: Final = "ever"

NAME: Final = Argument("name", help="the account")
BEGINNING: Final = Argument("beginning", help="how names begin", optional=True, default="")
ALL, STAFF = "all", "staff"
WHICH: Final = Argument(
    "which", help="of which state, or with a rank", optional=True, default=ALL,
    choices=(ALL, "enabled", "banned", "disabled", STAFF),
)  # fmt: skip
PASSWORD: Final = Argument("password", ArgumentKind.SECRET, "the new password")
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
    PHC string; it raises `ValueError` if the password cannot be set. `disconnect` ends the
    sessions of an account, with a reason for the log and a notice for its players. `authority_of`
    returns the rank that protects an account, see `emu.commands.registry.account_authority`.
    `statuses` returns the `admin_status` of every character by account id. `expect_trial` lets the
    next login of an account change nothing.
    """

    store: AccountAdministration
    characters: CharacterList
    clean_name: Callable[[str], str]
    hash_password: Callable[[str], Awaitable[str]]
    disconnect: Callable[[int, str, str], None]
    moment: Callable[[], Moment]
    authority_of: Callable[[int], Awaitable[int]]
    statuses: Callable[[], Awaitable[Mapping[int, Sequence[int]]]]
    expect_trial: Callable[[str], None]


COMMANDS = CommandSet[AccountCommandContext]()


@COMMANDS.command(
    "account list",
    "list accounts",
    BEGINNING,
    WHICH,
    rank=GUIDE,
    is_quiet=True,
    example="account list al",
)
async def _list(accounts: AccountCommandContext, call: Call) -> Reply:
    beginning, which = call["beginning"].casefold(), call["which"]
    moment, has_address = accounts.moment(), call.caller.rank >= MASTER
    # All at once: a query for each account would take seconds on a large server.
    statuses = await accounts.statuses()
    rows = [
        _row(account, moment, statuses, has_address=has_address)
        for account in await accounts.store.every()
        if account.name.casefold().startswith(beginning)
    ]
    if which != ALL:
        rows = [row for row in rows if _is_of(row, which)]
    shown = [
        f"{row['name']:<24} {row['state']:<8} {rank_text(row['rank']):<10}"
        f" last login {row['last_login'] or 'never'}"
        + (f", ban ends: {row['banned_until']}" if row["banned_until"] else "")
        # Bounded, because chat windows and RCON packets show the lines; programs get all rows.
        for row in rows[:MOST_SHOWN]
    ]
    return Reply((f"{len(rows)} accounts", *shown), rows)


@COMMANDS.command(
    "account show",
    "show an account",
    NAME,
    rank=GUIDE,
    is_quiet=True,
    example="account show alice",
)
async def _show(accounts: AccountCommandContext, call: Call) -> Reply:
    account = await found(accounts, call["name"])
    has_address = call.caller.rank >= MASTER
    row = _row(account, accounts.moment(), await accounts.statuses(), has_address=has_address)
    return Reply(tuple(f"{key}: {value}" for key, value in row.items()), row)


@COMMANDS.command(
    "account add", "add an account", NAME, PASSWORD, rank=ADMINISTRATOR, changes="account {name}",
    example="account add alice 'a long password'",
)  # fmt: skip
async def _add(accounts: AccountCommandContext, call: Call) -> Reply:
    try:
        # The name in the form that is stored, or two accounts could differ by invisible letters
        # only.
        name = accounts.clean_name(call["name"])
    except ValueError as error:
        raise CommandError(str(error)) from None
    hashed = await _hashed(accounts, call)
    made = await accounts.store.add_account(name, hashed, accounts.moment())
    return Reply((f"added account {made.name} with the id {made.id}",), {"id": made.id})


@COMMANDS.command(
    "account password", "change the password of an account", NAME, PASSWORD, rank=ADMINISTRATOR,
    changes="account {name}",
    example="account password alice 'another password'",
)  # fmt: skip
async def _password(accounts: AccountCommandContext, call: Call) -> str:
    # `subordinate` first: a caller must not cause a hash for an account that it may not change.
    account = await subordinate(accounts, call, call["name"])
    hashed = await _hashed(accounts, call)
    await accounts.store.set_password(account.id, hashed)
    return f"account {account.name} has a new password"


@COMMANDS.command(
    "account ban", "ban an account", NAME, LASTING, REASON, rank=MASTER, changes="account {name}",
    example="account ban alice 7d spam",
)  # fmt: skip
async def _ban_account(accounts: AccountCommandContext, call: Call) -> Reply:
    return await _ban(accounts, call, call["name"])


@COMMANDS.command(
    "character ban", "ban the account of a character", CHARACTER, LASTING, REASON, rank=MASTER,
    changes="character {name}",
    example="character ban Borvik 12h",
)  # fmt: skip
async def _ban_owner(accounts: AccountCommandContext, call: Call) -> Reply:
    entry = await character_named(accounts.characters, call["name"])
    if not entry.account:
        raise CommandError(f"the account of {entry.name} is another login server's")
    return await _ban(accounts, call, entry.account)


async def _ban(accounts: AccountCommandContext, call: Call, name: str) -> Reply:
    account = await subordinate(accounts, call, name)
    moment = accounts.moment()
    until = _ban_end(call["lasting"], moment)
    # Stored before the sessions end: a client that logs in again at once is refused.
    await accounts.store.ban(account.id, until, call["reason"])
    end = "for ever" if math.isinf(until) else f"until {timestamp(until)}"
    accounts.disconnect(
        account.id, f"account banned by {call.caller.name}", f"Your account is banned {end}."
    )
    change = Change(account.state(moment), f"account {account.name} banned {end}")
    return Reply((f"account {account.name} is banned {end}",), change=change)


@COMMANDS.command(
    "account unban",
    "lift the ban of an account",
    NAME,
    rank=MASTER,
    changes="account {name}",
    example="account unban alice",
)
async def _unban(accounts: AccountCommandContext, call: Call) -> Reply:
    account = await subordinate(accounts, call, call["name"])
    await accounts.store.ban(account.id, None, "")
    change = Change(account.state(accounts.moment()), "not banned")
    return Reply((f"account {account.name} is not banned",), change=change)


@COMMANDS.command(
    "account trial", "let the next login within 10 seconds change nothing, for `emu doctor`", NAME,
    rank=OWNER, example="account trial alice",
)  # fmt: skip
async def _expect_trial(accounts: AccountCommandContext, call: Call) -> str:
    # Any account: a trial changes nothing, so no rank is compared. It may be missing: the doctor
    # tests that such a login is refused.
    account = await accounts.store.find_account(call["name"])
    name = call["name"] if account is None else account.name
    accounts.expect_trial(name)
    return f"the next login of account {name} changes nothing"


@COMMANDS.command(
    "account enable", "enable a disabled account", NAME, rank=ADMINISTRATOR,
    changes="account {name}",
    example="account enable alice",
)  # fmt: skip
async def _enable(accounts: AccountCommandContext, call: Call) -> Reply:
    account = await subordinate(accounts, call, call["name"])
    await accounts.store.set_enabled(account.id, enabled=True)
    change = Change(_switch(account), "enabled")
    return Reply((f"account {account.name} is enabled",), change=change)


@COMMANDS.command(
    "account disable", "disable an account: it cannot log in", NAME, rank=ADMINISTRATOR,
    changes="account {name}",
    example="account disable alice",
)  # fmt: skip
async def _disable(accounts: AccountCommandContext, call: Call) -> Reply:
    account = await subordinate(accounts, call, call["name"])
    await accounts.store.set_enabled(account.id, enabled=False)
    # A disabled account must not play on until it logs out.
    accounts.disconnect(
        account.id, f"account disabled by {call.caller.name}", "Your account is disabled."
    )
    change = Change(_switch(account), "disabled")
    return Reply((f"account {account.name} is disabled",), change=change)


def _is_of(row: Mapping[str, Any], which: str) -> bool:
    return bool(row["rank"] > 0 if which == STAFF else row["state"] == which)


def _switch(account: Account) -> str:
    return "enabled" if account.enabled else "disabled"


async def _hashed(accounts: AccountCommandContext, call: Call) -> str:
    """Return the hash of the password in a command. Raises `CommandError`."""
    try:
        return await accounts.hash_password(call["password"])
    except ValueError as error:
        raise CommandError(str(error)) from None


async def found(accounts: AccountCommandContext, name: str) -> Account:
    """Return the account of a name. Raises `CommandError`."""
    account = await accounts.store.find_account(name)
    if account is None:
        raise CommandError(f"there is no account {name}")
    return account


async def subordinate(accounts: AccountCommandContext, call: Call, name: str) -> Account:
    """Return an account that the caller outranks. Raises `CommandError`."""
    account = await found(accounts, name)
    # The highest rank of its characters protects the account with all of them.
    rank = await accounts.authority_of(account.id)
    check_authority(call.caller.rank, rank, f"account {account.name}")
    return account


def _row(
    account: Account,
    moment: Moment,
    statuses: Mapping[int, Sequence[int]],
    *,
    has_address: bool,
) -> dict[str, Any]:
    return {
        "id": account.id,
        "name": account.name,
        "state": account.state(moment),
        "rank": account_rank(statuses.get(account.id, ())),
        "created": _shown(account.created),
        "last_login": _shown(account.last_login),
        "last_address": account.last_address if has_address else "",
        "last_client_version": account.last_client_version,
        "banned_until": ban_end_text(account.ban_end(moment)) or "",
        "ban_reason": account.ban_reason,
    }


def _shown(moment: Moment | None) -> str:
    return timestamp(moment) if moment else ""


def _ban_end(lasting: str, moment: Moment) -> Moment:
    """Return the end of a ban that begins at `moment`. Raises `CommandError`."""
    if lasting == FOR_EVER:
        return Moment(math.inf)
    # Few digits: a longer number could give a moment that is not a date.
    match = re.fullmatch(r"(\d{1,5})([mhdw])", lasting)
    if match is None:
        raise CommandError(f"lasting: {lasting!r} is no duration; write 90m, 12h, 7d, 2w or ever")
    return Moment(moment + int(match[1]) * UNITS[match[2]])
