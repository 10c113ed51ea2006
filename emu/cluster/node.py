"""One node: its beats and its term, and the zone instances and leases that it holds.

A node that was away may have been replaced meanwhile. It counts as away when a beat is late by more
than half the lease, which is before any other node may take what it holds. While it is away it
saves nothing (`is_away`). When the database answers again, either its lease has held, or it takes a
new term, claims its zone instances again and gives up those that were placed elsewhere; its players
stay until they are sent there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Final, Protocol

from emu.cluster.ports import (
    BEAT,
    CLOCK_TOLERANCE,
    LEASE,
    Beat,
    LeaseRow,
    NodeAbout,
    NodeRow,
    NodeState,
    NodeStore,
    ZonePlace,
)
from emu.errors import StoreError
from emu.times import Monotonic

CLOCK_ANSWER: Final = 2.0
"""Seconds that an answer may take for the clocks to be compared by it."""
UNUSED: Final = 120.0
"""Seconds after which an instance that does not run is released: a world key is valid for 60."""


class RunningZones(Protocol):
    """The zones that run in this process."""

    @property
    def players(self) -> int:
        """Players in this process."""

    def runs(self, place: ZonePlace) -> bool:
        """Return whether an instance runs here."""

    def is_full(self, place: ZonePlace) -> bool:
        """Return whether an instance has as many players as its zone allows."""

    def moved(self, places: Sequence[ZonePlace]) -> None:
        """Send the players of instances to the nodes where those were placed."""


@dataclass(frozen=True, slots=True)
class NodeAway:
    """This node got no answer in time, and saves nothing for now; `why` is the store's error."""

    seconds: float
    why: str = ""


@dataclass(frozen=True, slots=True)
class NodeReturned:
    """The database answered again; `moved` instances were placed elsewhere meanwhile.

    `term` is the node's new term, or its old one if its lease has held.
    """

    term: int
    moved: int = 0


@dataclass(frozen=True, slots=True)
class OtherNode:
    """Another node began to live, or lives no more."""

    name: str
    is_alive: bool


@dataclass(frozen=True, slots=True)
class StateChanged:
    """An operator has changed the state of this node."""

    state: NodeState


@dataclass(frozen=True, slots=True)
class LeaseMoved:
    """This node took a lease, or lost it."""

    name: str
    is_held: bool


@dataclass(frozen=True, slots=True)
class ClockChanged:
    """The clock of this machine is off by too much, or right again."""

    ahead: float
    """Seconds by which it is ahead of the database's; 0: it is right."""


NodeEvent = ClockChanged | NodeAway | NodeReturned | OtherNode | StateChanged | LeaseMoved


@dataclass(slots=True)
class _Wanted:
    """Work of which this node has the lease, or takes it when nobody has it."""

    begin: Callable[[], None]
    end: Callable[[], None]
    is_held: bool = False


