"""Commands that keep accounts out: account ban, unban, enable, disable, and character ban.

They count from the next login on; who is banned is sent away at once.
"""

from __future__ import annotations

import math
import re
from typing import Final

from emu.admin.commands.accounts import NAME, Accounts, found, subordinate
from emu.admin.commands.characters import CHARACTER, character_named
from emu.admin.ports import CharacterList
from emu.commands import Argument, ArgumentKind, Call, Command, Reply
from emu.commands.ranks import ADMINISTRATOR, MASTER
from emu.errors import CommandError
from emu.times import Moment
from emu.timestamps import timestamp

UNITS: Final = {"m": 60, "h": 3600, "d": 86400, "w": 604800}
FOR_EVER: Final = "ever"
LASTING: Final = Argument(
    "lasting", help="90m, 12h, 7d, 2w or ever", optional=True, default=FOR_EVER
)
REASON: Final = Argument(
    "reason", ArgumentKind.TEXT, "players do not see it", optional=True, default=""
)


def commands(accounts: Accounts, characters: CharacterList) -> list[Command]:
    """Return the commands of this room."""
    return [*_banning(accounts, characters), *_switching(accounts)]


def _banning(accounts: Accounts, characters: CharacterList) -> list[Command]:
    async def ban(call: Call) -> Reply:
        return await _ban(accounts, call, call["name"])

    async def ban_owner(call: Call) -> Reply:
        entry = await character_named(characters, call["name"])
        if not entry.account:
            raise CommandError(f"the account of {entry.name} is another login server's")
        return await _ban(accounts, call, entry.account)

    async def unban(call: Call) -> Reply:
        account = await found(accounts, call["name"])
        await accounts.store.ban(account.id, None, "")
        return Reply((f"account {account.name} is not banned",))

    return [
        Command("account ban", "keep an account out", ban, (NAME, LASTING, REASON), MASTER),
        Command("account unban", "let a banned account in again", unban, (NAME,), MASTER),
        Command("character ban", "keep the account of a character out", ban_owner,
                (CHARACTER, LASTING, REASON), MASTER),
    ]  # fmt: skip


async def _ban(accounts: Accounts, call: Call, name: str) -> Reply:
    account = await subordinate(accounts, call, name)
    until = _end(call["lasting"], accounts.moment())
    await accounts.store.ban(account.id, until, call["reason"])
    accounts.send_away(account.id, f"account banned by {call.caller.name}")
    end = "for ever" if math.isinf(until) else f"until {timestamp(until)}"
    return Reply((f"account {account.name} is banned {end}",))


def _switching(accounts: Accounts) -> list[Command]:
    async def enable(call: Call) -> Reply:
        account = await found(accounts, call["name"])
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
