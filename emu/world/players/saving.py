"""What of a player is stored, and when: its place every minute and when it leaves, changes soon.

What was not stored yet is known here, so that whoever comes back at once is where it was. A change
waits a little, because a client may make many at once.
"""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from emu.errors import OutOfDate, StoreError
from emu.model import WorldCharacter
from emu.processes.stores import BelongingsStore
from emu.times import Monotonic
from emu.world.players.player import Player
from emu.world.spawns import Destination
from emu.world.world import World

SAVE: Final = "save"
KEEP: Final = "keep"
PAUSE: Final = 2.0
"""Seconds that a change waits for others."""

STATE: Final = (
    "zone_id", "place", "relations", "titles", "prefix", "suffix", "hotkeys", "channels",
)  # fmt: skip
"""Fields of a character that change while it is played."""


class Kept(enum.Enum):
    """What is stored as a whole when it changes."""

    RELATIONS = "relations"
    TITLES = "titles"
    HOTKEYS = "hotkeys"
    CHANNELS = "channels"


def changed(world: World, player: Player, what: Kept, now: Monotonic) -> None:
    """Have something stored that changed."""
    player.unsaved.add(what.value)
    if world.deadlines.get(player, KEEP) is None:
        world.set_deadline(player, KEEP, PAUSE, now)


def save(world: World, player: Player) -> None:
    """Store what has to be there when the player comes again."""
    row = state_of(player)
    changes, player.unsaved = player.unsaved, set()
    world.unsaved[player.id] = row
    world.start(_save(world, row, changes, player))


def state_of(player: Player) -> WorldCharacter:
    """Return a player's character as it is now; where it goes to counts, not where it is."""
    zone_id, place = player.zone.zone_id, player.position
    if player.destination is not None:
        zone_id, place = player.destination.zone_id, player.destination.position or place
    return replace(
        player.character,
        zone_id=zone_id,
        place=place,
        relations=tuple((int(kind), name) for kind, name in player.relations.rows()),
        titles=player.titles.given,
        prefix=player.titles.prefix,
        suffix=player.titles.suffix,
        hotkeys=player.hotbars.keys,
        channels=tuple(player.channels.values()),
    )


def latest(world: World, character: WorldCharacter) -> WorldCharacter:
    """Return a character as it was when it left, even when that is not stored yet."""
    row = world.unsaved.get(character.id)
    if row is None:
        return character
    return replace(character, **{name: getattr(row, name) for name in STATE})


async def store(world: World, player: Player, to: Destination) -> None:
    """Store a player that goes where another process serves, before that one reads it.

    Raises `StoreError`.
    """
    place = to.position or player.position
    row = replace(state_of(player), zone_id=to.zone_id, place=place)
    await _write(world, row, set(player.unsaved))
    world.unsaved.pop(row.id, None)


def save_again(world: World) -> None:
    """Store what could not be stored of those who have left: the store is there again."""
    for row in list(world.unsaved.values()):
        if world.players.get(row.id) is None:
            world.start(_save(world, row, {what.value for what in Kept}))


async def _write(world: World, row: WorldCharacter, changes: set[str]) -> None:
    assert row.place is not None  # noqa: S101  # a player is somewhere
    await world.store.save_place(row.id, row.zone_id, row.place)
    for what in sorted(changes):
        await _STORED[Kept(what)](world.belongings, row)


async def _save(
    world: World, row: WorldCharacter, changes: set[str], player: Player | None = None
) -> None:
    """Store a character; what fails is tried again with the next change, or by `save_again`.

    `player` is who is played still, None for one who has left.
    """
    try:
        await _write(world, row, changes)
    except StoreError as error:
        if player is not None:
            world.refused(player, f"not saved: {error}")
        if not isinstance(error, OutOfDate):
            world.count("save failed")
            if player is not None:
                player.unsaved |= changes
            return
    if world.unsaved.get(row.id) is row:
        del world.unsaved[row.id]


_STORED: Final[dict[Kept, Callable[[BelongingsStore, WorldCharacter], Awaitable[None]]]] = {
    Kept.RELATIONS: lambda store, row: store.save_relations(row.id, row.relations),
    Kept.TITLES: lambda store, row: store.save_titles(row.id, row.titles, row.prefix, row.suffix),
    Kept.HOTKEYS: lambda store, row: store.save_hotkeys(row.id, row.hotkeys),
    Kept.CHANNELS: lambda store, row: store.save_channels(row.id, row.channels),
}
