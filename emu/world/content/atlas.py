"""The atlas: zones, their spawns and the starting places, from shipped files and a folder.

A folder has one ``*.toml`` file for each zone, and `starts.toml` with starting places. A zone in an
operator's folder replaces the shipped zone of the same number. With ``extends = true`` it adds
spawns and changes only the keys that it has. An operator's starting places come before the shipped
ones.
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
    """The combined result of all files of one zone."""

    path: Path
    zone: dict[str, Any]
    spawns: list[tuple[Path, Any]]


class Atlas:
    """Zones, their fixtures, and starting places. All components share one atlas."""

    def __init__(
        self,
        zones: Sequence[ZoneDefinition],
        fixtures: Mapping[int, tuple[Fixture, ...]],
        starts: Sequence[tuple[Start, ...]],
    ) -> None:
        self._zones = {zone.id: zone for zone in zones}
        self._fixtures = dict(fixtures)
        self.starts = tuple(starts)
        """Tables of starting places, in the order in which they are searched."""

    def __iter__(self) -> Iterator[ZoneDefinition]:
        """Iterate over all zones by number."""
        return iter([zone for _, zone in sorted(self._zones.items())])

    def __len__(self) -> int:
        return len(self._zones)

    def get(self, zone_id: int) -> ZoneDefinition | None:
        """Return a zone by number, None for an unknown one."""
        return self._zones.get(zone_id)

    def named(self, name: str) -> ZoneDefinition | None:
        """Return a zone by its number, name or file, in any case; None for an unknown one."""
        wanted = name.casefold()
        found = [zone for zone in self if wanted in (str(zone.id), zone.name.casefold())]
        found += [zone for zone in self if wanted == zone.file.casefold()]
        return found[0] if found else None

    def fixtures(self, zone_id: int) -> tuple[Fixture, ...]:
        """Return the fixtures of a zone."""
        return self._fixtures.get(zone_id, ())

    def start_of(self, character: WorldCharacter) -> Start:
        """Return the starting place of a new character."""
        for rows in self.starts:
            start = best_start([row for row in rows if row.zone_id in self._zones], character)
            if start is not None:
                return start
        raise AssertionError("read_atlas accepts only an atlas with a start for every character")

    def described(self) -> Sequence[ZoneItem]:
        """Return all zones for login servers, by number (docs/protocol/link.md#batches)."""
        return [ZoneItem(zone.id, zone.name, zone.description) for zone in self]

    def replace(self, other: Atlas, keep: Collection[int] = ()) -> None:
        """Take over the content of another atlas; zones in `keep` stay even if it lacks them."""
        kept = {zone_id: self._zones[zone_id] for zone_id in keep if zone_id in self._zones}
        self._zones = kept | other._zones
        self._fixtures = other._fixtures
        self.starts = other.starts


def read_atlas(folder: Path | None = None) -> Atlas:
    """Read the shipped files and those of an operator's folder. Raises `FileFormatError`."""
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
    # A row without conditions fits every character, so `start_of` always finds a place.
    unconditional = [row for rows in starts for row in rows if not row.conditions]
    if not any(row.zone_id in files for row in unconditional):
        raise FileFormatError(
            f"{shipped / STARTS}: no start without conditions has a known zone; add one"
        )
    return Atlas(zones, fixtures, starts)


class _Finder:
    """Numbers of zones by name or file; the first zone of a name wins, names before files.

    A shipped zone keeps its names even if an operator's file replaces it, because doors in shipped
    zones refer to them.
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
            raise ValueError(f"there is no zone {name!r}; use a zone's name, file or number")
        return found


def _starts(folder: Path, find: _Finder) -> tuple[Start, ...]:
    path = folder / STARTS
    if not path.exists():
        return ()
    document = read_document(path)
    if set(document) - {"start"}:
        unknown = min(set(document) - {"start"})
        raise FileFormatError(f"{path}: {unknown}: the file may have only [[start]] tables")
    return read_starts(path, document.get("start", []), find)


def _zone_files(folder: Path, below: Mapping[int, _ZoneFile] | None = None) -> dict[int, _ZoneFile]:
    """Return the zones of a folder over the zones `below`."""
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
            raise FileFormatError(
                f"{path}: zone {number} is also in {found[number].path.name}; remove one, or set"
                " extends = true"
            )
        else:
            own.add(number)
            found[number] = file
    for number, file in additions:
        if number not in found:
            raise FileFormatError(
                f"{file.path}: there is no zone {number} to extend; correct the id"
            )
        before = found[number]
        found[number] = _ZoneFile(
            before.path, before.zone | file.zone, [*before.spawns, *file.spawns]
        )
    return dict(sorted(found.items()))


def _zone_file(path: Path) -> tuple[int, _ZoneFile, bool]:
    """Return the number of a file's zone, its content, and whether it extends another file."""
    document = read_document(path)
    zone = document.get("zone")
    if not isinstance(zone, dict) or not isinstance(zone.get("id"), int):
        raise FileFormatError(f"{path}: zone: the table is missing, or it has no id")
    unknown = sorted(set(document) - SECTIONS)
    if unknown:
        raise FileFormatError(f"{path}: {unknown[0]}: unknown; use [zone] and [[spawn]]")
    extends = zone.pop("extends", False)
    if not isinstance(extends, bool):
        raise FileFormatError(f"{path}: zone: extends must be true or false")
    return zone["id"], _ZoneFile(path, zone, [(path, document.get("spawn", []))]), extends
