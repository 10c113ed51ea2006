"""Duels: two players strike each other, and nobody dies of it.

Source: docs/guides/fights.md#duels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from emu.errors import CommandError
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE, Player
from emu.world.combat.fights import Fights
from emu.world.deadlines import Deadlines
from emu.world.events import Died, LeftZone, Order, Warded
from emu.world.social.chat import Chat
from emu.world.speech.windows import Question, ask
from emu.world.world import World

FARTHEST: Final = 30.0
"""How far from each other two players can be to begin a duel."""
BREAKS_AT: Final = 80.0
"""How far from each other they can be until it ends without a winner."""
OFFER_SECONDS: Final = 30
LOOK: Final = 1.0
CHALLENGE: Final = "{name} challenges you to a duel. Do you accept?"
CHALLENGED: Final = "You challenge {name} to a duel."
BEGUN: Final = "Your duel with {name} has begun."
REFUSED: Final = "{name} does not want to duel with you."
WON: Final = "{winner} has defeated {loser} in a duel."
OVER: Final = "Your duel with {name} is over."


@dataclass(slots=True, eq=False)
class Duel:
    """A duel that was offered, or that goes on."""

    one: Player
    other: Player
    ends: Monotonic
    """When the offer ends; later it does not count."""
    goes_on: bool = False
    winner: Player | None = None
    """Who has struck the last blow; the duel ends with the next turn."""

    def opponent(self, player: Player) -> Player:
        """Return whom a player fights."""
        return self.other if player is self.one else self.one


class Duels:
    """The duels of one world."""

    def __init__(self, world: World, fights: Fights, chat: Chat) -> None:
        """Let opponents strike each other, and end a duel before one of them dies."""
        self._world = world
        self._fights = fights
        self._chat = chat
        self._of: dict[Player, Duel] = {}
        self._looks: Deadlines[Duel, str] = world.timetable.deadlines("duels", self._look)
        fights.is_duel = self.are_opponents
        # After the wards of spells, which count in duels as well.
        world.events.subscribe(Warded, self._struck, Order.RECORDS)
        world.events.subscribe(LeftZone, lambda event: self._end(event.player))
        world.events.subscribe(Died, self._died)

    def are_opponents(self, player: Player, other: Player) -> bool:
        """Return whether two players are in a duel with each other."""
        duel = self._of.get(player)
        return duel is not None and duel.goes_on and duel.opponent(player) is other

    # -- commands ---------------------------------------------------------------------------------

    def challenge(self, player: Player, other: Player, now: Monotonic) -> None:
        """Ask another player for a duel. Raises `CommandError`."""
        if other is player:
            raise CommandError("you cannot duel with yourself")
        for one in (player, other):
            if one in self._of:
                raise CommandError(f"{one.name} has a duel already")
        self._check_ready(player, other)
        if self._distance(player, other) > FARTHEST:
            raise CommandError(f"{other.name} is too far away")
        duel = Duel(player, other, Monotonic(now + OFFER_SECONDS))
        self._of[player] = self._of[other] = duel
        self._looks.set(duel, "", duel.ends)
        self._chat.line(player, CHALLENGED.format(name=other.name), "system")
        ask(
            other,
            Question(
                CHALLENGE.format(name=player.name), "Yes", "accept_duel", "No", "decline_duel",
                seconds=OFFER_SECONDS,
            ),
        )  # fmt: skip

    @staticmethod
    def _check_ready(*players: Player) -> None:
        """Raise `CommandError` if one of some players is dead, or its client is not there."""
        for one in players:
            if one.spawn.hp_percent <= 0 or one.state not in IN_ZONE:
                raise CommandError(f"{one.name} cannot duel now")

    def accept(self, player: Player, now: Monotonic) -> None:
        """Begin the duel that a player was asked for. Raises `CommandError`."""
        duel = self._of.get(player)
        if duel is None or duel.goes_on or duel.other is not player:
            raise CommandError("nobody has challenged you to a duel")
        self._check_ready(duel.one, duel.other)
        duel.goes_on = True
        self._looks.set(duel, "", Monotonic(now + LOOK))
        for one in (duel.one, duel.other):
            self._chat.line(one, BEGUN.format(name=duel.opponent(one).name), "system")

    def give_up(self, player: Player) -> None:
        """Refuse a duel, or lose the one that goes on. Raises `CommandError`."""
        duel = self._of.get(player)
        if duel is None:
            raise CommandError("you have no duel")
        if duel.goes_on:
            self._won(duel, duel.opponent(player))
        else:
            self._chat.line(duel.opponent(player), REFUSED.format(name=player.name), "system")
            self._forget(duel)

    # -- the course of a duel ---------------------------------------------------------------------

    def _distance(self, one: Player, other: Player) -> float:
        if one.zone is not other.zone:
            return float("inf")
        return one.position.distance_to(other.position)

    def _look(self, duel: Duel, _name: str, now: Monotonic) -> None:
        """End an offer that is too old, and a duel that is won or whose players have gone apart."""
        if not duel.goes_on:
            self._forget(duel)
        elif duel.winner is not None:
            self._won(duel, duel.winner)
        elif self._distance(duel.one, duel.other) > BREAKS_AT:
            self._end(duel.one)
        else:
            self._looks.set(duel, "", Monotonic(now + LOOK))

    def _struck(self, event: Warded) -> None:
        """Keep who loses a duel alive: the last blow leaves one point of health.

        So does what follows from that blow in this turn, such as a proc or the other hand.
        """
        victim = self._fights.players.get(event.spawn)
        foe = self._fights.players.get(event.foe) if event.foe is not None else None
        if victim is None or foe is None or not self.are_opponents(victim, foe):
            return
        over = event.left - (event.spawn.sheet.health.current - 1)
        if over > 0:
            event.absorbed.append(over)
            duel = self._of[victim]
            duel.winner = duel.winner or foe
            self._looks.set(duel, "", self._world.clock.now())

    def _won(self, duel: Duel, winner: Player) -> None:
        text = WON.format(winner=winner.name, loser=duel.opponent(winner).name)
        for one in self._world.players.standing_in(winner.zone):
            if self._distance(one, winner) <= self._world.rules.hear:
                self._chat.line(one, text, "system")
        self._forget(duel)

    def _end(self, player: Player) -> None:
        """End a duel without a winner."""
        duel = self._of.get(player)
        if duel is None:
            return
        if duel.goes_on:
            for one in (duel.one, duel.other):
                self._chat.line(one, OVER.format(name=duel.opponent(one).name), "system")
        self._forget(duel)

    def _died(self, event: Died) -> None:
        player = self._fights.players.get(event.victim)
        if player is not None:
            self._end(player)

    def _forget(self, duel: Duel) -> None:
        self._looks.clear(duel, "")
        for one in (duel.one, duel.other):
            if self._of.get(one) is duel:
                del self._of[one]
            if duel.goes_on and self._fights.is_attacking(one.spawn):
                self._fights.rest(one.spawn)
