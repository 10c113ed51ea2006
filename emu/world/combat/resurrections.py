"""Resurrection: a spell asks a dead player whether it wants to live again where it lies.

Source: docs/protocol/world/fights.md#death.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from emu.errors import CommandError
from emu.times import Monotonic
from emu.world.actors.player import Player
from emu.world.actors.spawn import Destination
from emu.world.combat.falls import Falls
from emu.world.deadlines import Deadlines
from emu.world.events import LeftZone, Revived
from emu.world.social.chat import Chat
from emu.world.speech.windows import Question, ask
from emu.world.world import World
from emu.world_stream.movement import Position

ASKED: Final = "{name} would like to cast '{spell}' on you. Do you accept?"
SECONDS: Final = 60
NOBODY_ASKS: Final = "nobody would like to resurrect you"


class Offer(NamedTuple):
    """A resurrection that waits for the answer of the dead player."""

    number: int
    """The number that the answer names."""
    health: float
    power: float
    """Shares of the most, in percent."""
    place: Position | None
    """Where the player wakes; None: where it lies."""


class Resurrections:
    """The resurrections that were offered to the players of one world."""

    def __init__(self, world: World, falls: Falls, chat: Chat) -> None:
        self._falls = falls
        self._chat = chat
        self._now = world.clock.now
        self._last = 0
        self._offers: dict[Player, Offer] = {}
        self._ends: Deadlines[Player, str] = world.timetable.deadlines(
            "offered resurrections", lambda player, _name, _now: self.forget(player)
        )
        # Who lives again in another way, and dies once more, must be asked anew.
        for event in (LeftZone, Revived):
            world.events.subscribe(event, lambda one: self.forget(one.player))

    def has_offer(self, player: Player) -> bool:
        """Return whether a player has been asked and has not answered yet."""
        return player in self._offers

    def offer(
        self, player: Player, caster: str, spell: str, *, health: float, power: float,
        place: Position | None = None,
    ) -> bool:  # fmt: skip
        """Ask a dead player; return False if it lives, or if somebody else has asked already.

        `health` and `power` are what it wakes with, in percent of the most.
        """
        if not self._falls.is_dead(player) or player in self._offers:
            return False
        self._last += 1
        self._offers[player] = Offer(self._last, health, power, place)
        self._ends.set(player, "", Monotonic(self._now() + SECONDS))
        ask(
            player,
            Question(
                ASKED.format(name=caster, spell=spell),
                "Yes", f"accept_resurrection {self._last}",
                "No", f"decline_resurrection {self._last}", seconds=SECONDS,
            ),
        )  # fmt: skip
        return True

    def resurrect(self, player: Player, *, health: float, power: float) -> None:
        """Let a dead player live at once, without asking it."""
        self.forget(player)
        self._falls.resurrect(player, health=health, power=power)

    def accept(self, player: Player, number: int | None) -> None:
        """Let a dead player live again where it was asked to. Raises `CommandError`."""
        offer = self._offer(player, number)
        self.forget(player)
        self._falls.resurrect(player, health=offer.health, power=offer.power)
        if offer.place is not None:
            self._falls.send_revived(player, Destination(player.zone.zone_id, offer.place))

    def decline(self, player: Player, number: int | None) -> None:
        """Refuse a resurrection. Raises `CommandError`."""
        self._offer(player, number)
        self.forget(player)

    def _offer(self, player: Player, number: int | None) -> Offer:
        offer = self._offers.get(player)
        if offer is None or number not in (None, offer.number) or not self._falls.is_dead(player):
            raise CommandError(NOBODY_ASKS)
        return offer

    def forget(self, player: Player) -> None:
        """Forget what a player was asked."""
        self._offers.pop(player, None)
        self._ends.clear(player, "")
