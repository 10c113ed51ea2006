"""All places of a world: shipped files, and an operator's folder that adds to them or replaces.

A folder holds one ``*.toml`` file a zone, and `starts.toml` with the starting places. An operator's
zone stands in for the shipped one of the same number; with ``extends = true`` it only adds things
and changes what it names. Starting places of an operator are asked first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from emu.errors import FileFormatError
from emu.files import data_file, listed, read_document
from emu.link.batches import ZoneItem
from emu.model import WorldCharacter
from emu.world.content.definitions import Fixture, Start, ZoneDefinition, best_start
from emu.world.content.files import read_fixtures, read_starts, read_zone

STARTS: Final = "starts.toml"
SECTIONS: Final = frozenset(("zone", "spawn"))


@dataclass(slots=True)
class _ZoneFile:
    """The files that describe one zone: what is left after all of them."""

    path: Path
    zone: dict[str, Any]
    spawns: list[tuple[Path, Any]]


class Atlas:
    """Zones, what stands in them, and starting places; rooms share it and see it change."""

    def __init__(
        self,
        zones: Sequence[ZoneDefinition],
        fixtures: Mapping[int, tuple[Fixture, ...]],
        starts: Sequence[tuple[Start, ...]],
    ) -> None:
        self._zones = {zone.id: zone for zone in zones}
        self._fixtures = dict(fixtures)
        self.starts = tuple(starts)
        """Tables of starting places, those asked first in front."""

    def __iter__(self) -> Iterator[ZoneDefinition]:
        """All zones by number."""
        return iter([zone for _, zone in sorted(self._zones.items())])

    def __len__(self) -> int:
        return len(self._zones)

    def get(self, zone_id: int) -> ZoneDefinition | None:
        """Return a zone by number."""
        return self._zones.get(zone_id)

    def named(self, name: str) -> ZoneDefinition | None:
        """Return a zone by its number, name or file, without regard to case."""
        wanted = name.casefold()
        found = [zone for zone in self if wanted in (str(zone.id), zone.name.casefold())]
        found += [zone for zone in self if wanted == zone.file.casefold()]
        return found[0] if found else None

    def fixtures(self, zone_id: int) -> tuple[Fixture, ...]:
        """Return what stands in a zone from the start."""
        return self._fixtures.get(zone_id, ())

    def start_of(self, character: WorldCharacter) -> Start:
        """Return where a new character begins."""
        for rows in self.starts:
            start = best_start([row for row in rows if row.zone_id in self._zones], character)
            if start is not None:
                return start
        raise AssertionError("read_atlas lets no atlas through that leaves somebody out")

    def described(self) -> Sequence[ZoneItem]:
        """Return what login servers are told of each zone, by number.

        Source: docs/protocol/link.md#batches.
        """
        return [ZoneItem(zone.id, zone.name, zone.description) for zone in self]

    def replace(self, other: Atlas, keep: Collection[int] = ()) -> None:
        """Become another atlas; zones in `keep` stay known even when the other one lacks them."""
        kept = {zone_id: self._zones[zone_id] for zone_id in keep if zone_id in self._zones}
        self._zones = kept | other._zones
        self._fixtures = other._fixtures
        self.starts = other.starts


def read_atlas(folder: Path | None = None) -> Atlas:
    """Read the shipped places and those of an operator's folder. Raises `FileFormatError`."""
    shipped, own = data_file("world", "zones"), folder
    below = files = _zone_files(shipped)
    if own is not None:
        files = _zone_files(own, below)
    zones = [read_zone(file.path, file.zone) for file in files.values()]
    find = _Finder([*zones, *(read_zone(file.path, file.zone) for file in below.values())])
    fixtures = {
        zone.id: tuple(
            fixture for path, rows in file.spawns for fixture in read_fixtures(path, rows, find)
        )
        for zone, file in zip(zones, files.values(), strict=True)
    }
    starts = [_starts(place, find) for place in (own, shipped) if place is not None]
    everybody = [row for rows in starts for row in rows if not row.conditions]
    if not any(row.zone_id in files for row in everybody):
        raise FileFormatError(f"{shipped / STARTS}: no start without a condition has a zone")
    return Atlas(zones, fixtures, starts)


class _Finder:
    """Numbers of zones by what files call them; the first of a name counts, names before files.

    Shipped zones keep their names even when others stand in for them: shipped doors go by those.
    """

    def __init__(self, zones: Sequence[ZoneDefinition]) -> None:
        self._ids: dict[str, int] = {}
        for zone in zones:
            self._ids.setdefault(zone.name.casefold(), zone.id)
        for zone in zones:
            self._ids.setdefault(zone.file.casefold(), zone.id)

    def __call__(self, name: str) -> int:
        found = self._ids.get(name.casefold())
        if found is None:
            raise ValueError(f"there is no zone {name!r}")
        return found


def _starts(folder: Path, find: _Finder) -> tuple[Start, ...]:
    path = folder / STARTS
    if not path.exists():
        return ()
    document = read_document(path)
    if set(document) - {"start"}:
        raise FileFormatError(f"{path}: holds [[start]] tables and nothing else")
    return read_starts(path, document.get("start", []), find)


def _zone_files(folder: Path, below: Mapping[int, _ZoneFile] | None = None) -> dict[int, _ZoneFile]:
    """Return the files of a folder by zone, laid over those `below`."""
    found = dict(below or {})
    own: set[int] = set()
    additions = []
    for path in listed(folder, ".toml", "world.zones"):
        if path.name == STARTS:
            continue
        number, file, extends = _zone_file(path)
        if extends:
            additions.append((number, file))
        elif number in own:
            raise FileFormatError(f"{path}: {found[number].path.name} describes zone {number}, too")
        else:
            own.add(number)
            found[number] = file
    for number, file in additions:
        if number not in found:
            raise FileFormatError(f"{file.path}: there is no zone {number} to extend")
        before = found[number]
        found[number] = _ZoneFile(
            before.path, before.zone | file.zone, [*before.spawns, *file.spawns]
        )
    return dict(sorted(found.items()))


def _zone_file(path: Path) -> tuple[int, _ZoneFile, bool]:
    """Return the number of a file's zone, what it says, and whether it extends another."""
    document = read_document(path)
    zone = document.get("zone")
    if not isinstance(zone, dict) or not isinstance(zone.get("id"), int):
        raise FileFormatError(f"{path}: a file of a zone begins with [zone] and its id")
    unknown = sorted(set(document) - SECTIONS)
    if unknown:
        raise FileFormatError(f"{path}: {unknown[0]}: a zone's file has [zone] and [[spawn]]")
    extends = zone.pop("extends", False)
    if not isinstance(extends, bool):
        raise FileFormatError(f"{path}: zone: extends must be true or false")
    return zone["id"], _ZoneFile(path, zone, [(path, document.get("spawn", []))]), extends
