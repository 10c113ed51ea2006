"""Nearness: the one watch over players, and over spawns, that come and go.

Behaviors and scripts add watches with the functions to call. Watches that are checked equally
often have one deadline for each zone, and nothing is looked at while no player is there. Only the
players in the cells around a spawn are compared with it.
Source: docs/guides/lua.md#time, docs/guides/zones.md#behaviors.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from emu.times import Monotonic
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.deadlines import Timetable
from emu.world.events import Came, Entered, Events, LeftZone, Order, Went
from emu.world.players import Players
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position

NEAR_PAUSE: Final = 2.0
"""Seconds between two looks at who is near the spawn of a script."""
PLACE_PAUSE: Final = 1.0
"""Seconds between two looks at who is at a place."""
CELL: Final = 64.0
"""Side of a cell of players, in units; most spawns look out for less."""
WIDE: Final = 10_000.0
"""From this distance on all players of a zone are compared."""
FEW: Final = 4
"""So many cells are searched in any case."""


def distance_between(one: Spawn, other: Spawn) -> float:
    """Return the distance of two spawns with height, as scripts count it."""
    return math.dist(one.position[:3], other.position[:3])


class Crowd:
    """The players who stand in a zone by cell, for one check of all its watches."""

    __slots__ = ("_cells", "players", "zone")

    def __init__(self, zone: Zone, players: list[Player]) -> None:
        self.zone = zone
        self.players = players
        self._cells: dict[tuple[int, int], list[Player]] = {}
        for player in players:
            at = player.position
            self._cells.setdefault((int(at.x // CELL), int(at.z // CELL)), []).append(player)

    def near(self, at: Position, distance: float) -> Sequence[Player]:
        """Return the players of the zone that may be so near; the caller measures."""
        # Also for what is no number: a behavior or a script may give any distance.
        if not distance < WIDE:
            return [player for player in self.players if player.zone is self.zone]
        cells = self._cells
        left, low = int((at.x - distance) // CELL), int((at.z - distance) // CELL)
        right, high = int((at.x + distance) // CELL), int((at.z + distance) // CELL)
        found: Sequence[Player]
        if left == right and low == high:
            found = cells.get((left, low), ())
        elif (right - left + 1) * (high - low + 1) > len(cells) + FEW:
            found = self.players
        else:
            found = [
                player
                for x in range(left, right + 1)
                for z in range(low, high + 1)
                for player in cells.get((x, z), ())
            ]
        # A function that was called just now may have sent a player to another zone.
        return [player for player in found if player.zone is self.zone] if found else found


class NearnessGroup(NamedTuple):
    """The watches of a zone that are checked together."""

    zone: Zone
    pause: float
    """Seconds between two checks."""
    is_eager: bool
    """Whether the first check is at once, and not after the pause."""


Found = Mapping[int, Any]
"""Players by character id, or spawns by number."""


@dataclass(slots=True, eq=False, kw_only=True)
class NearnessWatch:
    """What somebody looks out for; `came` and `went` are called with a player, or with a spawn."""

    zone: Zone
    came: Callable[[Any], object]
    went: Callable[[Any], object]
    inside: Found = field(default_factory=dict)

    @property
    def group(self) -> NearnessGroup:
        """The watches with which it is checked."""
        return NearnessGroup(self.zone, NEAR_PAUSE, is_eager=True)

    @property
    def spawn_of_events(self) -> Spawn | None:
        """The spawn of the events `Came` and `Went`; None without such events."""
        return None

    @property
    def calls_leavers(self) -> bool:
        """Whether `went` is called for a player who leaves the zone."""
        # EQ2Emulator's server calls no function of a script then.
        return False

    @abstractmethod
    def find(self, crowd: Crowd) -> Found:
        """Return who is inside now."""


@dataclass(slots=True, eq=False, kw_only=True)
class NearSpawn(NearnessWatch):
    """The players near the spawn of a script, once their clients can show it."""

    spawn: Spawn
    distance: float

    @property
    def spawn_of_events(self) -> Spawn:
        """The spawn."""
        return self.spawn

    def find(self, crowd: Crowd) -> Found:
        """Return the players who are near; one at exactly the distance stays where it was."""
        spawn, most, inside = self.spawn, self.distance, self.inside
        found = {}
        for player in crowd.near(spawn.position, most):
            away = distance_between(spawn, player.spawn)
            if away <= most and (
                player.id in inside or (away < most and _may_notice(spawn, player))
            ):
                found[player.id] = player
        return found


@dataclass(slots=True, eq=False, kw_only=True)
class NearActor(NearnessWatch):
    """The players near the spawn of a behavior, or in the zone of one, who are not hidden."""

    spawn: Spawn | None
    """None for a behavior of the zone."""
    distance: float
    pause: float

    @property
    def group(self) -> NearnessGroup:
        """The watches with which it is checked; a zone's behavior waits for nothing."""
        return NearnessGroup(self.zone, self.pause, is_eager=self.spawn is None)

    @property
    def spawn_of_events(self) -> Spawn | None:
        """The spawn; None for a zone."""
        return self.spawn

    @property
    def calls_leavers(self) -> bool:
        """Always: a behavior learns of every end of a visit."""
        return True

    def find(self, crowd: Crowd) -> Found:
        """Return the players within the distance on the ground."""
        if self.spawn is None:
            near = [player for player in crowd.players if player.zone is self.zone]
        else:
            at, most = self.spawn.position, self.distance
            near = [
                player for player in crowd.near(at, most)
                if at.distance_to(player.position) <= most
            ]  # fmt: skip
        return {player.id: player for player in near if not player.spawn.hidden}


