"""One player's interest set: which ghosts its client has, what was sent last, what is due.

An index is given when a ghost is created. It is not used again while the viewer may still remember
the ghost it stood for: indexes count upward and begin again only at the end of their range. A base
moves only when the update that moved it is handed out, so whoever takes an update must send it; a
viewer whose link is full is simply not asked, and gets the newest state later. There is one
`ObservedSpawn` for each pair of a viewer and a spawn, so it holds no more than it must.
Source: docs/protocol/structs.md#packed, docs/protocol/world/movement.md#updates,
docs/protocol/world/recorded.md#update-ghost.

Owns the commands that create, update and destroy ghosts. When to look is the zone's business; what
the session below has room for, the link's. Source: docs/protocol/world/spawns.md#visibility,
docs/protocol/world/spawns.md#create-ghost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, Protocol

from emu.errors import LimitExceeded
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.visibility.baselines import BaselineCache, GhostBaseline
from emu.world.visibility.encoding import GhostForm
from emu.world_stream.ghosts import (
    CREATE_GHOST,
    CREATE_SIGN,
    CREATE_WIDGET,
    DESTROY_GHOST,
    UPDATE_GHOST,
    oversized,
)
from emu.world_stream.movement import Position

OWN_INDEX: Final = 1
LAST_INDEX: Final = 0xFFFE
MOST_BYTES: Final = 16 * 1024
"""Bytes of one round of updates, far below what the length of a section can say."""
SKIPPED: Final = frozenset((0, OWN_INDEX, 255))
"""Never given out: none, the viewer's own, and the byte that announces a longer index."""
_ABSENT: Final = b"\0"
_MARKS: Final = tuple(map(oversized, range(1024)))
"""Indexes as they go on the wire; larger ones are rare enough to be made each time."""
_NOTHING: Final[AbstractSet[int]] = frozenset()


class ObservedSpawn:
    """One spawn as this viewer has it: its index, and the state it was sent last."""

    __slots__ = ("base", "index", "picture")

    def __init__(self, index: int, picture: GhostBaseline) -> None:
        self.index = index
        self.picture = picture
        self.base = picture.now


class InterestSet:
    """The ghosts of one viewer."""

    __slots__ = ("_by_spawn", "_due", "_has_begun_again", "_next")

    def __init__(self) -> None:
        self._by_spawn: dict[int, ObservedSpawn] = {}
        self._due: AbstractSet[int] = _NOTHING
        self._next = OWN_INDEX + 1
        self._has_begun_again = False

    def __len__(self) -> int:
        return len(self._by_spawn)

    def __iter__(self) -> Iterator[Spawn]:
        """All spawns that are seen; a snapshot."""
        return iter([sight.picture.spawn for sight in self._by_spawn.values()])

    def __contains__(self, spawn: Spawn) -> bool:
        return spawn.id in self._by_spawn

    def index_of(self, spawn: Spawn) -> int | None:
        """Return the index by which the viewer knows a spawn, None when it does not see it."""
        found = self._by_spawn.get(spawn.id)
        return found.index if found is not None else None

    def spawn_at(self, index: int) -> Spawn | None:
        """Return the spawn that the viewer knows by an index."""
        # Asked for when somebody clicks at something; a table of its own would cost all the time.
        for sight in self._by_spawn.values():
            if sight.index == index:
                return sight.picture.spawn
        return None

    def show(self, picture: GhostBaseline, time_stamp: int) -> bytes:
        """Begin to see a spawn; returns what creates its ghost. The viewer's own gets index 1.

        Raises `LimitExceeded` when every index is taken.
        """
        picture.look()
        sight = ObservedSpawn(OWN_INDEX if picture.own else self._free_index(), picture)
        self._by_spawn[picture.spawn.id] = sight
        return picture.create(sight.index, time_stamp)

    def hide(self, spawn: Spawn) -> int | None:
        """Stop seeing a spawn; returns its index for the message that destroys the ghost."""
        sight = self._by_spawn.pop(spawn.id, None)
        if sight is None:
            return None
        if spawn.id in self._due:
            self._due = self._due - {spawn.id}
        return sight.index

    def changed(self, spawn_ids: AbstractSet[int]) -> None:
        """Note which spawns changed; those that are not seen here do not matter."""
        seen = self._by_spawn.keys() & spawn_ids
        self._due = seen | self._due if self._due else seen

    def all_changed(self) -> None:
        """Note that anything may have changed."""
        self._due = set(self._by_spawn)

    @property
    def is_due(self) -> bool:
        """Whether there is something to be told."""
        return bool(self._due)

    @property
    def due(self) -> int:
        """How many spawns there may be something to be told of."""
        return len(self._due)

    def take_updates(self, now_ms: int, room: int, center: Position) -> list[bytes]:
        """Return the payloads of OP_EqUpdateGhostCmd that are due and fit about `room` bytes.

        The nearest come first when not all fit. A spawn whose visibility changed has a payload of
        its own, as EQ2Emulator sends it; all others share one.
        """
        room = min(room, MOST_BYTES)
        stamp = now_ms.to_bytes(4, "little")
        payloads: list[bytes] = []
        shared: list[tuple[int, bytes, bytes]] = []
        late: set[int] = set()
        for sight in self._nearest_first(room, center):
            picture = sight.picture
            base, now = sight.base, picture.now
            if base is now:
                continue
            if room <= 0:
                late.add(picture.spawn.id)
                continue
            step = picture.step if base is picture.before else picture.step_from(base)
            sight.base = now
            room -= step.size + _MARK_SIZE
            index = sight.index
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

    def _nearest_first(self, room: int, center: Position) -> Iterable[ObservedSpawn]:
        by_spawn = self._by_spawn
        sights = [by_spawn[spawn_id] for spawn_id in self._due]
        if room < len(sights) * _TYPICAL_ENTRY:
            sights.sort(key=lambda sight: center.distance_to(sight.picture.spawn.position))
        return sights

    def _free_index(self) -> int:
        if self._next > LAST_INDEX:
            self._has_begun_again = True
        taken: AbstractSet[int] = _NOTHING
        if self._has_begun_again:
            taken = {sight.index for sight in self._by_spawn.values()}
        for _ in range(LAST_INDEX):
            index = self._next if self._next <= LAST_INDEX else OWN_INDEX + 1
            self._next = index + 1
            if index not in SKIPPED and index not in taken:
                return index
        raise LimitExceeded("every index of a viewer is taken")


