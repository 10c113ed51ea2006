"""The atlas: zones, their spawns and the starting places, from shipped files and a folder.

A folder has one ``*.toml`` file for each zone, and `starts.toml` with starting places. A zone in an
operator's folder with ``replaces = true`` replaces the zone of the same number. With ``extends =
true`` it adds spawns and changes only the keys that it has. An operator's starting places come
before the shipped ones. A content file is between the two: its zones replace shipped ones, and the
operator's files extend, change or replace them.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

from attrs import evolve

from emu.content.file import ContentFile
from emu.content.layers import TABLES, ZoneLayer, read_layer
from emu.errors import FileFormatError
from emu.files import data_file, listed, read_document
from emu.schema import TomlSource, faulty, problem
from emu.world.population.files import read_fixtures, read_starts, read_zone, with_keys
from emu.world.population.listing import starting_places, zone_definitions
from emu.world.zones.definitions import Atlas, Fixture, Start, ZoneDefinition

STARTS: Final = "starts.toml"
ENDING: Final = ".toml"
_MISNAMED: Final = (".toml", ".toml.txt", ".tml", ".tom")
"""Endings, in lower case, of files that are meant as zone files. Backups have others."""
SECTIONS: Final = frozenset(("zone", "spawn", *TABLES))


@dataclass(slots=True)
class _ZoneFile:
    """The combined result of all files of one zone."""

    source: TomlSource
    zone: dict[str, Any]
    spawns: list[tuple[TomlSource, Any]]
    is_shipped: bool = False
    changes: list[tuple[TomlSource, Mapping[str, Any]]] = field(default_factory=list)
    """The documents that change a zone of the content file."""
    is_over_content: bool = False
    """Whether the files only extend a zone of the content file."""

    @property
    def is_replacing(self) -> bool:
        """Whether the file says that it takes the place of another one."""
        return self.zone.get("replaces") is True


def read_atlas(folder: Path | None = None, content: Path | None = None) -> Atlas:
    """Read the shipped files, a content file and an operator's folder; later ones win.

    Raises `FileFormatError` with the faults of all files.
    """
    shipped, own = data_file("world", "zones"), folder
    problems = _Problems()
    below = _zone_files(shipped, problems, is_shipped=True)
    served, places = _content(content, problems.faults)
    # A content file replaces shipped zones, and an operator's files replace or extend its zones.
    in_content = {zone.id: zone for zone in served}
    files = {number: file for number, file in below.items() if number not in in_content}
    if own is not None:
        files = _zone_files(own, problems, below=files, in_content=in_content)
    # All zones are read before any spawn, because a spawn may lead to a zone of a later file.
    zones = {number: problems.attempt(_definition, file, in_content.get(number))
             for number, file in files.items()}  # fmt: skip
    known = [zone for zone in zones.values() if zone is not None]
    numbers = {zone.id for zone in known}
    known += [zone for zone in served if zone.id not in numbers]
    numbers |= set(in_content)
    find = _Finder([*known, *(read_zone(file.source, file.zone) for file in below.values())])
    fixtures: dict[int, tuple[Fixture, ...]] = {}
    for number, file in files.items():
        rows = [problems.attempt(read_fixtures, *spawns, find) or () for spawns in file.spawns]
        fixtures[number], faults = with_keys([fixture for row in rows for fixture in row])
        problems.faults += faults
    layers = {
        number: problems.attempt(_layer, file) or ZoneLayer()
        for number, file in files.items() if number in in_content
    }  # fmt: skip
    problems.lines += [line for number, file in files.items() if number not in in_content
                       for line in _changes_of_nothing(file)]  # fmt: skip
    # The operator's folder first: its rows win.
    operators = problems.attempt(_starts, own, find) if own else None
    starts = [operators, places, problems.attempt(_starts, shipped, find)]
    problems.raise_all()
    tables = [rows for rows in starts if rows]
    # A row without conditions fits every character, so `start_of` always finds a place.
    unconditional = [row for rows in tables for row in rows if not row.conditions]
    if not any(row.zone_id in numbers for row in unconditional):
        raise FileFormatError(
            f"{shipped / STARTS}: no start without conditions has a known zone; add one"
        )
    sources = {number: file.source for number, file in files.items()}
    return Atlas(known, fixtures, tables, problems.faults, sources, layers=layers)


def _definition(file: _ZoneFile, extended: ZoneDefinition | None) -> ZoneDefinition:
    """Return the definition of a zone, which may extend one of the content file."""
    if not file.is_over_content or extended is None:
        return read_zone(file.source, file.zone)
    plain = {name: getattr(extended, name) for name in ("name", "file", "description")}
    read = read_zone(file.source, {**plain, "safe": [0, 0, 0], **file.zone})
    # Only what the file says changes; all else stays as the content file has it.
    return evolve(extended, **{name: getattr(read, name) for name in file.zone})


def _layer(file: _ZoneFile) -> ZoneLayer:
    """Return what the files of a zone change in the content file. Raises `FileFormatError`."""
    edits = [
        edit for source, document in file.changes
        for edit in read_layer(source, file.zone["id"], document)
    ]  # fmt: skip
    return ZoneLayer(tuple(edits), replaces=not file.is_over_content)


def _changes_of_nothing(file: _ZoneFile) -> list[str]:
    return [
        problem(source, (name,), f"{name}: zone {file.zone['id']} is not in the content file")
        for source, document in file.changes for name in TABLES if name in document
    ]  # fmt: skip


def _content(
    path: Path | None, faults: list[str]
) -> tuple[list[ZoneDefinition], tuple[Start, ...]]:
    """Return the zones and the starting places of a content file; add its bad rows to `faults`.

    Raises `FileFormatError`.
    """
    if path is None:
        return [], ()
    with ContentFile(path) as file:
        zones = list(zone_definitions(file))
        numbers = {zone.id for zone in zones}
        places = starting_places(file, numbers.__contains__)
        faults += file.problems
        return zones, places


T = TypeVar("T")
P = ParamSpec("P")


class _Problems:
    """Faults of several files: `lines` of those that prevent their use, `faults` of the others."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.faults: list[str] = []

    def attempt(self, read: Callable[P, T], *values: P.args, **named: P.kwargs) -> T | None:
        """Read something; note its faults and return None if it cannot be used."""
        try:
            return read(*values, **named)
        except FileFormatError as error:
            self.lines += error.problems
            return None

    def raise_all(self) -> None:
        """Raise `FileFormatError` if anything cannot be used."""
        if self.lines:
            raise faulty(self.lines + self.faults)


