"""What one viewer sees: which spawn has which index, what was sent of it last, what is due.

An index is given when a ghost is created. It is not used again while the viewer may still remember
the ghost it stood for: indexes count upward and begin again only at the end of their range. A
baseline moves only when the update that moved it is handed out, so whoever takes an update must
send it; a viewer whose link is full is simply not asked, and gets the newest state later.
Source: docs/protocol/structs.md#packed, docs/protocol/world/movement.md#updates,
docs/protocol/world/recorded.md#update-ghost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from emu.errors import LimitExceeded
from emu.sight.forms import INFO, POSITION, VISIBILITY, oversized
from emu.world.ghosts.picture import Picture
from emu.world.spawns import Change, Position, Spawn

OWN_INDEX: Final = 1
LAST_INDEX: Final = 0xFFFE
MOST_BYTES: Final = 16 * 1024
"""Bytes of one round of updates, far below what the length of a section can say."""
SKIPPED: Final = frozenset((0, OWN_INDEX, 255))
"""Never given out: none, the viewer's own, and the byte that announces a longer index."""
_ABSENT: Final = b"\0"


class Sight:
    """One spawn as this viewer has it: its index, and the bytes it was sent last."""

    __slots__ = ("due", "index", "mark", "picture", "sent")

    def __init__(self, index: int, picture: Picture) -> None:
        self.index = index
        self.mark = oversized(index)
        self.picture = picture
        self.sent = [picture.part(part) for part in (POSITION, VISIBILITY, INFO)]
        self.due: int = Change.NONE


class Sights:
    """The ghosts of one viewer."""

    __slots__ = ("_by_index", "_by_spawn", "_due", "_next")

    def __init__(self) -> None:
        self._by_spawn: dict[int, Sight] = {}
        self._by_index: dict[int, Sight] = {}
        self._due: dict[int, Sight] = {}
        self._next = OWN_INDEX + 1

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
        found = self._by_index.get(index)
        return found.picture.spawn if found is not None else None

    def show(self, picture: Picture, time_stamp: int) -> bytes:
        """Begin to see a spawn; returns what creates its ghost. The viewer's own gets index 1.

        Raises `LimitExceeded` when every index is taken.
        """
        sight = Sight(OWN_INDEX if picture.own else self._free_index(), picture)
        self._by_spawn[picture.spawn.id] = sight
        self._by_index[sight.index] = sight
        return picture.create(sight.index, time_stamp)

    def hide(self, spawn: Spawn) -> int | None:
        """Stop seeing a spawn; returns its index for the message that destroys the ghost."""
        sight = self._by_spawn.pop(spawn.id, None)
        if sight is None:
            return None
        del self._by_index[sight.index]
        self._due.pop(spawn.id, None)
        return sight.index

    def changed(self, spawn: Spawn, change: int) -> None:
        """Note that parts of a spawn have to be sent; the newest state is, when it is."""
        sight = self._by_spawn.get(spawn.id)
        if sight is not None:
            sight.due |= change
            self._due[spawn.id] = sight

    @property
    def is_due(self) -> bool:
        """Whether there is something to be told."""
        return bool(self._due)

    def take_updates(self, now_ms: int, room: int, center: Position) -> list[bytes]:
        """Return the payloads of OP_EqUpdateGhostCmd that are due and fit about `room` bytes.

        The nearest come first when not all fit. A spawn whose visibility changed has a payload of
        its own, as EQ2Emulator sends it; all others share one.
        """
        room = min(room, MOST_BYTES)
        payloads: list[bytes] = []
        shared: list[tuple[Sight, bytes, bytes]] = []
        stamp = now_ms.to_bytes(4, "little")
        for sight in self._nearest_first(room, center):
            if room <= 0:
                break
            due, sight.due = sight.due, Change.NONE
            del self._due[sight.picture.spawn.id]
            position = _advance(sight, POSITION) if due & Change.POSITION else b""
            visibility = _advance(sight, VISIBILITY) if due & Change.VISIBILITY else b""
            info = _advance(sight, INFO) if due & Change.INFO else b""
            room -= len(position) + len(visibility) + len(info)
            if visibility:
                payloads.append(_payload(stamp, [info], [position], [visibility]))
            elif position or info:
                shared.append((sight, position, info))
        if shared:
            shared.sort(key=lambda entry: entry[0].index)
            positions = [position for _, position, _ in shared]
            payloads.append(_payload(stamp, [info for _, _, info in shared], positions, []))
        return payloads

    def _nearest_first(self, room: int, center: Position) -> Iterable[Sight]:
        sights = list(self._due.values())
        if room < len(sights) * _TYPICAL_ENTRY:
            sights.sort(key=lambda sight: center.distance_to(sight.picture.spawn.position))
        return sights

    def _free_index(self) -> int:
        for _ in range(LAST_INDEX):
            index = self._next
            self._next = index + 1 if index < LAST_INDEX else OWN_INDEX + 1
            if index not in SKIPPED and index not in self._by_index:
                return index
        raise LimitExceeded("every index of a viewer is taken")


_TYPICAL_ENTRY: Final = 24
"""Bytes of a position update with its index; only decides whether the nearest must be found."""


def _advance(sight: Sight, part: int) -> bytes:
    """Move a baseline to what is now; returns the entry for it, empty when it is the same."""
    base = sight.sent[part]
    new = sight.picture.part(part)
    if new is base or new == base:
        return b""
    sight.sent[part] = new
    return sight.mark + sight.picture.delta(part, base)


def _payload(
    stamp: bytes, infos: list[bytes], positions: list[bytes], visibilities: list[bytes]
) -> bytes:
    return b"".join((stamp, _section(infos), _section(positions), _section(visibilities)))


def _section(entries: list[bytes]) -> bytes:
    data = b"".join(entries)
    return oversized(len(data)) + data if data else _ABSENT
