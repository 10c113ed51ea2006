"""When a player is stored: its place every minute and when it leaves, changes soon.

A change waits a little, because a client may make many at once. How a save is carried out, and what
happens when it fails, is `emu.world.entry.saver`'s.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from emu.model import WorldCharacter
from emu.times import Moment, Monotonic
from emu.world.actors.player import Player
from emu.world.actors.spawn import Destination
from emu.world.entry.saver import SavedKind
from emu.world.world import World

__all__ = [
    "KEEP", "SAVE", "SavedKind", "changed", "latest", "played", "save", "state_of", "store",
]  # fmt: skip

SAVE: Final = "save"
KEEP: Final = "keep"
PAUSE: Final = 2.0
"""Seconds that a change waits for others."""


def changed(world: World, player: Player, what: SavedKind, now: Monotonic) -> None:
    """Have something stored that changed."""
    player.unsaved.add(what)
    if world.deadlines.get(player, KEEP) is None:
        world.set_deadline(player, KEEP, PAUSE, now)


def save(world: World, player: Player, also: Iterable[SavedKind] = ()) -> None:
    """Store what has to be there when the player comes again; `also` says what changed just now."""
    changes, player.unsaved = player.unsaved.union(also), set()
    world.saver.put(state_of(player), changes)


def played(world: World, char_id: int, moment: Moment) -> None:
    """Store when a character was played; one that is not here is left out."""
    player = world.players.get(char_id)
    if player is not None:
        player.character = replace(player.character, last_played=moment)
        save(world, player, (SavedKind.PLAYED,))


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
    return world.saver.latest(character)


async def store(world: World, player: Player, to: Destination) -> None:
    """Store a player that goes where another process serves, before that one reads it.

    Raises `StoreError`.
    """
    place = to.position or player.position
    row = replace(state_of(player), zone_id=to.zone_id, place=place)
    changes, player.unsaved = player.unsaved, set()
    await world.saver.store(row, changes, world.answer)
