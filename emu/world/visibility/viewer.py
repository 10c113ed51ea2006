"""A viewer and its interest set: the ghosts that one client has, and the updates that are due.

The zone decides when to create, update and destroy ghosts; this module encodes and sends the
commands. The state that a viewer was sent last moves only when an update is taken, so every update
that is taken must be sent. A viewer with a full link takes no update. It gets the newest state
later, and skips the states between. Source: docs/protocol/structs.md#packed,
docs/protocol/world/movement.md#updates, docs/protocol/world/recorded.md#update-ghost,
docs/protocol/world/spawns.md#visibility, docs/protocol/world/spawns.md#create-ghost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, Protocol

from emu.errors import LimitExceeded
from emu.structs.packed import oversized
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.visibility.baselines import BaselineCache, GhostBaseline, GhostForm
from emu.world_stream.ghosts import (
    CREATE_GHOST,
    CREATE_SIGN,
    CREATE_WIDGET,
    DESTROY_GHOST,
    UPDATE_GHOST,
)
from emu.world_stream.movement import Position

OWN_INDEX: Final = 1
LAST_INDEX: Final = 0xFFFE
MOST_BYTES: Final = 16 * 1024
"""The most bytes of one round of updates, far below the 65,535 that a section's length can say."""
SKIPPED: Final = frozenset((0, OWN_INDEX, 255))
"""Indexes that no other ghost gets: none, the viewer's own, and the mark of a two-byte index."""
_ABSENT: Final = b"\0"
_MARKS: Final = tuple(map(oversized, range(1024)))
"""Encoded indexes, made once; larger indexes are rare and encoded each time."""
_NOTHING: Final[AbstractSet[int]] = frozenset()


class ObservedSpawn:
    """One spawn in an interest set: its index, and the state that the viewer was sent last.

    There is one for each pair of viewer and spawn, so it has only these three attributes.
    """

    __slots__ = ("baseline", "index", "sent")

    def __init__(self, index: int, baseline: GhostBaseline) -> None:
        self.index = index
        self.baseline = baseline
        self.sent = baseline.now


class InterestSet:
    """The spawns that one viewer is shown, by spawn id, and those with due updates."""

    __slots__ = ("_by_spawn", "_due", "_has_wrapped", "_next")

    def __init__(self) -> None:
        self._by_spawn: dict[int, ObservedSpawn] = {}
        self._due: AbstractSet[int] = _NOTHING
        self._next = OWN_INDEX + 1
        self._has_wrapped = False

    def __len__(self) -> int:
        return len(self._by_spawn)

    def __iter__(self) -> Iterator[Spawn]:
        """Iterate over a snapshot of all spawns in the set."""
        return iter([observed.baseline.spawn for observed in self._by_spawn.values()])

    def __contains__(self, spawn: Spawn) -> bool:
        return spawn.id in self._by_spawn

    def index_of(self, spawn: Spawn) -> int | None:
        """Return the viewer's index of a spawn, None if the spawn is not in the set."""
        found = self._by_spawn.get(spawn.id)
        return found.index if found is not None else None

    def spawn_at(self, index: int) -> Spawn | None:
        """Return the spawn with an index, None if there is none."""
        # A player's click asks for this, which is rare. An index table would cost memory for every
        # pair of viewer and spawn, and time for every ghost.
        for observed in self._by_spawn.values():
            if observed.index == index:
                return observed.baseline.spawn
        return None

    def show(self, baseline: GhostBaseline, time_stamp: int) -> bytes:
        """Add a spawn; return the payload that creates its ghost. The viewer's own gets index 1.

        Raises `LimitExceeded` if every index is taken.
        """
        baseline.refresh()
        observed = ObservedSpawn(OWN_INDEX if baseline.own else self._free_index(), baseline)
        self._by_spawn[baseline.spawn.id] = observed
        return baseline.create(observed.index, time_stamp)

    def hide(self, spawn: Spawn) -> int | None:
        """Remove a spawn; return its index, which destroys the ghost, or None if it was absent."""
        observed = self._by_spawn.pop(spawn.id, None)
        if observed is None:
            return None
        if spawn.id in self._due:
            self._due = self._due - {spawn.id}
        return observed.index

    def changed(self, spawn_ids: AbstractSet[int]) -> None:
        """Note the spawns that have changed; ignore those that are not in the set."""
        seen = self._by_spawn.keys() & spawn_ids
        # Most viewers have no backlog; then the intersection serves without another set.
        self._due = seen | self._due if self._due else seen

    def all_changed(self) -> None:
        """Note that every spawn may have changed."""
        self._due = set(self._by_spawn)

    @property
    def is_due(self) -> bool:
        """Whether any spawn may have an update."""
        return bool(self._due)

    @property
    def due(self) -> int:
        """The number of spawns that may have an update."""
        return len(self._due)

    def take_updates(self, now_ms: int, capacity: int, center: Position) -> list[bytes]:
        """Return the due payloads of OP_EqUpdateGhostCmd that fit into about `capacity` bytes.

        If they do not all fit, the nearest spawns come first. A spawn whose visibility part changed
        has a payload of its own, as EQ2Emulator sends it; all others share one.
        """
        capacity = min(capacity, MOST_BYTES)
        stamp = now_ms.to_bytes(4, "little")
        payloads: list[bytes] = []
        shared: list[tuple[int, bytes, bytes]] = []
        late: set[int] = set()
        for observed in self._nearest_first(capacity, center):
            baseline = observed.baseline
            sent, now = observed.sent, baseline.now
            # Identity is enough: all viewers share the state objects of one `GhostBaseline`.
            if sent is now:
                continue
            if capacity <= 0:
                late.add(baseline.spawn.id)
                continue
            step = baseline.step if sent is baseline.before else baseline.step_from(sent)
            observed.sent = now  # true only if the caller sends it: see the module's docstring
            capacity -= step.size + _MARK_SIZE
            index = observed.index
            mark = _MARKS[index] if index < len(_MARKS) else oversized(index)
            info = mark + step.info if step.info else b""
            position = mark + step.position if step.position else b""
            if step.visibility:
                payloads.append(_payload(stamp, [info], [position], [mark + step.visibility]))
            else:
                shared.append((index, info, position))
        self._due = late or _NOTHING
        if shared:
            shared.sort()
            positions = [position for _, _, position in shared]
            payloads.append(_payload(stamp, [info for _, info, _ in shared], positions, []))
        return payloads

    def _nearest_first(self, capacity: int, center: Position) -> Iterable[ObservedSpawn]:
        by_spawn = self._by_spawn
        found = [by_spawn[spawn_id] for spawn_id in self._due]
        if capacity < len(found) * _TYPICAL_ENTRY:
            found.sort(key=lambda observed: center.distance_to(observed.baseline.spawn.position))
        return found

    def _free_index(self) -> int:
        # Indexes count upward to the end of their range before any is used again: an update that
        # is still in flight must not change the ghost that gets the index next.
        if self._next > LAST_INDEX:
            self._has_wrapped = True
        taken: AbstractSet[int] = _NOTHING
        if self._has_wrapped:
            taken = {observed.index for observed in self._by_spawn.values()}
        for _ in range(LAST_INDEX):
            index = self._next if self._next <= LAST_INDEX else OWN_INDEX + 1
            self._next = index + 1
            if index not in SKIPPED and index not in taken:
                return index
        raise LimitExceeded("every index of a viewer is taken")


