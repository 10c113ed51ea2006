"""The targets of players, when a spawn is replaced by another form of itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.zones.zone import Zone


class Targets:
    """Finds who targets a spawn, and gives these players its new form as their target."""

    def __init__(self, players: Callable[[], Iterable[Player]]) -> None:
        """`players` returns those of all zones."""
        self._players = players

    def holders(self, spawn: Spawn) -> list[Player]:
        """Return the players who have a spawn as their target."""
        return [one for one in self._players() if one.target is spawn]

    def hand_over(self, zone: Zone, holders: Sequence[Player], old: Spawn, new: Spawn) -> None:
        """Let players who had a spawn as their target have its new form, unless they chose anew.

        A client that loses the ghost of its target may have said that it has none.
        """
        for player in holders:
            if player.zone is zone and (player.target is None or player.target is old):
                player.aim(new)
