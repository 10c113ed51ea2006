"""Events of players who come into the world of all nodes, or leave it, for notices to others.

`emu.world.events.Arrived` and `LeftWorld` come also when a player changes its node: components note
there who is in this process.
"""

from __future__ import annotations

from dataclasses import dataclass

from emu.world.events import PlayerEvent


@dataclass(frozen=True, slots=True)
class LoggedIn(PlayerEvent):
    """A player stands in a zone and has come from outside the world, not from another node."""


@dataclass(frozen=True, slots=True)
class LoggedOut(PlayerEvent):
    """A player has left the world: by this process, or on its way to another node."""
