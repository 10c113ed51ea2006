"""A behavior that walks along a closed path, and stops for a player who hails it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from emu.world.behaviors.api import WALKING, Actor, Visitor


class Wanderer:
    """Walks from point to point and rests at each.

    Options: `path` (a list of ``[x, y, z]``), `speed` in units per second, `rest` in seconds,
    `says` (its answer to a hail).
    """

    def __init__(self, me: Actor, options: Mapping[str, Any]) -> None:
        self.me = me
        points = [(float(x), float(y), float(z)) for x, y, z in options.get("path", ())]
        self.path = points or [me.home]
        self.speed = float(options.get("speed", WALKING))
        self.rest = float(options.get("rest", 4.0))
        self.says = str(options.get("says", "Move along, {name}."))
        self.goal = 0

    def on_start(self) -> None:
        """Wait, then begin the path."""
        self.me.after(self.rest)

    def on_timer(self, _name: str) -> None:
        """Walk to the next point."""
        self.me.walk(self.path[self.goal % len(self.path)], speed=self.speed)
        self.goal += 1

    def on_arrive(self) -> None:
        """Rest at the point."""
        self.me.after(self.rest)

    def on_hail(self, visitor: Visitor) -> None:
        """Stop, answer, and rest."""
        self.me.stop()
        self.me.look_at(visitor)
        self.me.say(self.says.replace("{name}", visitor.name))
        self.me.after(self.rest)
