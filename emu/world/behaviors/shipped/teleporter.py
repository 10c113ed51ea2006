"""A behavior that sends a player who hails it to another place."""

from __future__ import annotations

from attrs import frozen

from emu.world.behaviors.api import Actor, Visitor
from emu.world.behaviors.options import NAME, POINT, ZONE, option


def _zone(value: object) -> str:
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return str(value)
    raise ValueError("must be a zone's name, file or number")


@frozen
class TeleporterOptions:
    """The options of the teleporter; ``{name}`` is the player's name."""

    zone: str = option(
        "",
        "Name, file or number of the zone that a player is sent to. Without it the player stays in"
        " this zone.",
        form=_zone,
        among=ZONE,
    )
    place: tuple[float, float, float] | None = option(
        None,
        "Point where the player arrives. Without it the player arrives at the zone's safe place.",
        form=POINT,
    )
    question: str = option(
        "Shall I send you on your way, {name}?", "Question of the dialog.", placeholders=NAME
    )
    yes: str = option("Yes, please.", "Choice that sends the player.")
    no: str = option("Not now.", "Choice that does nothing.")


class Teleporter:
    """Asks a player who hails it, and sends the player to another place."""

    Options = TeleporterOptions

    def __init__(self, me: Actor, options: TeleporterOptions) -> None:
        self.me = me
        self.options = options

    def on_hail(self, visitor: Visitor) -> None:
        """Open the dialog."""
        options = self.options
        self.me.look_at(visitor)
        question = options.question.replace("{name}", visitor.name)
        self.me.ask(visitor, question, options.yes, options.no)

    def on_choice(self, visitor: Visitor, number: int) -> None:
        """Send the player if it chose yes."""
        options = self.options
        if number != 1:
            return
        if options.zone:
            visitor.send_to(options.zone, options.place)
        elif options.place:
            visitor.move_to(*options.place)
