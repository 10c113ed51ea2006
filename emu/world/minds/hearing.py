"""Hails and talk: who is addressed, who hears it, and from how far.

A hail and a line are events. Here they are passed to the engines, which run the behaviors and the
scripts: each engine says how far its actors hear and calls their functions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import Spawn
from emu.world.events import Events, Hailed, Order, Spoken
from emu.world.minds.moves import Moves
from emu.world.minds.nearness import distance_between
from emu.world.reports import Faults
from emu.world.zones.zone import Zone


class HearingReach(NamedTuple):
    """How near a player must be."""

    distance: float
    has_height: bool
    """Whether the distance is that in space, and not on the ground."""

    def holds(self, spawn: Spawn, player: Player) -> bool:
        """Return whether a player is near enough to a spawn."""
        if self.has_height:
            return distance_between(spawn, player.spawn) < self.distance
        return spawn.position.distance_to(player.position) <= self.distance


class Engine(Protocol):
    """Runs the minds of actors: `Behaviors` and `Scripts` do. A mind is its own object for one."""

    @property
    def reach(self) -> HearingReach:
        """How near a player must be to hail an actor."""

    def mind_of(self, zone: Zone, spawn: Spawn) -> Any | None:
        """Return the mind of a spawn; None without one."""

    def listeners(self, zone: Zone, target: Spawn | None) -> Iterable[tuple[Spawn | None, Any]]:
        """Return the minds that hear a line, each with the spawn that must be near the speaker.

        Without such a spawn a mind hears the line in any case. `target` is the spawn that the
        speaker has targeted.
        """

    def hailed(self, mind: Any, player: Player) -> bool:
        """Call a mind for a hail; return whether the actor stands still for a while."""

    def heard(self, mind: Any, player: Player, text: str) -> None:
        """Call a mind for a line."""


class Hearing:
    """Passes hails and lines to the engines, in the order in which they were added."""

    def __init__(self, *, events: Events, moves: Moves, faults: Faults) -> None:
        self._engines: list[Engine] = []
        self._moves = moves
        self._faults = faults
        events.subscribe(Hailed, self._hailed, Order.MINDS)
        events.subscribe(Spoken, self._spoken, Order.MINDS)

    def add_engine(self, engine: Engine) -> None:
        """Add an engine."""
        self._engines.append(engine)

    def has_mind(self, zone: Zone, spawn: Spawn) -> bool:
        """Return whether a spawn hears what is said to it."""
        return any(engine.mind_of(zone, spawn) is not None for engine in self._engines)

    def _hailed(self, event: Hailed) -> None:
        self._refresh(event.target, event.player)
        for engine in self._engines:
            self._faults.attempt("a hail", event.player, self._hail, engine, event)

    def _hail(self, engine: Engine, event: Hailed) -> None:
        player, target = event.player, event.target
        mind = engine.mind_of(player.zone, target)
        if mind is None:
            # For all others a hail is a line as any other.
            self._say(engine, player, event.text, None)
        elif player.state in IN_ZONE and engine.reach.holds(target, player):
            is_to_stand = engine.hailed(mind, player)
            mover = self._moves.get(target, player.zone)
            if is_to_stand and mover is not None:
                mover.hailed()

    def _spoken(self, event: Spoken) -> None:
        self._refresh(event.target, event.player)
        for engine in self._engines:
            self._faults.attempt(
                "a line", event.player, self._say, engine, event.player, event.text, event.target
            )

    def _say(self, engine: Engine, player: Player, text: str, target: Spawn | None) -> None:
        # A list, because a mind may end others while it hears this.
        for spawn, mind in list(engine.listeners(player.zone, target)):
            if spawn is None or engine.reach.holds(spawn, player):
                engine.heard(mind, player, text)

    def _refresh(self, target: Spawn | None, player: Player) -> None:
        """Let a spawn be where it is by now, before a distance is measured."""
        mover = self._moves.get(target, player.zone) if target is not None else None
        if mover is not None:
            mover.refresh()