_MARK_SIZE: Final = 1
"""The length of most encoded indexes, in bytes."""
_TYPICAL_ENTRY: Final = 24
"""The usual length of an entry in bytes; it decides whether entries are sorted by distance."""


def _payload(
    stamp: bytes, infos: list[bytes], positions: list[bytes], visibilities: list[bytes]
) -> bytes:
    return b"".join((stamp, _section(infos), _section(positions), _section(visibilities)))


def _section(entries: list[bytes]) -> bytes:
    data = b"".join(entries)
    return oversized(len(data)) + data if data else _ABSENT


CREATE: Final = {
    SpawnKind.SIGN: CREATE_SIGN,
    SpawnKind.WIDGET: CREATE_WIDGET,
}
_DELETE: Final = b"\1"


class ViewerLink(Protocol):
    """The part of a client's connection that a viewer uses."""

    def command(self, name: str, payload: bytes) -> None:
        """Send a command inside OP_ClientCmdMsg, by its opcode's name."""

    def capacity(self) -> int:
        """Return how many bytes may usefully be sent now; 0 or less if the link is full."""


@dataclass(slots=True, eq=False)
class Viewer:
    """A player's client that is shown a zone."""

    spawn: Spawn
    """The player's own spawn."""
    form: GhostForm
    link: ViewerLink
    baselines: BaselineCache
    interest: InterestSet = field(default_factory=InterestSet)
    is_ready: bool = False
    """Whether the client takes updates: it has reported that its avatar is ready."""

    @property
    def is_crowded(self) -> bool:
        """Whether new ghosts must wait for the link. A client that is still loading gets all."""
        return self.is_ready and self.link.capacity() <= 0

    def show(self, spawn: Spawn, now_ms: int) -> None:
        """Add a spawn to the interest set and send the command that creates its ghost."""
        self.send_ghost(spawn, self.observe(spawn, now_ms))

    def observe(self, spawn: Spawn, now_ms: int) -> bytes:
        """Add a spawn to the interest set; return the payload that creates its ghost.

        Raises if the spawn cannot be encoded; the spawn is then not in the set.
        """
        try:
            baseline = self.baselines.get(spawn, self.form, own=spawn is self.spawn)
            return self.interest.show(baseline, now_ms)
        except Exception:
            self.interest.hide(spawn)
            raise

    def send_ghost(self, spawn: Spawn, payload: bytes) -> None:
        """Send the command that creates a ghost."""
        self.link.command(CREATE.get(spawn.kind, CREATE_GHOST), payload)

    def hide(self, spawn: Spawn) -> None:
        """Destroy a ghost; send nothing if the spawn is not in the interest set."""
        index = self.interest.hide(spawn)
        if index is not None:
            self.link.command(DESTROY_GHOST, oversized(index) + _DELETE)

    def flush(self, now_ms: int) -> None:
        """Send due updates as far as the link has capacity; the rest waits."""
        # The loop must end with a question that the link answers with 0: only after that answer
        # does the session report new capacity (`emu.session.Session.capacity`).
        while self.interest.is_due and (capacity := self.link.capacity()) > 0:
            for payload in self.interest.take_updates(now_ms, capacity, self.spawn.position):
                self.link.command(UPDATE_GHOST, payload)
