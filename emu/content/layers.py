"""Changes laid over what a content file says about a zone.

A change names a subject, its number, a column and the new value. Changes come from the operator's
zone files and from edits made in the game; neither writes the content file. Placements of one's own
have numbers from `OWN_NUMBERS` up, which EQ2Emulator's database does not reach.
Source: docs/guides/content.md#layers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, NamedTuple

from emu.content.file import KINDS, ContentFile, Entry, Group, Placement, Template, ZoneContent
from emu.content.tables import Column, content_tables
from emu.schema import TomlSource, faulty, problem

OWN_NUMBERS: Final = 2_000_000_000
LARGEST_NUMBER: Final = 2**53
MOST_ENTRIES: Final = 64
PLACEMENT, SPAWN, GROUP = SUBJECTS = ("placement", "spawn", "group")
REMOVED: Final = "removed"
"""The column of a change that removes its subject."""
ZONE: Final = "zone"
ENTRIES: Final = "entries"
SET: Final = "set"
WEIGHT: Final = "weight"
_PLACE: Final = ("x", "y", "z", "heading")
_ENTRY: Final = {"spawn": 0, "weight": 100.0, "condition": 0, "script": ""}
"""Keys of an entry with their defaults."""


class Edit(NamedTuple):
    """One change: a new value of one column of a placement, a spawn or a group."""

    subject: str
    """One of `SUBJECTS`."""
    number: int
    column: str
    value: Any


@dataclass(frozen=True, slots=True)
class ZoneLayer:
    """What zone files say about a zone of the content file."""

    edits: tuple[Edit, ...] = ()
    replaces: bool = False
    """Whether nothing that the content file places in the zone stands there."""


# -- reading ------------------------------------------------------------------------------------


@cache
def columns_of(subject: str) -> Mapping[str, Column]:
    """Return the columns of a subject that can be changed, by name."""
    tables = content_tables()
    names = {PLACEMENT: ("placements",), SPAWN: ("spawns", *KINDS), GROUP: ()}[subject]
    found: dict[str, Column] = {}
    for name in names:
        key = {*tables[name].key, "zone_id", "spawn_id"}
        for column in tables[name].columns:
            if column.name not in key:
                found.setdefault(column.name, column)
    return found


TABLES: Final = ("placement", "change", "remove")
"""The tables of a zone file that change a zone of the content file."""


def read_layer(source: TomlSource, zone_id: int, document: Mapping[str, Any]) -> list[Edit]:
    """Return what a zone file changes in a zone of the content file.

    Raises `FileFormatError` with all faults.
    """
    edits: list[Edit] = []
    problems: list[str] = []
    for name in TABLES:
        rows = document.get(name, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            problems.append(problem(source, (name,), f"{name}: must be written as [[{name}]]"))
            continue
        for index, row in enumerate(rows):
            try:
                edits += _READERS[name](zone_id, dict(row))
            except ValueError as error:
                problems.append(problem(source, (name, index), f"{name} {index + 1}: {error}"))
    if problems:
        raise faulty(problems)
    return edits


def _added(zone_id: int, row: dict[str, Any]) -> list[Edit]:
    number = row.pop("id", None)
    if type(number) is not int:
        raise ValueError(f"id: must be a number; use those from {OWN_NUMBERS} up for your own")
    if ENTRIES not in row or not ("place" in row or {"x", "y", "z"} <= set(row)):
        raise ValueError("place and entries are required")
    return read_edits(PLACEMENT, number, row | {ZONE: zone_id})


def _changed(_zone_id: int, row: dict[str, Any]) -> list[Edit]:
    subject, number = _subject(row)
    if not row:
        raise ValueError("has no key to change")
    return read_edits(subject, number, row)


def _removed(_zone_id: int, row: dict[str, Any]) -> list[Edit]:
    subject, number = _subject(row)
    if row:
        raise ValueError(f"{min(row)}: unknown; it may only have {', '.join(SUBJECTS)}")
    return read_edits(subject, number, {REMOVED: True})


def _subject(row: dict[str, Any]) -> tuple[str, int]:
    """Remove the key that says what is changed from a row, and return it with its number."""
    # The group of a placement is a value; on its own, the key names the group.
    for subject in (PLACEMENT, SPAWN, GROUP):
        if subject in row:
            return subject, row.pop(subject)
    raise ValueError(f"needs one of {', '.join(SUBJECTS)} with its number")


_READERS: Final = {"placement": _added, "change": _changed, "remove": _removed}


def read_edits(subject: str, number: int, values: Mapping[str, Any]) -> list[Edit]:
    """Return the changes that a table of a zone file, or a command, asks for.

    ``place`` is short for x, y, z and heading. Raises `ValueError`.
    """
    if type(number) is not int or not 0 < number <= LARGEST_NUMBER:
        raise ValueError(f"{subject}: must be a number above 0")
    edits = []
    for name, value in values.items():
        if name == "place" and subject == PLACEMENT:
            edits += [Edit(subject, number, *one) for one in _place(value)]
        else:
            edits.append(Edit(subject, number, name, read_value(subject, name, value)))
    return edits


def read_value(subject: str, name: str, value: Any) -> Any:
    """Return a value as its column keeps it. Raises `ValueError`."""
    special = _SPECIAL[subject].get(name)
    if special is not None:
        return special(name, value)
    column = columns_of(subject).get(name)
    if column is None:
        raise ValueError(f"{name}: a {subject} has no such key")
    wanted = (str,) if column.kind in ("text", "word") else (int, float)
    stored = column.convert(value) if isinstance(value, wanted) else None
    if stored is None:
        limits = f" from {column.low:g} to {column.high:g}" if column.has_range else ""
        raise ValueError(f"{name}: must be a {_NOUNS[column.kind]}{limits}")
    return stored


_NOUNS: Final = {
    "int": "whole number", "float": "number", "flag": "true or false", "text": "text",
    "word": "word",
}  # fmt: skip


def _place(value: Any) -> Iterable[tuple[str, float]]:
    is_place = isinstance(value, list) and len(value) in (3, 4)
    if not is_place or any(type(one) not in (int, float) for one in value):
        raise ValueError("place: must be [x, y, z] or [x, y, z, heading]")
    return zip(_PLACE, map(float, value), strict=False)


def _number(name: str, value: Any) -> int:
    if type(value) is not int or not 0 <= value <= LARGEST_NUMBER:
        raise ValueError(f"{name}: must be a whole number from 0 up")
    return value


def _weight(name: str, value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value <= 1e6:
        raise ValueError(f"{name}: must be a number from 0 to 1000000")
    return float(value)


def _flag(name: str, value: Any) -> bool:
    if value is not True:
        raise ValueError(f"{name}: must be true")
    return True


def _entries(name: str, value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not 0 < len(value) <= MOST_ENTRIES:
        raise ValueError(f"{name}: must be a list of 1 to {MOST_ENTRIES} tables")
    return [_entry(name, one) for one in value]


def _entry(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) - set(_ENTRY) or "spawn" not in value:
        raise ValueError(f"{name}: needs spawn, and may have weight, condition and script")
    entry = _ENTRY | value
    _number("spawn", entry["spawn"])
    _number("condition", entry["condition"])
    if not isinstance(entry["script"], str):
        raise ValueError("script: must be a text")  # noqa: TRY004  # readers raise ValueError
    return entry | {"weight": _weight("weight", entry["weight"])}


_SPECIAL: Final[Mapping[str, Mapping[str, Callable[[str, Any], Any]]]] = {
    PLACEMENT: {REMOVED: _flag, ZONE: _number, ENTRIES: _entries, GROUP: _number},
    SPAWN: {REMOVED: _flag},
    GROUP: {REMOVED: _flag, SET: _number, WEIGHT: _weight},
}
"""Columns that the content file has in another form."""


def spawns_named(edits: Iterable[Edit], zone_id: int) -> set[int]:
    """Return the spawns that entries of changes name, and that may stand in a zone."""
    edits = list(edits)
    zones = {one.number: one.value for one in edits if one.column == ZONE}
    return {
        entry["spawn"]
        for one in edits
        if one.subject == PLACEMENT and one.column == ENTRIES
        if zones.get(one.number, zone_id) == zone_id
        for entry in one.value
    }


# -- the content file's own values --------------------------------------------------------------


def stored_value(file: ContentFile, subject: str, number: int, column: str) -> Any:
    """Return what a content file has in a column; None if it does not have the subject."""
    if subject == GROUP:
        found = file.set_of(number)
        return None if found is None else {SET: found[0], WEIGHT: found[1]}.get(column, False)
    tables = ("placements",) if subject == PLACEMENT else ("spawns", *KINDS)
    row: dict[str, Any] = {}
    for table in tables:
        key = "id" if table in ("placements", "spawns") else "spawn_id"
        for one in file.rows_of(table, key, number):
            # The first table that has a column counts, as in `columns_of`.
            row = {**one, **row}
    if not row:
        return None
    if subject == PLACEMENT and column in (GROUP, ZONE, ENTRIES):
        return _stored_special(file, row, column)
    # No column of the content file says that something is removed.
    return row.get(column, False)


def _stored_special(file: ContentFile, row: Mapping[str, Any], column: str) -> Any:
    if column == ZONE:
        return row["zone_id"]
    if column == GROUP:
        groups = file.rows_of("placement_groups", "placement_id", row["id"])
        return groups[0]["group_id"] if groups else 0
    return [
        {"spawn": one["spawn_id"], "weight": one["weight"], "condition": one["condition"]}
        for one in file.rows_of("entries", "location_id", row["location_id"])
    ]


# -- laying over --------------------------------------------------------------------------------

Changes = Mapping[int, Mapping[str, Any]]
"""Values by number and column; later changes of one column win."""


def lay_over(content: ZoneContent, edits: Iterable[Edit], *, replaces: bool = False) -> ZoneContent:
    """Return a zone's content with changes; those of other zones and of no row have no effect."""
    by: dict[str, dict[int, dict[str, Any]]] = {subject: {} for subject in SUBJECTS}
    for one in edits:
        by[one.subject].setdefault(one.number, {})[one.column] = one.value
    if not any(by.values()) and not replaces:
        return content
    if replaces:
        content = replace(content, placements=(), entries={}, groups=_without_members(content))
    placements = _placements(content, by[PLACEMENT], by[GROUP])
    return replace(
        content,
        placements=placements,
        entries=_all_entries(content, placements, by[PLACEMENT], by[SPAWN]),
        templates=_templates(content, by[SPAWN]),
        groups=_groups(content, placements, by[PLACEMENT], by[GROUP]),
    )


