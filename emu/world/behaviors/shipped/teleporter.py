"""A behavior that sends a player who hails it to another place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from emu.world.behaviors.api import Actor, Visitor


class Teleporter:
    """Asks a player, and sends it to another place.

    Options: `zone` (name, file or number; this zone if it is missing), `place` (``[x, y, z]``),
    `question`, `yes` and `no`.
    """

    def __init__(self, me: Actor, options: Mapping[str, Any]) -> None:
        self.me = me
        self.zone = str(options.get("zone", ""))
        place = options.get("place")
        self.place = (float(place[0]), float(place[1]), float(place[2])) if place else None
        self.question = str(options.get("question", "Shall I send you on your way, {name}?"))
        self.choices = (str(options.get("yes", "Yes, please.")), str(options.get("no", "Not now.")))

    def on_hail(self, visitor: Visitor) -> None:
        """Open the dialog."""
        self.me.look_at(visitor)
        self.me.ask(visitor, self.question.replace("{name}", visitor.name), *self.choices)

    def on_choice(self, visitor: Visitor, number: int) -> None:
        """Send the player if it chose yes."""
        if number != 1:
            return
        if self.zone:
            visitor.send_to(self.zone, self.place)
        elif self.place:
            visitor.move_to(*self.place)
