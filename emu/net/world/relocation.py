"""The world's side of a node: which zones run here, and the players who are sent to other nodes.

A node that is drained sends all players who stand in a zone; one that was away sends those whose
zone was placed elsewhere meanwhile. Players who are loading are sent as soon as they stand.

An instance that they have left ends at once. It may run elsewhere, and if it came back to this
node, players would find it as it was: what died meanwhile would live.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from emu.cluster.drain import Drain
from emu.cluster.ports import ZonePlace
from emu.errors import EmuError
from emu.net.scheduler import Scheduler, Tasks
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE, Player, PlayerState
from emu.world.entry.leaving import Departures
from emu.world.population.deaths import Deaths
from emu.world.travel.instances import FIRST_COPY
from emu.world.world import World
from emu.world.zones.zone import Zone


class Relocation:
    """Implements `emu.cluster.node.RunningZones` for a world."""

    def __init__(
        self,
        world: World,
        departures: Departures,
        scheduler: Scheduler,
        tasks: Tasks,
        *,
        unsaved: Callable[[], Iterable[Deaths]],
    ) -> None:
        """`unsaved` returns what the next node of a zone reads, and is stored a little later."""
        self._unsaved = unsaved
        self._world = world
        self._departures = departures
        self._scheduler = scheduler
        self._tasks = tasks
        self._drain = Drain(self._leaving)
        self._timer = scheduler.timer(self)
        self._moved: set[tuple[int, int]] = set()
        """Instances here whose zone runs on another node by now."""
        self._is_draining = False

    # -- what the node asks -----------------------------------------------------------------------

    @property
    def players(self) -> int:
        """Players in this process."""
        return len(self._world.players)

    def runs(self, place: ZonePlace) -> bool:
        """Return whether an instance runs here; that of a zone with copies stands for all."""
        if self._world.zones.find(place.zone_id, place.instance) is not None:
            return True
        key = (place.zone_id, place.instance)
        return any(_placed_as(zone) == key for zone in self._world.zones)

    def is_full(self, place: ZonePlace) -> bool:
        """Return whether an instance has as many players as its zone allows."""
        zone = self._world.zones.find(place.zone_id, place.instance)
        if zone is None or not zone.definition.population:
            return False
        return self._world.players.count_seen_in(zone) >= zone.definition.population

    def moved(self, places: Sequence[ZonePlace]) -> None:
        """Send the players of instances to the nodes where those were placed."""
        self._moved |= {(place.zone_id, place.instance) for place in places}
        self._wake()

    # -- sending players --------------------------------------------------------------------------

    def drain(self, *, is_draining: bool) -> None:
        """Send all players to other nodes from now on, or no longer."""
        self._is_draining = is_draining
        self._wake()

    def handle_timer(self, now: Monotonic) -> None:
        """Send the players who are due; called by the scheduler."""
        for char_id in self._drain.due(now):
            player = self._world.players.get(char_id)
            if player is not None:
                self._tasks.spawn(self._send(player))
        if self._is_draining:
            self._end_empty(self._world.zones)
        if self._is_draining or self._moved:
            # Nobody reports that a player stands now, so it is checked.
            due = self._drain.get_timer(now)
            self._scheduler.arm(self._timer, Monotonic(now + 0.5) if due is None else due)

    def stop(self) -> None:
        """Send nobody any more."""
        self._scheduler.drop(self._timer)

    def _wake(self) -> None:
        self._scheduler.arm(self._timer, self._scheduler.now())

    def _leaving(self) -> Iterator[int]:
        """Yield the players who have to go and can be sent now."""
        still: set[tuple[int, int]] = set()
        for player in self._world.players:
            key = _placed_as(player.zone)
            if key in self._moved:
                still.add(key)
            elif not self._is_draining:
                continue
            if _may_be_sent(player):
                yield player.id
        # Only now: an instance stays in the set until its last player has gone.
        left, self._moved = self._moved - still, still
        if left:
            self._end_empty(zone for zone in self._world.zones if _placed_as(zone) in left)

    def _end_empty(self, zones: Iterable[Zone]) -> None:
        """End those instances that are empty."""
        now = self._world.clock.now()
        for zone in zones:
            self._world.zones.end_soon(zone, now)

    async def _send(self, player: Player) -> None:
        try:
            key = _placed_as(player.zone)
            # Another instance of the zone may stay here: its players go with their own.
            instance = key[1] if key in self._moved else None
            zone = player.zone
            # Else the zone would stand there with what has just died here.
            for one in self._unsaved():
                await one.settled()
            if await self._departures.send_to_other_node(player, instance):
                # The drain may be over by now.
                self._end_empty([zone])
        except EmuError as error:
            self._world.refused(player, f"not sent to another node: {error}")


def _placed_as(zone: Zone) -> tuple[int, int]:
    """Return zone and number of the place of an instance: the copies of a zone have one place."""
    return zone.zone_id, 0 if zone.instance >= FIRST_COPY else zone.instance


def _may_be_sent(player: Player) -> bool:
    if player.journey.is_travelling:
        return False
    return player.state in IN_ZONE or player.state is PlayerState.LINK_DEAD
