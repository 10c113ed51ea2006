"""Commands about characters, in the world or not: character list, show, rank, delete, restore."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from emu.admin.ports import CharacterList, CharacterRanks
from emu.commands import Argument, ArgumentKind, Call, CommandSet, Reply
from emu.commands.registry import ADMINISTRATOR, GUIDE, OWNER, check_authority, may_act_on
from emu.errors import CommandError
from emu.model import RosterEntry
from emu.texts import timestamp

MOST_SHOWN: Final = 500
CHARACTER: Final = Argument("name", help="the character", among="player")
ACCOUNT: Final = Argument("account", help="only of this account", optional=True, default="")
RANK: Final = Argument(
    "rank", ArgumentKind.NUMBER, "0 player, 10 guide, 100 master, 200 administrator"
)


@dataclass(frozen=True, slots=True)
class CharacterCommandContext:
    """The context of these commands.

    `is_playing` returns whether a character of the built-in world is in it now. `rank_changed`
    applies a new rank to a character that is being played.
    """

    store: CharacterList
    ranks: CharacterRanks
    is_playing: Callable[[int], bool]
    rank_changed: Callable[[int, int], None] = lambda _char_id, _rank: None


COMMANDS = CommandSet[CharacterCommandContext]()


@COMMANDS.command(
    "character list", "list characters", ACCOUNT, rank=GUIDE, example="character list alice"
)
async def _list(characters: CharacterCommandContext, call: Call) -> Reply:
    account = call["account"].casefold()
    rows = [
        _row(entry)
        for entry in await characters.store.every()
        if account in ("", entry.account.casefold())
    ]
    shown = [
        f"{row['name']:<16} level {row['level']:<3} account {row['account']:<20} {row['state']}"
        for row in rows[:MOST_SHOWN]
    ]
    return Reply((f"{len(rows)} characters", *shown), rows)


@COMMANDS.command(
    "character show", "show a character", CHARACTER, rank=GUIDE, example="character show Borvik"
)
async def _show(characters: CharacterCommandContext, call: Call) -> Reply:
    entry = await character_named(characters.store, call["name"])
    row = _row(entry)
    if entry.own_id is not None:
        row["rank"] = await _rank(characters, entry.own_id)
    return Reply(tuple(f"{key}: {value}" for key, value in row.items()), row)


@COMMANDS.command(
    "character rank", "change the rank of a character", CHARACTER, RANK, rank=ADMINISTRATOR,
    example="character rank Borvik 100",
)  # fmt: skip
async def _change_rank(characters: CharacterCommandContext, call: Call) -> str:
    entry = await character_named(characters.store, call["name"], deleted=False)
    own = _own(entry)
    await _check_rank(characters, call, entry)
    if not may_act_on(call.caller.rank, call["rank"]):
        raise CommandError(f"that needs a rank above {call['rank']}")
    if not 0 <= call["rank"] < OWNER:
        raise CommandError(f"rank: must be 0 to {OWNER - 1}")
    await characters.ranks.set_admin_status(own, call["rank"])
    characters.rank_changed(own, call["rank"])
    return f"{entry.name} has rank {call['rank']}"


@COMMANDS.command(
    "character delete", "delete a character; it can be restored", CHARACTER, rank=ADMINISTRATOR,
    example="character delete Borvik",
)  # fmt: skip
async def _delete(characters: CharacterCommandContext, call: Call) -> str:
    entry = await character_named(characters.store, call["name"], deleted=False)
    own = _own(entry)
    await _check_rank(characters, call, entry)
    if characters.is_playing(own):
        raise CommandError(f"{entry.name} is in the world; kick it first")
    await characters.store.delete(entry)
    return f"{entry.name} is deleted; character restore brings it back"


@COMMANDS.command(
    "character restore", "restore a deleted character", CHARACTER, rank=ADMINISTRATOR,
    example="character restore Borvik",
)  # fmt: skip
async def _restore(characters: CharacterCommandContext, call: Call) -> str:
    entry = await character_named(characters.store, call["name"], deleted=True)
    _own(entry)
    await _check_rank(characters, call, entry)
    await characters.store.restore(entry)
    return f"{entry.name} is restored"


async def character_named(
    characters: CharacterList, name: str, *, deleted: bool | None = None
) -> RosterEntry:
    """Return the character of a name. Raises `CommandError`.

    A character of the built-in world comes before those of other worlds. `deleted` selects deleted
    or existing characters; without it, an existing character comes first.
    """
    found = [
        entry
        for entry in await characters.every()
        if entry.name.casefold() == name.casefold() and deleted in (None, entry.deleted)
    ]
    if not found:
        kind = {None: "", True: "deleted ", False: ""}[deleted]
        raise CommandError(f"there is no {kind}character {name}")
    return min(found, key=lambda entry: (entry.deleted, entry.own_id is None))


async def _rank(characters: CharacterCommandContext, char_id: int) -> int:
    found = await characters.ranks.find(char_id)
    return found.admin_status if found is not None else 0


async def _check_rank(characters: CharacterCommandContext, call: Call, entry: RosterEntry) -> None:
    """Raise `CommandError` unless the caller may act on the account of a character."""
    rank = await characters.ranks.authority_of(entry.account_id)
    check_authority(call.caller.rank, rank, entry.name)


def _own(entry: RosterEntry) -> int:
    """Return the id of a character of the built-in world. Raises `CommandError` for others."""
    if entry.own_id is None:
        raise CommandError(f"{entry.name} is of the world {entry.world}, which is another server")
    return entry.own_id


def _row(entry: RosterEntry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "id": entry.own_id,
        "account": entry.account,
        "world": entry.world,
        "level": entry.level,
        "zone_id": entry.zone_id,
        "created": timestamp(entry.created) if entry.created else "",
        "last_played": timestamp(entry.last_played) if entry.last_played else "",
        "state": "deleted" if entry.deleted else "alive",
    }
