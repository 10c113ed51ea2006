"""Commands about players' accounts: account list, show, add, password, ban, unban, enable, disable.

They count from the next login on; who is banned is sent away at once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from emu.admin.ports import AccountAdministration
from emu.commands import Argument, Call, Command, Kind, Reply
from emu.commands.ranks import ADMINISTRATOR, GUIDE, MASTER
from emu.errors import CommandError
from emu.model import Account
from emu.times import Moment
from emu.timestamps import timestamp

UNITS: Final = {"m": 60, "h": 3600, "d": 86400, "w": 604800}
FOR_EVER: Final = "ever"
MOST_SHOWN: Final = 500
NAME: Final = Argument("name", help="the account")


@dataclass(frozen=True, slots=True)
class Accounts:
    """What these commands work on.

    `clean_name` returns a name as it is stored or raises `ValueError`; `hash_password` makes a PHC
    string; `send_away` ends the sessions of an account, saying why.
    """

    store: AccountAdministration
    clean_name: Callable[[str], str]
    hash_password: Callable[[str], Awaitable[str]]
    send_away: Callable[[int, str], None]
    moment: Callable[[], Moment]


def commands(accounts: Accounts) -> list[Command]:
    """Return the commands of this room."""
    return [*_looking(accounts), *_making(accounts), *_banning(accounts)]


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
        row = _row(await _found(accounts, call["name"]), accounts.moment())
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
        account = await _found(accounts, call["name"])
        hashed = await accounts.hash_password(call["password"])
        await accounts.store.set_password(account.id, hashed)
        return Reply((f"account {account.name} has a new password",))

    secret = Argument("password", Kind.SECRET)
    return [
        Command("account add", "add an account", add, (NAME, secret), ADMINISTRATOR),
        Command("account password", "give an account another password", password,
                (NAME, secret), ADMINISTRATOR),
    ]  # fmt: skip


def _banning(accounts: Accounts) -> list[Command]:
    async def ban(call: Call) -> Reply:
        account = await _found(accounts, call["name"])
        until = _end(call["lasting"], accounts.moment())
        await accounts.store.ban(account.id, until, call["reason"])
        accounts.send_away(account.id, f"account banned by {call.caller.name}")
        end = "for ever" if math.isinf(until) else f"until {timestamp(until)}"
        return Reply((f"account {account.name} is banned {end}",))

    async def unban(call: Call) -> Reply:
        account = await _found(accounts, call["name"])
        await accounts.store.ban(account.id, None, "")
        return Reply((f"account {account.name} is not banned",))

    def switching(name: str, help_text: str, *, enabled: bool) -> Command:
        async def run(call: Call) -> Reply:
            account = await _found(accounts, call["name"])
            await accounts.store.set_enabled(account.id, enabled)
            if not enabled:
                accounts.send_away(account.id, f"account disabled by {call.caller.name}")
            return Reply((f"account {account.name} is {name}d",))

        return Command(f"account {name}", help_text, run, (NAME,), ADMINISTRATOR)

    lasting = Argument("lasting", help="90m, 12h, 7d, 2w or ever", optional=True, default=FOR_EVER)
    reason = Argument("reason", Kind.TEXT, "players do not see it", optional=True, default="")
    return [
        Command("account ban", "keep an account out", ban, (NAME, lasting, reason), MASTER),
        Command("account unban", "let a banned account in again", unban, (NAME,), MASTER),
        switching("enable", "let a disabled account log in again", enabled=True),
        switching("disable", "keep an account from logging in", enabled=False),
    ]


async def _found(accounts: Accounts, name: str) -> Account:
    account = await accounts.store.find_account(name)
    if account is None:
        raise CommandError(f"there is no account {name}")
    return account


def _end(lasting: str, moment: Moment) -> Moment:
    """Return when a ban ends that begins now. Raises `CommandError`."""
    if lasting == FOR_EVER:
        return Moment(math.inf)
    match = re.fullmatch(r"(\d{1,6})([mhdw])", lasting)
    if match is None:
        raise CommandError(f"lasting: {lasting!r} is no span of time; write 90m, 12h, 7d, 2w, ever")
    return Moment(moment + int(match[1]) * UNITS[match[2]])


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
