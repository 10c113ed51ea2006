"""Transports: lifts, boats and platforms that carry along who stands on them.

Clients let a player stand on what moves; the server moves the places of players and creatures
along, so that distances, viewers and saves are right between two steps of a client. What a client
says of its own place wins. Nothing here costs time in a zone without transports, and little while
a transport stands: it is asked who stands on it when it sets off.

The extent of a transport is the sphere around its model, whose radius the content file has.
Source: docs/guides/travel.md#transports, docs/protocol/world/movement.md#carried.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from emu.times import Monotonic
from emu.world.actors.spawn import LIVING, GhostPart, Spawn, SpawnKind
from emu.world.visibility.fields import OFFSET_UNIT, TRANSPORT, hovers
from emu.world.zones.zone import Zone
from emu.world_stream.movement import FULL_TURN, Position, rotated

SMALLEST: Final = 2.0
"""Units; the radius of a transport whose model has a smaller one, or none."""
FLOOR: Final = 4.0
"""Units by which the floor of a transport may be below its place."""
CREATURES: Final = 0.5
"""Part of the extent in which a creature stands on a transport.

The sphere around a model is larger than its floor. A player who stands beside it corrects its place
with its next step; a creature would be taken away.
"""
LAG: Final = 1.5
"""Seconds by which clients may show a transport too late; it has stood for longer if at rest."""
JUMP: Final = 60.0
"""Units in one moment: a script has put the transport elsewhere, and players stay behind."""


@dataclass(slots=True, eq=False)
class _Transport:
    zone: Zone
    spawn: Spawn
    radius: float
    rise: float
    """By how much the middle of its model is above its place."""
    place: Position
    moved: float = -math.inf
    """When it moved last."""
    trail: deque[tuple[float, Position]] = field(default_factory=deque)
    """Where it was, and until when: clients show it a little later."""
    riders: dict[int, _Ride] = field(default_factory=dict)

    def holds(self, place: Position, at: Position, part: float = 1.0) -> bool:
        """Return whether somebody stands on it while it is at a place."""
        height = at.y - place.y
        across = self.radius**2 - (height - self.rise) ** 2
        away = (at.x - place.x) ** 2 + (at.z - place.z) ** 2
        return height >= -FLOOR and across > 0.0 and away <= across * part**2

    def places(self, now: float) -> Iterator[Position]:
        """Yield where it is, and where clients may still show it."""
        yield self.place
        if now - self.moved <= LAG:
            for _, place in self.trail:
                yield place


@dataclass(slots=True, eq=False)
class _Ride:
    transport: _Transport
    spawn: Spawn
    said: Position
    """The last place that is not the transport's doing: for instance that of a client's step."""
    here: Position
    """Where the transport has carried it to; if it is elsewhere now, something else moved it."""


class Rides:
    """The transports of all running zones, and who stands on them."""

    def __init__(
        self,
        now: Callable[[], Monotonic],
        *,
        boarded: Callable[[Zone, Spawn, Spawn, bool], object] = lambda *_: None,
        carried: Callable[[Zone, Spawn, Position], object] = lambda *_: None,
    ) -> None:
        """`boarded` hears of players who step on a transport, or off: zone, transport, player.

        `carried` hears of each player who was carried, with the place before.
        """
        self._now = now
        self._boarded = boarded
        self._carried = carried
        self._transports: dict[int, _Transport] = {}
        self._by_zone: dict[Zone, list[_Transport]] = {}
        self._rides: dict[int, _Ride] = {}

    def __len__(self) -> int:
        """Return how many transports there are."""
        return len(self._transports)

    # -- transports -------------------------------------------------------------------------------

    def add_carrier(self, zone: Zone, spawn: Spawn, *, shown: bool = False) -> None:
        """Let a spawn carry who stands on it; `shown`: clients are shown that it is a transport."""
        if shown:
            spawn.set_word(TRANSPORT, on=True)
        transport = self._transports.get(spawn.id)
        if transport is None:
            radius = max(SMALLEST, spawn.collision_radius / OFFSET_UNIT)
            # A widget names the middle of its model besides its own place.
            rise = spawn.footer.y - spawn.position.y if spawn.footer is not None else 0.0
            if abs(rise) >= radius:
                rise = 0.0
            transport = _Transport(zone, spawn, radius, rise, spawn.position)
            self._transports[spawn.id] = transport
            self._by_zone.setdefault(zone, []).append(transport)
        self._listen(transport)

    def _listen(self, transport: _Transport) -> None:
        watcher = transport.spawn.watcher
        # A zone sets its own watcher when a spawn is added: a script may have come before it.
        if getattr(watcher, "transport", None) is not transport:
            transport.spawn.watcher = _Watcher(transport, watcher, self._changed)

    def remove(self, spawn: Spawn) -> None:
        """Forget a spawn that leaves its zone, as a transport and as a rider."""
        transport = self._transports.pop(spawn.id, None)
        if transport is not None:
            self._by_zone[transport.zone].remove(transport)
            if not self._by_zone[transport.zone]:
                del self._by_zone[transport.zone]
            for number in transport.riders:
                self._rides.pop(number, None)
            transport.riders.clear()
        ride = self._rides.pop(spawn.id, None)
        if ride is not None:
            ride.transport.riders.pop(spawn.id, None)

    def ended(self, zone: Zone) -> None:
        """Forget the transports of a zone that ends."""
        for transport in list(self._by_zone.get(zone, ())):
            self.remove(transport.spawn)

    def is_transport(self, spawn: Spawn) -> bool:
        """Return whether a spawn carries who stands on it."""
        return spawn.id in self._transports

    def passengers(self, spawn: Spawn) -> list[Spawn]:
        """Return who stands on a transport, as far as it is known."""
        transport = self._transports.get(spawn.id)
        return [ride.spawn for ride in transport.riders.values()] if transport is not None else []

    # -- steps of players -------------------------------------------------------------------------

    def has_any(self, zone: Zone) -> bool:
        """Return whether a zone has transports."""
        return zone in self._by_zone

    def place_on(self, carrier: Spawn | None, offset: Position) -> Position | None:
        """Return the place of a player whose client counts from a transport; None: from no such.

        The heading and the sides of the offset are those of the world.
        """
        if carrier is None or carrier.id not in self._transports:
            return None
        at = carrier.position
        return Position(
            at.x + offset.x, at.y + offset.y, at.z + offset.z, offset.heading, at.grid
        )  # fmt: skip

    def measured_from(self, spawn: Spawn, to: Position) -> Position:
        """Return the place from which a player's step is measured.

        A client may show the transport a little later than the server moves it, or not let its
        player ride at all. So the step begins at the nearest point between the place that the
        client said last and the place to which the transport has carried the player.
        """
        here = spawn.position
        ride = self._rides.get(spawn.id)
        if ride is None or ride.here != here:
            return here
        way = [b - a for a, b in zip(ride.said[:3], here[:3], strict=True)]
        span = sum(one * one for one in way)
        if not span:
            return here
        along = sum((b - a) * one for a, b, one in zip(ride.said[:3], to[:3], way, strict=True))
        share = min(1.0, max(0.0, along / span))
        x, y, z = (a + one * share for a, one in zip(ride.said[:3], way, strict=True))
        return here._replace(x=x, y=y, z=z)

    def stepped(self, zone: Zone, spawn: Spawn, carrier: Spawn | None = None) -> None:
        """Note the place to which a player has stepped; `carrier` is where its client says."""
        if zone not in self._by_zone:
            return
        ride = self._rides.get(spawn.id)
        found = self._transports.get(carrier.id) if carrier is not None else None
        if found is None:
            found = self._under(zone, spawn)
        if ride is not None and ride.transport is not found:
            self._leave(ride)
            ride = None
        if ride is not None:
            ride.said = ride.here = spawn.position
        elif found is not None:
            self._board(found, spawn)

    def _under(self, zone: Zone, spawn: Spawn) -> _Transport | None:
        """Return the transport on which somebody stands: of several the nearest.

        The content file has lifts in one place, of which one moves: that one counts.
        """
        at, now = spawn.position, self._now()
        holding = [
            one for one in self._by_zone[zone]
            if one.spawn is not spawn and any(one.holds(place, at) for place in one.places(now))
        ]  # fmt: skip
        if len(holding) < 2:
            return holding[0] if holding else None
        ride = self._rides.get(spawn.id)

        def rank(one: _Transport) -> tuple[float, float, bool]:
            away = at.distance_to(one.place) / one.radius
            return -round(away, 1), one.moved, ride is not None and one is ride.transport

        return max(holding, key=rank)

    # -- carrying ---------------------------------------------------------------------------------

    def _changed(self, transport: _Transport) -> None:
        """Carry who stands on a transport to where it is now."""
        # A widget is a part of a building, and turns about its hinge.
        turns = transport.spawn.kind is not SpawnKind.WIDGET
        size = 4 if turns else 3
        if transport.place[:size] == transport.spawn.position[:size]:
            return
        now = self._now()
        if now - transport.moved > LAG:
            transport.trail.clear()
            transport.moved = now
            self._take_aboard(transport, now)
        # Only now: the script that heard of a passenger may have moved it, too.
        before, here = transport.place, transport.spawn.position
        transport.moved, transport.place = now, here
        transport.trail.append((now, before))
        while now - transport.trail[0][0] > LAG:
            transport.trail.popleft()
        turn = here.heading - before.heading if turns else 0.0
        is_jump = math.dist(before[:3], here[:3]) > JUMP
        for ride in list(transport.riders.values()):
            is_player = ride.spawn.kind is SpawnKind.PLAYER
            if not self._still_rides(ride, before) or (is_jump and is_player):
                self._leave(ride)
            else:
                self._carry(ride, before, here, turn)

    def _take_aboard(self, transport: _Transport, now: Monotonic) -> None:
        """Find who stands on a transport that sets off."""
        for former in list(transport.riders.values()):
            if former.spawn.kind is not SpawnKind.PLAYER:
                self._leave(former)
        for spawn in transport.zone.near(transport.place, transport.radius):
            ride = self._rides.get(spawn.id)
            is_carried = ride is not None and now - ride.transport.moved <= LAG
            if spawn.kind not in LIVING or is_carried or self.is_transport(spawn):
                continue
            is_player = spawn.kind is SpawnKind.PLAYER
            # Who flies or swims does not stand on it, and who walks goes its own way.
            part = 1.0 if is_player else CREATURES
            stands = is_player or not (spawn.ahead or hovers(spawn))
            if (
                stands
                and transport.holds(transport.place, spawn.position, part)
                and self._under(transport.zone, spawn) is transport
            ):
                if ride is not None and ride.transport is not transport:
                    self._leave(ride)
                    ride = None
                if ride is None:
                    self._board(transport, spawn)

    def _still_rides(self, ride: _Ride, before: Position) -> bool:
        spawn, transport = ride.spawn, ride.transport
        if transport.zone.spawn(spawn.id) is not spawn:
            return False
        if ride.here != spawn.position:
            # Something else has moved it: a script, a game master, its own walk.
            if not transport.holds(before, spawn.position):
                return False
            ride.said = ride.here = spawn.position
        return spawn.kind is SpawnKind.PLAYER or not spawn.ahead

    def _carry(self, ride: _Ride, before: Position, here: Position, turn: float) -> None:
        spawn = ride.spawn
        at = spawn.position
        goal = _moved_along(at, before, here, turn)
        if spawn.kind is SpawnKind.PLAYER:
            ride.here = goal
            spawn.move(
                goal, speed=spawn.speed, side_speed=spawn.side_speed, vert_speed=spawn.vert_speed
            )
            self._carried(ride.transport.zone, spawn, at)
        else:
            spawn.origin = _moved_along(spawn.origin, before, here, turn)
            ride.said = ride.here = goal
            spawn.move(goal)

    def _board(self, transport: _Transport, spawn: Spawn) -> None:
        at = spawn.position
        ride = _Ride(transport, spawn, at, at)
        self._rides[spawn.id] = transport.riders[spawn.id] = ride
        if spawn.kind is SpawnKind.PLAYER:
            self._boarded(transport.zone, transport.spawn, spawn, True)

    def _leave(self, ride: _Ride) -> None:
        transport, spawn = ride.transport, ride.spawn
        transport.riders.pop(spawn.id, None)
        self._rides.pop(spawn.id, None)
        if spawn.kind is SpawnKind.PLAYER and transport.zone.spawn(spawn.id) is spawn:
            self._boarded(transport.zone, transport.spawn, spawn, False)


@dataclass(slots=True, eq=False)
class _Watcher:
    """Passes the changes of a transport on to its zone, and then to who carries along."""

    transport: _Transport
    zone: Callable[[Spawn, int], None]
    moved: Callable[[_Transport], None]

    def __call__(self, spawn: Spawn, change: int) -> None:
        self.zone(spawn, change)
        if change & (GhostPart.POSITION | GhostPart.DRIFT):
            self.moved(self.transport)


def _moved_along(at: Position, before: Position, here: Position, turn: float) -> Position:
    """Return where somebody is after a transport has moved and turned by some degrees."""
    x, z = at.x - before.x, at.z - before.z
    if turn:
        x, z = rotated(x, z, turn)
    return at._replace(
        x=here.x + x, y=at.y + here.y - before.y, z=here.z + z,
        heading=(at.heading + turn) % FULL_TURN if turn else at.heading,
    )  # fmt: skip