_MARK_SIZE: Final = 1
"""Bytes of most indexes."""
_TYPICAL_ENTRY: Final = 24
"""Bytes of a position update with its index; only decides whether the nearest must be found."""


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
    """What a viewer needs of its client."""

    def command(self, name: str, payload: bytes) -> None:
        """Send a command inside OP_ClientCmdMsg, by its opcode's name."""

    def room(self) -> int:
        """Return how many bytes may usefully be sent now; 0 or less when the link is full."""


@dataclass(slots=True, eq=False)
class Viewer:
    """What one player sees."""

    spawn: Spawn
    """The player's own."""
    form: GhostForm
    link: ViewerLink
    album: BaselineCache
    sights: InterestSet = field(default_factory=InterestSet)
    is_ready: bool = False
    """Whether its client takes updates: it has said that its avatar stands."""

    @property
    def is_crowded(self) -> bool:
        """Whether new ghosts have to wait. A client that is still loading is sent all there are."""
        return self.is_ready and self.link.room() <= 0

    def show(self, spawn: Spawn, now_ms: int) -> None:
        """Create the ghost of a spawn that is not seen yet."""
        self.send_ghost(spawn, self.begin_to_see(spawn, now_ms))

    def begin_to_see(self, spawn: Spawn, now_ms: int) -> bytes:
        """Note that a spawn is seen from now on; returns what creates its ghost.

        When the spawn cannot be encoded this raises, and the spawn is not seen.
        """
        try:
            picture = self.album.get(spawn, self.form, own=spawn is self.spawn)
            return self.sights.show(picture, now_ms)
        except Exception:
            self.sights.hide(spawn)
            raise

    def send_ghost(self, spawn: Spawn, payload: bytes) -> None:
        """Send what creates a ghost."""
        self.link.command(CREATE.get(spawn.kind, CREATE_GHOST), payload)

    def hide(self, spawn: Spawn) -> None:
        """Destroy a ghost; nothing is sent for one that is not seen."""
        index = self.sights.hide(spawn)
        if index is not None:
            self.link.command(DESTROY_GHOST, oversized(index) + _DELETE)

    def flush(self, now_ms: int) -> None:
        """Send what is due as far as there is room; the rest waits until the link has some again.

        Whoever is refused room is told when there is (`emu.session.Session.capacity`), so the last
        question here is one that finds none.
        """
        while self.sights.is_due and (room := self.link.room()) > 0:
            for payload in self.sights.take_updates(now_ms, room, self.spawn.position):
                self.link.command(UPDATE_GHOST, payload)