def _without_members(content: ZoneContent) -> list[Group]:
    return [group._replace(placements=()) for group in content.groups]


def _placements(content: ZoneContent, changes: Changes, groups: Changes) -> list[Placement]:
    zone_id, found = content.zone["id"], []
    left = dict(changes)
    gone = {
        placement for group in content.groups if REMOVED in groups.get(group.id, {})
        for placement in group.placements
    }  # fmt: skip
    for one in content.placements:
        change = left.pop(one.id, {})
        is_here = change.get(ZONE, zone_id) == zone_id
        if is_here and one.id not in gone and REMOVED not in change:
            found.append(one._replace(**_fields(change)))
    for number, change in left.items():
        if change.get(ZONE) == zone_id and ENTRIES in change and REMOVED not in change:
            # Its location has its number too, unless a change gives it another one.
            plain = dict.fromkeys(Placement._fields, 0) | {"id": number, "location_id": number}
            found.append(Placement(**plain | _fields(change)))
    # In the order of the content file, so that choices depend on the numbers alone.
    return sorted(found, key=lambda one: (one.location_id, one.id))


def _fields(change: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in change.items() if name in Placement._fields}


def _all_entries(
    content: ZoneContent, placements: Sequence[Placement], changes: Changes, spawns: Changes
) -> dict[int, Sequence[Entry]]:
    entries = dict(content.entries)
    for one in placements:
        if ENTRIES in (change := changes.get(one.id, {})):
            entries[one.location_id] = [
                Entry(0, one.location_id, row["spawn"], row["weight"], row["condition"], script)
                for row in change[ENTRIES]
                for script in [row["script"] or _script_of(content, row["spawn"])]
            ]
    gone = {number for number, change in spawns.items() if REMOVED in change}
    if gone:
        entries = {
            location: [one for one in of if one.spawn_id not in gone]
            for location, of in entries.items()
        }
    return {location: of for location, of in entries.items() if of}