@dataclass(slots=True, eq=False, kw_only=True)
class NearOthers(NearnessWatch):
    """The spawns of a kind that are near a spawn."""

    spawn: Spawn
    distance: float
    others: Callable[[], Iterable[Spawn]]
    """Returns the spawns of the kind that stand in the zone."""

    def find(self, crowd: Crowd) -> Found:
        """Return the other spawns of the kind that are near, by number."""
        del crowd
        return {
            other.id: other for other in sorted(self.others(), key=lambda one: one.id)
            if other is not self.spawn and distance_between(self.spawn, other) < self.distance
        }  # fmt: skip


@dataclass(slots=True, eq=False, kw_only=True)
class AtPlace(NearnessWatch):
    """The players at a place, which has the shape of a diamond."""

    place: Position
    distance: float
    greets_once: bool = False
    """Whether each player counts as inside until it leaves the zone."""

    @property
    def group(self) -> NearnessGroup:
        """The watches with which it is checked."""
        return NearnessGroup(self.zone, PLACE_PAUSE, is_eager=True)

    def find(self, crowd: Crowd) -> Found:
        """Return the players who are there."""
        at = self.place
        found = dict(self.inside) if self.greets_once else {}
        for player in crowd.near(at, self.distance):
            x, y, z = player.position[:3]
            if abs(x - at.x) + abs(y - at.y) + abs(z - at.z) <= self.distance:
                found[player.id] = player
        return found