@dataclass(slots=True, eq=False)
class Node:
    """One node of a cluster. `start`, then `beat` whenever `get_timer` says so, then `stop`."""

    name: str
    store: NodeStore
    _: KW_ONLY
    about: Callable[[], NodeAbout]
    """Returns what it reports when it takes a term."""
    zones: RunningZones
    report: Callable[[NodeEvent], None] = lambda _event: None
    moment: Callable[[], float] | None = None
    """Returns the time of this machine's clock; None: it is not compared with the database's."""
    clock_ahead: float = 0.0
    """Seconds by which that clock is ahead; 0 up to `CLOCK_TOLERANCE`."""
    interval: float = BEAT
    lease: float = LEASE
    term: int = 0
    state: NodeState = NodeState.UP
    rows: Sequence[NodeRow] = ()
    """All nodes, as they were at the last beat."""
    _held: dict[tuple[int, int], ZonePlace] = field(default_factory=dict)
    _held_since: dict[tuple[int, int], Monotonic] = field(default_factory=dict)
    _leaving: dict[tuple[int, int], ZonePlace] = field(default_factory=dict)
    """Instances that run here and were placed elsewhere."""
    _displaced: dict[tuple[int, int], ZonePlace] = field(default_factory=dict)
    """Instances that were placed elsewhere while this node was away, until a beat is answered."""
    _wanted: dict[str, _Wanted] = field(default_factory=dict)
    _answered: Monotonic = field(default=Monotonic(0))  # a number
    """When the last beat began that the store has answered."""
    _due: Monotonic | None = None
    _is_beating: bool = False
    _was_away: bool = False
    _is_returning: bool = False
    """It has not yet claimed all that it held before it was away."""
    _why: str = ""
    """The error of the last beat."""

    async def start(self, now: Monotonic) -> None:
        """Take a term. Raises `StoreError`."""
        self.began(await self.store.take_term(self.name, self.about(), NodeState.UP), now)

    def began(self, term: int, now: Monotonic) -> None:
        """Begin to beat with a term that was just taken."""
        self.term = term
        self._answered = now
        self._due = now

    async def stop(self) -> None:
        """Give up everything that the node holds. Raises `StoreError`."""
        self._due = None
        self._lose_leases()
        if self.term:
            await self.store.leave(self.name, self.term)

    def is_away(self, now: Monotonic) -> bool:
        """Return whether other nodes may soon take what this one holds; it must not save then."""
        return now - self._answered > self.interval + self.lease / 2

    @property
    def alive(self) -> list[NodeRow]:
        """The nodes that were alive at the last beat, this one included."""
        return [row for row in self.rows if row.is_alive(self.lease)]

    def note_state(self, state: NodeState) -> None:
        """Note that the state of this node was changed; the beats find out otherwise."""
        if state is not self.state:
            self.state = state
            self.report(StateChanged(state))

    # -- the clock ------------------------------------------------------------------------------

    def compare_clocks(self, before: float, there: float, after: float) -> bool:
        """Compare this machine's clock with the database's; return whether the result is new.

        The database has read its clock (`there`) between `before` and `after`, by this machine's.
        """
        if not 0 <= after - before <= CLOCK_ANSWER:
            return False  # also if this machine's clock was set meanwhile
        ahead = (before + after) / 2 - there
        is_off = abs(ahead) - (after - before) / 2 > CLOCK_TOLERANCE
        found = ahead if is_off else 0.0
        # A wrong clock may run at a wrong speed, too.
        if (found == 0.0) == (self.clock_ahead == 0.0) and abs(found - self.clock_ahead) < 1:
            return False
        was_off, self.clock_ahead = self.clock_ahead != 0.0, found
        if is_off != was_off:
            self.report(ClockChanged(found))
        return True

    # -- zones ----------------------------------------------------------------------------------

    def held(self, zone_id: int) -> list[ZonePlace]:
        """Return the instances of a zone that this node holds, by number."""
        return [self._held[key] for key in sorted(self._held) if key[0] == zone_id]

    @property
    def held_places(self) -> list[ZonePlace]:
        """All instances that this node holds."""
        return list(self._held.values())

    def hold(self, place: ZonePlace, now: Monotonic) -> None:
        """Note that an instance was placed on this node."""
        key = place.zone_id, place.instance
        self._held[key] = place
        self._held_since.setdefault(key, now)

    async def free_instance(self, zone_id: int) -> ZonePlace | None:
        """Return an instance of a zone on this node that is not full.

        What became full is stored, so that no other node sends a player to it. Raises `StoreError`.
        """
        for place in self.held(zone_id):
            if not self.zones.is_full(place):
                return place
            if not place.full:
                await self._mark(place, full=True)
        return None

    async def _mark(self, place: ZonePlace, *, full: bool) -> None:
        place = replace(place, full=full)
        self._held[place.zone_id, place.instance] = place
        await self.store.mark_full(place)

    # -- leases ---------------------------------------------------------------------------------

    def want(self, name: str, begin: Callable[[], None], end: Callable[[], None]) -> None:
        """Take a lease as soon as nobody has it.

        `begin` is called when this node has taken it, `end` when another one has it. A node that is
        away goes on meanwhile: usually all nodes are without their database then, and nobody can
        take the lease.
        """
        self._wanted[name] = _Wanted(begin, end)

    def give_up_lease(self, name: str) -> None:
        """Take a lease no more."""
        wanted = self._wanted.pop(name, None)
        if wanted is not None and wanted.is_held:
            wanted.end()

    def _lose_leases(self) -> None:
        for name, wanted in self._wanted.items():
            if wanted.is_held:
                wanted.is_held = False
                self.report(LeaseMoved(name, is_held=False))
                wanted.end()

    async def _take_leases(self, leases: Iterable[LeaseRow]) -> None:
        holders = {one.name: one for one in leases}
        for name, wanted in list(self._wanted.items()):
            own = LeaseRow(name, self.name, self.term)
            found = holders.get(name)
            has = found == own or (
                # A node that is drained leaves the work to others.
                found is None
                and self.state is NodeState.UP
                and await self.store.hold_lease(name, self.name, self.term, self.lease)
            )
            if has and self.state is not NodeState.UP:
                await self.store.release_lease(name, self.name, self.term)
                has = False
            if has == wanted.is_held:
                continue
            wanted.is_held = has
            self.report(LeaseMoved(name, is_held=has))
            (wanted.begin if has else wanted.end)()

    # -- beats ----------------------------------------------------------------------------------

    def get_timer(self) -> Monotonic | None:
        """Return when to call `beat`."""
        return None if self._is_beating else self._due

    def check(self, now: Monotonic) -> None:
        """Note that the node is away, if its last beat is too old; call it before each beat."""
        if self.term and not self._was_away and self.is_away(now):
            self._note_away(now)

    async def beat(self, now: Monotonic) -> None:
        """Record that this node lives, and learn what others have changed.

        A failure of the store is reported and not raised; the next beat tries again.
        """
        if self._is_beating:
            return
        self._is_beating = True
        self.check(now)
        pause = self.interval
        try:
            await self._beat(now)
            self._why = ""
        except StoreError as error:
            self._why = str(error)
            # Sooner than usual, because the lease ends soon.
            pause = self.interval / 4
        finally:
            self._is_beating = False
            if self._due is not None:
                self._due = Monotonic(now + pause)

    def _note_away(self, now: Monotonic) -> None:
        self._was_away = True
        self.report(NodeAway(now - self._answered, self._why))

    async def _beat(self, now: Monotonic) -> None:
        before = dict(self._held)
        answer = None if self._is_returning else await self._report_alive()
        if answer is None:
            # Others may have taken what this node held.
            self._was_away = True
            await self._rejoin(now)
            answer = await self._report_alive()
            if answer is None:
                return  # away again already; the next beat finds out
        self._answered = now
        moved, self._displaced = list(self._displaced.values()), {}
        if self._was_away:
            self._was_away = False
            self.report(NodeReturned(self.term, len(moved)))
        gone = self._learn_places(answer.places, before, now)
        self._learn_nodes(answer.nodes)
        await self._take_leases(answer.leases)
        await self._update_places(now)
        left = [*moved, *gone]
        await self._update_leaving(answer, left)
        if left:
            self.zones.moved(left)

    async def _report_alive(self) -> Beat | None:
        """Report to the database that this node lives; return what it answers."""
        before = 0.0 if self.moment is None else self.moment()
        answer = await self.store.beat(self.name, self.term, self.zones.players, self.lease)
        if (
            answer is not None
            and self.moment is not None
            and self.compare_clocks(before, answer.moment, self.moment())
        ):
            await self.store.set_clock(self.name, self.clock_ahead)
        return answer

    async def _rejoin(self, now: Monotonic) -> None:
        """Take a new term, and find out which instances were placed elsewhere.

        The store may fail in between, or the new term may end before the next beat. What is known
        by then stays in `_held` and `_displaced`, so that no instance runs on unnoticed.
        """
        self._is_returning = True
        self.term = await self.store.take_term(self.name, self.about())
        for key, place in list(self._held.items()):
            own = replace(place, node_term=self.term)
            # Only where no row is: another node has placed the instance if there is one.
            if await self.store.claim(own, None):
                self.hold(own, now)
            else:
                self._displaced[key] = self._held.pop(key)
        self._is_returning = False

    def _learn_places(
        self,
        places: Sequence[ZonePlace],
        before: Mapping[tuple[int, int], ZonePlace],
        now: Monotonic,
    ) -> list[ZonePlace]:
        """Take over what the database has; return the running instances that are not here any more.

        Other nodes place instances here, and an operator moves them away. `before` is what was
        held when the beat began: what was placed here since may be missing in its answer.
        """
        found = {(place.zone_id, place.instance): place for place in places}
        gone = [
            place
            for key, place in self._held.items()
            if key in before and key not in found and self.zones.runs(place)
        ]
        since = {key: place for key, place in self._held.items() if key not in before}
        self._held = since | found
        self._held_since = {key: self._held_since.get(key, now) for key in self._held}
        return gone

    async def _update_leaving(self, answer: Beat, left: Iterable[ZonePlace]) -> None:
        """Store which instances still run here that were placed elsewhere, if that has changed."""
        leaving = self._leaving | {(place.zone_id, place.instance): place for place in left}
        self._leaving = {
            key: place
            for key, place in leaving.items()
            if key not in self._held and self.zones.runs(place)
        }
        # Compared with the row: a command that moves a zone writes there at once.
        own = next((row.leaving for row in answer.nodes if row.name == self.name), ())
        if sorted(own) != sorted(self._leaving):
            await self.store.set_leaving(self.name, sorted(self._leaving))

    def _learn_nodes(self, rows: Sequence[NodeRow]) -> None:
        before = {row.name for row in self.alive}
        self.rows = rows
        after = {row.name for row in self.alive}
        for name in sorted((before ^ after) - {self.name}):
            self.report(OtherNode(name, name in after))
        own = next((row for row in rows if row.name == self.name), None)
        if own is not None:
            self.note_state(own.state)

    async def _update_places(self, now: Monotonic) -> None:
        """Store which instances are full, and release those that do not run."""
        for key, place in list(self._held.items()):
            if not self.zones.runs(place):
                if now - self._held_since.get(key, now) > UNUSED:
                    self._held.pop(key, None)
                    await self.store.release(place)
            elif self.zones.is_full(place) != place.full:
                await self._mark(place, full=not place.full)
