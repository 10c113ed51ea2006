"""Behaviors: Python classes of operators that control spawns and zones.

A behavior is a plain class. The server makes it with `me` (an `Actor` for a spawn, a `ZoneActor`
for a zone) and with the options of the zone's file, which it declares with `option`. It has any of
the methods in `emu.world.behaviors.hooks`. Its attributes `near` (15.0 units) and `tick` (1.0 s)
are optional. A behavior that raises, or does not return in time, is switched off until it is
reloaded.
"""

from __future__ import annotations

from emu.world.behaviors.api import Actor, Visitor, ZoneActor
from emu.world.behaviors.host import Behaviors
from emu.world.behaviors.library import LOADING, Library
from emu.world.behaviors.options import NAME, POINT, ZONE, option
from emu.world.behaviors.running import Limits
from emu.world.minds.guard import Budget, OutOfTime

__all__ = [
    "LOADING", "NAME", "POINT", "ZONE", "Actor", "Behaviors", "Budget", "Library", "Limits",
    "OutOfTime", "Visitor", "ZoneActor", "option",
]  # fmt: skip