class Nearness:
    """The watches of a world."""

    def __init__(
        self,
        *,
        events: Events,
        players: Players,
        timetable: Timetable,
        now: Callable[[], Monotonic],
    ) -> None:
        self._events = events
        self._players = players
        self._now = now
        self._of_owner: dict[Hashable, list[NearnessWatch]] = {}
        self._groups: dict[Zone, dict[NearnessGroup, dict[NearnessWatch, None]]] = {}
        self._around: dict[int, set[NearnessWatch]] = {}
        """The watches in which a player is, by character id."""
        self._looks = timetable.deadlines("who is near", self._look_all)
        events.subscribe(Entered, self._entered, Order.MINDS)
        events.subscribe(LeftZone, self._left, Order.MINDS)

    def add_watch(self, owner: Hashable, watch: NearnessWatch, *, most: int) -> bool:
        """Begin a watch for an owner; return False if it has `most` of the kind already."""
        own = self._of_owner.setdefault(owner, [])
        if sum(type(one) is type(watch) for one in own) >= most:
            return False
        own.append(watch)
        group = watch.group
        self._groups.setdefault(watch.zone, {}).setdefault(group, {})[watch] = None
        if self._looks.get(group, "") is None and self._players.standing_in(watch.zone):
            self._arm(group, self._now())
        return True

    def forget(self, owner: Hashable, kind: type[NearnessWatch] = NearnessWatch) -> None:
        """End the watches of an owner, or those of one kind; nothing is called for who is near."""
        for watch in self._of_owner.pop(owner, []):
            if isinstance(watch, kind):
                self._end(watch)
            else:
                self._of_owner.setdefault(owner, []).append(watch)

    def _end(self, watch: NearnessWatch) -> None:
        for key in watch.inside:
            self._around.get(key, set()).discard(watch)
        group, groups = watch.group, self._groups[watch.zone]
        del groups[group][watch]
        if not groups[group]:
            del groups[group]
            self._looks.clear(group, "")
        if not groups:
            del self._groups[watch.zone]

    def _entered(self, event: Entered) -> None:
        """Go on with the watches of a zone in which a player stands now."""
        for group in self._groups.get(event.player.zone, ()):
            if group.is_eager or self._looks.get(group, "") is None:
                self._arm(group, event.now)

    def _arm(self, group: NearnessGroup, now: Monotonic) -> None:
        due = now if group.is_eager else Monotonic(now + group.pause)
        self._looks.set(group, "", due)

    def _left(self, event: LeftZone) -> None:
        """Forget where a player was who leaves a zone; one who comes back is greeted again."""
        player = event.player
        for watch in self._around.pop(player.id, ()):
            watch.inside = {key: one for key, one in watch.inside.items() if key != player.id}
            if watch.calls_leavers:
                self._went(watch, player)

    def _look_all(self, group: NearnessGroup, _name: str, now: Monotonic) -> None:
        watches = self._groups.get(group.zone, {}).get(group)
        players = self._players.standing_in(group.zone)
        # An empty zone is looked at again when somebody enters it.
        if not watches or not players:
            return
        self._looks.set(group, "", Monotonic(now + group.pause))
        crowd = Crowd(group.zone, players)
        for watch in list(watches):
            # What was called just now may have ended it.
            if watch in watches:
                self._look(watch, crowd)

    def _look(self, watch: NearnessWatch, crowd: Crowd) -> None:
        before, here = watch.inside, watch.find(crowd)
        if before.keys() == here.keys():
            watch.inside = here
            return
        gone = [one for key, one in before.items() if key not in here]
        new = [one for key, one in here.items() if key not in before]
        # Before any call, because a call can move players.
        watch.inside = here
        for one in gone:
            if isinstance(one, Player):
                self._around.get(one.id, set()).discard(watch)
        for one in new:
            if isinstance(one, Player):
                self._around.setdefault(one.id, set()).add(watch)
        for one in gone:
            self._went(watch, one)
        for one in new:
            self._came(watch, one)

    def _came(self, watch: NearnessWatch, subject: Any) -> None:
        watch.came(subject)
        spawn = watch.spawn_of_events
        if spawn is not None and self._events.has_listener(Came):
            self._events.publish(Came(subject, spawn))

    def _went(self, watch: NearnessWatch, subject: Any) -> None:
        watch.went(subject)
        spawn = watch.spawn_of_events
        if spawn is not None and self._events.has_listener(Went):
            self._events.publish(Went(subject, spawn))


def _may_notice(spawn: Spawn, player: Player) -> bool:
    """Return whether a spawn may call its function of nearness for a player beside it.

    A client that enters is sent its ghosts one after another, so a spawn waits until it is there.
    A spawn that is hidden from the player does not wait: 123 scripts of the community hide their
    spawn and show it to those who come near. A dead player comes near nothing: it does not move.
    """
    if player.spawn.hp_percent <= 0:
        return False
    return player.index_of(spawn) is not None or not spawn.may_be_seen_by(player.spawn)
