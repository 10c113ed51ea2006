"""Commands about characters, in the world or not: character list, show, rank, delete, restore."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from emu.admin.ports import CharacterList, CharacterRanks
from emu.audit import Change
from emu.commands import Argument, ArgumentKind, Call, CommandSet, Reply
from emu.commands.registry import (
    ADMINISTRATOR,
    GUIDE,
    RANKS,
    check_authority,
    may_act_on,
    rank_text,
)
from emu.errors import CommandError
from emu.model import RosterEntry
from emu.texts import timestamp

MOST_SHOWN: Final = 500
CHARACTER: Final = Argument("name", help="the character", among="player")
ACCOUNT: Final = Argument("account", help="only of this account", optional=True, default="")
RANK: Final = Argument(
    "rank",
    ArgumentKind.RANK,
    ", ".join(f"{name} ({number})" for name, number in RANKS.items()) + " or another number",
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
    "character list",
    "list characters",
    ACCOUNT,
    rank=GUIDE,
    is_quiet=True,
    example="character list alice",
)
async def _list(characters: CharacterCommandContext, call: Call) -> Reply:
    account = call["account"].casefold()
    rows = [
        _row(entry)
        for entry in await characters.store.every()
        if account in ("", entry.account.casefold())
    ]
    shown = [
        f"{row['name']:<16} level {row['level']:<3} account {row['account']:<20} {row['state']:<7}"
        f" {rank_text(row['rank'] or 0)}"
        for row in rows[:MOST_SHOWN]
    ]
    return Reply((f"{len(rows)} characters", *shown), rows)


@COMMANDS.command(
    "character show",
    "show a character",
    CHARACTER,
    rank=GUIDE,
    is_quiet=True,
    example="character show Borvik",
)
async def _show(characters: CharacterCommandContext, call: Call) -> Reply:
    entry = await character_named(characters.store, call["name"])
    row = _row(entry)
    return Reply(tuple(f"{key}: {value}" for key, value in row.items()), row)


@COMMANDS.command(
    "character rank", "change the rank of a character", CHARACTER, RANK, rank=ADMINISTRATOR,
    changes="character {name}",
    example="character rank Borvik gamemaster",
)  # fmt: skip
async def _change_rank(characters: CharacterCommandContext, call: Call) -> Reply:
    entry = await character_named(characters.store, call["name"], deleted=False)
    own = _own(entry)
    # The account's rank counts, not the character's: operators have other characters, too.
    await _check_rank(characters, call, entry)
    # A caller may not make somebody on whom it cannot act afterwards.
    if not may_act_on(call.caller.rank, call["rank"]):
        raise CommandError(f"that needs a rank above {call['rank']}")
    await characters.ranks.set_admin_status(own, call["rank"])
    # A character that is being played keeps its old rank in memory without this.
    characters.rank_changed(own, call["rank"])
    rank = rank_text(call["rank"])
    change = Change(rank_text(entry.rank or 0), rank)
    return Reply((f"{entry.name} has the rank {rank}",), change=change)


@COMMANDS.command(
    "character delete", "delete a character; it can be restored", CHARACTER, rank=ADMINISTRATOR,
    changes="character {name}",
    example="character delete Borvik",
)  # fmt: skip
async def _delete(characters: CharacterCommandContext, call: Call) -> str:
    entry = await character_named(characters.store, call["name"], deleted=False)
    own = _own(entry)
    await _check_rank(characters, call, entry)
    # A player who plays on would play a character that the list no longer has.
    if characters.is_playing(own):
        raise CommandError(f"{entry.name} is in the world; kick it first")
    await characters.store.delete(entry)
    return f"{entry.name} is deleted; character restore brings it back"


@COMMANDS.command(
    "character restore", "restore a deleted character", CHARACTER, rank=ADMINISTRATOR,
    changes="character {name}",
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
    # False sorts before True: present characters first, and then those of the built-in world.
    return min(found, key=lambda entry: (entry.deleted, entry.own_id is None))


async def _check_rank(characters: CharacterCommandContext, call: Call, entry: RosterEntry) -> None:
    """Raise `CommandError` unless the caller may act on the account of a character."""
    rank = await characters.ranks.authority_of(entry.account_id)
    check_authority(call.caller.rank, rank, entry.name)


def _own(entry: RosterEntry) -> int:
    """Return the id of a character of the built-in world. Raises `CommandError` for others."""
    # Only the server of a world can change its characters.
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
        "rank": entry.rank,
        "zone_id": entry.zone_id,
        "created": timestamp(entry.created) if entry.created else "",
        "last_played": timestamp(entry.last_played) if entry.last_played else "",
        "state": "deleted" if entry.deleted else "alive",
    }