def _script_of(content: ZoneContent, spawn_id: int) -> str:
    """Return the script that a spawn of the content file has at its other places."""
    return next(
        (one.script for of in content.entries.values() for one in of if one.spawn_id == spawn_id),
        "",
    )


def _templates(content: ZoneContent, changes: Changes) -> Mapping[int, Template]:
    changed = {}
    for number, change in changes.items():
        template = content.templates.get(number)
        if template is None:
            continue
        # A column of both tables changes where the spawn's own table has it, else in its kind's.
        spawn = {name: value for name, value in change.items() if name in template.spawn}
        own = {
            name: value for name, value in change.items()
            if name in template.own and name not in spawn
        }  # fmt: skip
        changed[number] = replace(
            template, spawn={**template.spawn, **spawn}, own={**template.own, **own}
        )
    return {**content.templates, **changed}


def _groups(
    content: ZoneContent, placements: Sequence[Placement], places: Changes, changes: Changes
) -> list[Group]:
    standing = {one.id for one in placements}
    members = {group.id: [one for one in group.placements if one in standing]
               for group in content.groups}  # fmt: skip
    for number in standing & set(places):
        if GROUP in (change := places[number]):
            for of in members.values():
                if number in of:
                    of.remove(number)
            if change[GROUP]:
                members.setdefault(change[GROUP], []).append(number)
    known = {group.id: group for group in content.groups}
    found = []
    for number, of in sorted(members.items()):
        change = changes.get(number, {})
        group = known.get(number, Group(number, number, 100.0, ()))
        if of and REMOVED not in change:
            set_id = change.get(SET, group.set_id)
            weight, chance = (change.get(WEIGHT, one) for one in (group.weight, group.chance))
            found.append(Group(number, set_id, weight, tuple(sorted(of)), chance))
    return found
