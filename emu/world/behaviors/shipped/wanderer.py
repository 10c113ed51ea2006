"""A behavior that walks along a closed path, and stops for a player who hails it."""

from __future__ import annotations

from attrs import frozen

from emu.world.behaviors.api import WALKING, Actor, Visitor
from emu.world.behaviors.options import NAME, POINT, option


@frozen
class WandererOptions:
    """The options of the wanderer; ``{name}`` is the player's name."""

    path: tuple[tuple[float, float, float], ...] = option(
        (),
        "Points that it walks to, one after the other and then from the first again. Without points"
        " it stays where it is.",
        form=POINT,
        most=1000,
    )
    speed: float = option(WALKING, "Speed of its walk.", unit="units per second", limits=(0.1, 100))
    rest: float = option(
        4.0, "Time that it rests at each point.", unit="seconds", limits=(0.1, 86_400)
    )
    says: str = option("Move along, {name}.", "Answer to a hail.", placeholders=NAME)


class Wanderer:
    """Walks from point to point, rests at each, and stops for a player who hails it."""

    Options = WandererOptions

    def __init__(self, me: Actor, options: WandererOptions) -> None:
        self.me = me
        self.options = options
        self.path = options.path or (me.home,)
        self.goal = 0

    def on_start(self) -> None:
        """Wait, then begin the path."""
        self.me.after(self.options.rest)

    def on_timer(self, _name: str) -> None:
        """Walk to the next point."""
        self.me.walk(self.path[self.goal % len(self.path)], speed=self.options.speed)
        self.goal += 1

    def on_arrive(self) -> None:
        """Rest at the point."""
        self.me.after(self.options.rest)

    def on_hail(self, visitor: Visitor) -> None:
        """Stop, answer, and rest."""
        self.me.stop()
        self.me.look_at(visitor)
        self.me.say(self.options.says.replace("{name}", visitor.name))
        self.me.after(self.options.rest)
