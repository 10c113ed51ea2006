"""A recording of a zone as a value, and the lines of its file.

The first line is the header, the second one the snapshot of the zone when it began, each other one
an entry: whether it belongs to the zone, its time, its kind, its values, and what the clock
showed. Times are exact: a deadline that was due is due in the replay.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from emu.commands import Registry
from emu.errors import FileFormatError
from emu.items.held import Thing
from emu.model import WorldCharacter
from emu.world.recording.ring import InputEntry
from emu.world.recording.texts import public_arguments
from emu.world.recording.values import decoded, encoded

FORMAT: Final = 1
FILE_KIND: Final = "emu zone"


@dataclass(frozen=True, slots=True)
class Header:
    """What a recording is of."""

    zone_id: int
    instance: int
    zone: str
    began: float
    """By the steady clock of the server."""
    seconds: float
    wall: float
    """The wall clock minus the steady clock."""
    seed: str
    """In hexadecimal digits, as the other seed."""
    drawn: int
    beside_seed: str
    """The chance of what belongs to no zone."""
    beside_drawn: int
    first_spawn: int
    """The number of a spawn that was free when the zone started: loot depends on such numbers."""
    is_private: bool
    """Whether texts between players and addresses are part of it."""
    reason: str


@dataclass(frozen=True, slots=True)
class PlayerSnapshot:
    """A player who enters, or who is there when the recording begins."""

    character: WorldCharacter
    things: tuple[Thing, ...]
    version: int
    """Of its client."""
    is_hidden: bool
    is_inside: bool
    """Whether it was in the world before."""
    stands: bool = False
    is_from_node: bool = False
    """Whether another node has sent it here."""


@dataclass(frozen=True, slots=True)
class SpawnSnapshot:
    """A spawn of the content file that stands when the recording begins."""

    placement: int
    name: str
    x: float
    y: float
    z: float
    heading: float
    health: int
    power: int


@dataclass(frozen=True, slots=True)
class ZoneSnapshot:
    """A zone when the recording begins."""

    players: tuple[PlayerSnapshot, ...]
    spawns: tuple[SpawnSnapshot, ...]


class Recording:
    """The header, the snapshot and the entries of a zone."""

    def __init__(
        self,
        header: Header,
        snapshot: ZoneSnapshot | None,
        entries: Sequence[tuple[bool, InputEntry]],
        registry: Registry | None = None,
    ) -> None:
        """`entries` say of each whether it belongs to the zone; without a snapshot the zone starts.

        `registry` has the commands of the players.
        """
        self.header = header
        self.snapshot = snapshot
        self.entries = merged(entries)
        self._registry = registry

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file. Also in another thread: nothing here changes any more."""
        header = self.header
        yield _json({"kind": FILE_KIND, "format": FORMAT, **dataclasses.asdict(header)})
        yield _json(
            None if self.snapshot is None else _snapshot_row(self.snapshot, header.is_private)
        )
        for is_own, entry in self.entries:
            yield _json([
                is_own, entry.now, entry.kind,
                [self._value(entry, at, one) for at, one in enumerate(entry.data)],
                entry.readings,
            ])  # fmt: skip

    def _value(self, entry: InputEntry, at: int, value: Any) -> Any:
        is_private = self.header.is_private
        if isinstance(value, PlayerSnapshot):
            return _player_row(value, is_private)
        if entry.kind == "command" and at == 2 and not is_private and self._registry is not None:
            return public_arguments(self._registry, entry.data[1], value)
        return encoded(value, is_private=is_private)


def merged(entries: Iterable[tuple[bool, InputEntry]]) -> list[tuple[bool, InputEntry]]:
    """Return entries with one for each turn, which has the readings of all of that turn."""
    found: list[tuple[bool, InputEntry]] = []
    turns: dict[int, InputEntry] = {}
    for is_own, entry in entries:
        if entry.kind == "turn":
            known = turns.get(entry.data[0])
            if known is not None:
                known.readings = sorted([*known.readings, *entry.readings])
                continue
            entry.readings = list(entry.readings)
            turns[entry.data[0]] = entry
        found.append((is_own, entry))
    return found


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _player_row(one: PlayerSnapshot, is_private: bool) -> list[Any]:
    return [
        encoded(one.character, is_private=is_private), encoded(list(one.things)), one.version,
        one.is_hidden, one.is_inside, one.stands, one.is_from_node,
    ]  # fmt: skip


def _snapshot_row(snapshot: ZoneSnapshot, is_private: bool) -> Any:
    return {
        "players": [_player_row(one, is_private) for one in snapshot.players],
        "spawns": [list(dataclasses.astuple(one)) for one in snapshot.spawns],
    }


def _player_of(row: Any) -> PlayerSnapshot:
    # Older recordings do not say whether another node has sent it.
    character, things, version, is_hidden, is_inside, stands, *rest = row
    found = decoded(character)
    if not isinstance(found, WorldCharacter):
        raise FileFormatError("the recording has a player without a character")
    is_from_node = rest == [True]
    return PlayerSnapshot(
        found, tuple(decoded(things)), version, is_hidden, is_inside, stands, is_from_node
    )


def read_recording(lines: Iterable[str]) -> Recording:
    """Read the lines of a file. Raises `FileFormatError`."""
    rows = iter(lines)
    try:
        about = json.loads(next(rows, ""))
        if about.pop("kind") != FILE_KIND:
            raise FileFormatError("this is no recording of a zone")
        if about.pop("format") != FORMAT:
            raise FileFormatError("another version of the server has made this recording")
        header = Header(**about)
        found = json.loads(next(rows, "null"))
        snapshot = None if found is None else ZoneSnapshot(
            tuple(map(_player_of, found["players"])),
            tuple(SpawnSnapshot(*one) for one in found["spawns"]),
        )  # fmt: skip
        entries = [_entry_of(number, json.loads(line)) for number, line in enumerate(rows)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileFormatError(f"the recording is damaged: {error}") from None
    return Recording(header, snapshot, entries)


def _entry_of(number: int, row: Any) -> tuple[bool, InputEntry]:
    is_own, now, kind, data, readings = row
    values = [_player_of(one) if kind == "enter" else decoded(one) for one in data]
    return bool(is_own), InputEntry(
        number, float(now), kind, tuple(values), [*map(float, readings)]
    )
