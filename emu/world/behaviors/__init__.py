"""Behaviors: what spawns and zones do, in Python that operators write.

A behavior is a plain class. It is made with `me` (an `Actor`, or a `ZoneActor` for a zone) and the
options that the zone's file gives, and has whichever of these methods it wants:

    on_start()                 it begins
    on_enter(visitor)          a player comes near (within `near` units); a zone: into the zone
    on_leave(visitor)          that player goes, or leaves the zone
    on_hail(visitor)           a player greets it
    on_say(visitor, text)      a player near it says something
    on_choice(visitor, number) a player chose an answer of its dialog, counted from 1
    on_timer(name)             a timer it set has come
    on_tick(seconds)           every `tick` seconds while somebody is in the zone
    on_arrive()                it has come to the end of its way

`near` (15.0) and `tick` (1.0) are attributes of the class. A behavior that raises, or does not
return in time, is switched off until it is reloaded; nobody else notices.
"""

from __future__ import annotations

from emu.world.behaviors.api import Actor, Visitor, ZoneActor
from emu.world.behaviors.guard import Budget, Limits, OutOfTime
from emu.world.behaviors.host import Behaviors
from emu.world.behaviors.library import LOADING, Library

__all__ = [
    "LOADING", "Actor", "Behaviors", "Budget", "Library", "Limits", "OutOfTime", "Visitor",
    "ZoneActor",
]  # fmt: skip