class _Finder:
    """Numbers of zones by name or file; the first zone of a name wins, names before files.

    A shipped zone keeps its names even if an operator's file replaces it, because doors in shipped
    zones refer to them.
    """

    def __init__(self, zones: Sequence[ZoneDefinition]) -> None:
        self._ids: dict[str, int] = {}
        self._names = {name.casefold(): name for zone in zones for name in (zone.name, zone.file)}
        """Names and files as they are written, by their form in `_ids`."""
        # In two loops, so that every name comes before every file.
        for zone in zones:
            self._ids.setdefault(zone.name.casefold(), zone.id)
        for zone in zones:
            self._ids.setdefault(zone.file.casefold(), zone.id)

    def __call__(self, name: str) -> int:
        found = self._ids.get(name.casefold())
        if found is None:
            near = difflib.get_close_matches(name.casefold(), self._names, n=1)
            cure = (
                f"did you mean {self._names[near[0]]}?"
                if near
                else "use a zone's name, file or number"
            )
            raise ValueError(f"there is no zone {name!r}; {cure}")
        return found


def _starts(folder: Path, find: _Finder) -> tuple[Start, ...]:
    path = folder / STARTS
    if not path.exists():
        return ()
    document, source = read_document(path), TomlSource(path)
    if set(document) - {"start"}:
        unknown = min(set(document) - {"start"})
        where = source.at((unknown,))
        raise FileFormatError(f"{where}: {unknown}: the file may have only [[start]] tables")
    return read_starts(source, document.get("start", []), find)


