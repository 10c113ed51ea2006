"""Commands about characters, in the world or not: character list, show, rank, delete, restore."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from emu.admin.ports import CharacterList, CharacterRanks
from emu.commands import Argument, ArgumentKind, Call, Command, Reply
from emu.commands.registry import ADMINISTRATOR, GUIDE, OWNER, check_authority, may_act_on
from emu.errors import CommandError
from emu.model import RosterEntry
from emu.texts import timestamp

MOST_SHOWN: Final = 500
CHARACTER: Final = Argument("name", help="the character", among="player")


@dataclass(frozen=True, slots=True)
class CharacterCommandContext:
    """What these commands work on.

    `is_playing` says whether a character of the built-in world is in it now; `rank_changed` has a
    character's new rank count at once where it is played.
    """

    store: CharacterList
    ranks: CharacterRanks
    is_playing: Callable[[int], bool]
    rank_changed: Callable[[int, int], None] = lambda _char_id, _rank: None


def commands(characters: CharacterCommandContext) -> list[Command]:
    """Return the commands of this room."""
    return [*_looking(characters), *_changing(characters)]


def _looking(characters: CharacterCommandContext) -> list[Command]:
    async def list_all(call: Call) -> Reply:
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

    async def show(call: Call) -> Reply:
        entry = await character_named(characters.store, call["name"])
        row = _row(entry)
        if entry.own_id is not None:
            row["rank"] = await _rank(characters, entry.own_id)
        return Reply(tuple(f"{key}: {value}" for key, value in row.items()), row)

    account = Argument("account", help="of one account only", optional=True, default="")
    return [
        Command("character list", "list characters", list_all, (account,), GUIDE),
        Command("character show", "show a character", show, (CHARACTER,), GUIDE),
    ]


def _changing(characters: CharacterCommandContext) -> list[Command]:
    async def rank(call: Call) -> Reply:
        entry = await character_named(characters.store, call["name"], deleted=False)
        own = _own(entry)
        await _check_rank(characters, call, entry)
        if not may_act_on(call.caller.rank, call["rank"]):
            raise CommandError(f"that needs a rank above {call['rank']}")
        if not 0 <= call["rank"] < OWNER:
            raise CommandError(f"rank: must be 0 to {OWNER - 1}")
        await characters.ranks.set_admin_status(own, call["rank"])
        characters.rank_changed(own, call["rank"])
        return Reply((f"{entry.name} has rank {call['rank']}",))

    async def delete(call: Call) -> Reply:
        entry = await character_named(characters.store, call["name"], deleted=False)
        own = _own(entry)
        await _check_rank(characters, call, entry)
        if characters.is_playing(own):
            raise CommandError(f"{entry.name} is in the world; kick it first")
        await characters.store.delete(entry)
        return Reply((f"{entry.name} is deleted; character restore brings it back",))

    async def restore(call: Call) -> Reply:
        entry = await character_named(characters.store, call["name"], deleted=True)
        _own(entry)
        await _check_rank(characters, call, entry)
        await characters.store.restore(entry)
        return Reply((f"{entry.name} is back",))

    level = Argument(
        "rank", ArgumentKind.NUMBER, "0 player, 10 guide, 100 master, 200 administrator"
    )
    return [
        Command("character rank", "give a character another rank", rank, (CHARACTER, level),
                ADMINISTRATOR),
        Command("character delete", "delete a character; it can be restored", delete, (CHARACTER,),
                ADMINISTRATOR),
        Command("character restore", "bring a deleted character back", restore, (CHARACTER,),
                ADMINISTRATOR),
    ]  # fmt: skip


async def character_named(
    characters: CharacterList, name: str, *, deleted: bool | None = None
) -> RosterEntry:
    """Return the character of a name, of the built-in world if it has one. Raises `CommandError`.

    `deleted` says which are meant; without it, one that is not deleted comes first.
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