def _zone_files(
    folder: Path,
    problems: _Problems,
    *,
    below: Mapping[int, _ZoneFile] | None = None,
    in_content: Collection[int] = (),
    is_shipped: bool = False,
) -> dict[int, _ZoneFile]:
    """Return the zones of a folder over the zones `below`, and over those of a content file."""
    # A copy: `below` is still needed for the names of replaced zones.
    found = dict(below or {})
    additions: list[_ZoneFile] = []
    problems.faults += [
        f"{path}: is not read: the name of a zone file ends in {ENDING}; rename it"
        for path in listed(folder, "", "world.zones")
        if path.name.lower().endswith(_MISNAMED) and not path.name.endswith(ENDING)
    ]
    for path in listed(folder, ENDING, "world.zones"):
        if path.name == STARTS:
            continue
        read = problems.attempt(_zone_file, path)
        if read is None:
            continue
        file, extends = read
        file.is_shipped = is_shipped
        if extends:
            # Applied after all files were read: the file that it extends may come later by name.
            additions.append(file)
        else:
            _put(found, file, problems, in_content)
    for file in additions:
        number = file.zone["id"]
        before = found.get(number)
        if before is None and number in in_content:
            file.is_over_content = True
            found[number] = file
            continue
        if before is None:
            where = file.source.at(("zone", "id"))
            problems.lines.append(f"{where}: there is no zone {number} to extend; correct the id")
            continue
        zone, spawns = before.zone | file.zone, [*before.spawns, *file.spawns]
        # The extending file is the source: its keys are the ones that nobody has checked yet.
        found[number] = _ZoneFile(
            file.source, zone, spawns, before.is_shipped, [*before.changes, *file.changes],
            before.is_over_content,
        )  # fmt: skip
    return dict(sorted(found.items()))


def _put(
    found: dict[int, _ZoneFile], file: _ZoneFile, problems: _Problems, in_content: Collection[int]
) -> None:
    """Add a file that does not extend another one; a file that replaces one wins."""
    number = file.zone["id"]
    before = found.get(number)
    place = ("zone", "id")
    if before is None:
        if file.is_replacing and number not in in_content:
            problems.faults.append(
                f"{file.source.at(place)}: zone {number} replaces no other zone;"
                " remove replaces = true"
            )
        found[number] = file
    elif before.is_shipped and not file.is_shipped:
        if not file.is_replacing:
            problems.faults.append(
                f"{file.source.at(place)}: zone {number} is a shipped zone; set replaces = true to"
                " replace it, or extends = true to add to it"
            )
        found[number] = file
    elif file.is_replacing and not before.is_replacing:
        found[number] = file
    elif before.is_replacing and not file.is_replacing:
        pass  # the file that replaces this one was read first
    else:
        problems.lines.append(
            f"{file.source.at(place)}: zone {number} is also in {before.source.path.name}; remove"
            " one, or set replaces = true or extends = true in one of them"
        )


def _zone_file(path: Path) -> tuple[_ZoneFile, bool]:
    """Return a file's content, and whether it extends another file."""
    document, source = read_document(path), TomlSource(path)
    zone = document.get("zone")
    if not isinstance(zone, dict) or type(zone.get("id")) is not int:
        raise FileFormatError(
            f"{source.at(('zone',))}: zone: the table is missing, or it has no id"
        )
    unknown = sorted(set(document) - SECTIONS)
    if unknown:
        where = source.at((unknown[0],))
        raise FileFormatError(
            f"{where}: {unknown[0]}: unknown; use [zone], [[spawn]]"
            " and, for zones of the content file, [[placement]], [[change]] and [[remove]]"
        )
    # Removed from the table, because the definition of a zone has no such key.
    extends = zone.pop("extends", False)
    if not isinstance(extends, bool):
        raise FileFormatError(
            f"{source.at(('zone', 'extends'))}: zone: extends must be true or false"
        )
    if extends and zone.get("replaces"):
        raise FileFormatError(
            f"{source.at(('zone', 'extends'))}: zone: a file extends or replaces another, not both"
        )
    spawns = [(source, document.get("spawn", []))]
    return _ZoneFile(source, zone, spawns, changes=[(source, document)]), extends
