"""Makes zones and their spawns of the rows of an EQ2Emulator world database.

`tables` keeps the rows, `composing` makes zones of them in the vocabulary of `emu.world.content`,
`writing` puts those into files, `dump` runs it all. `knowledge` does the same for skills, languages
and titles.

Owns which tables are read and how their rows hang together (docs/protocol/world/data.md#tables).
Values are read later, by whoever makes something of them.

Each function reads one kind of row into the keys that it sets; all raise `ValueError` for values
that cannot be read.

Where several spawns share a location EQ2Emulator rolls dice; here the likeliest stands there. Signs
and widgets that no placement names stand where they say the client has them, in the zone that their
number is of: EQ2Emulator numbers spawns from ten thousand times the zone's. What cannot be brought
is noted with its reason.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from emu.errors import FileFormatError
from emu.sqldump import ImportReport
from emu.sqldump.report import Columns, fraction, number, text
from emu.world.actors.spawn import SpawnKind
from emu.world.content.atlas import STARTS
from emu.world.content.definitions import NO_UNDERWORLD
from emu.world.content.eq2emu_files import Document
from emu.world.content.files import (
    LARGEST_SIZE,
    MOST_FIXTURES,
    check_looks,
    read_fixtures,
    read_starts,
    read_zone,
)

KINDS: Final[Mapping[str, SpawnKind]] = {
    "spawn_npcs": SpawnKind.NPC,
    "spawn_objects": SpawnKind.OBJECT,
    "spawn_ground": SpawnKind.OBJECT,
    "spawn_signs": SpawnKind.SIGN,
    "spawn_widgets": SpawnKind.WIDGET,
}
"""Table of details -> kind of the spawns that it describes."""


class Tables:
    """Rows by what they belong to. `takes` are the tables; each raises `ValueError`."""

    def __init__(self) -> None:
        self.zones: dict[int, Columns] = {}
        self.starts: list[Columns] = []
        self.spawns: dict[int, Columns] = {}
        self.details: dict[str, dict[int, Columns]] = {table: {} for table in KINDS}
        """Table -> spawn -> row."""
        self.choices: dict[int, list[tuple[float, int]]] = defaultdict(list)
        """Location -> the spawns that may stand there, each with its percentage in front."""
        self.placements: dict[int, Columns] = {}
        self.commands: dict[int, list[Columns]] = defaultdict(list)
        """Number of a command list -> its commands."""
        self.transporters: dict[int, list[Columns]] = defaultdict(list)
        self.appearances: dict[int, list[Columns]] = defaultdict(list)
        """Spawn -> its colors."""

    @property
    def takes(self) -> Mapping[str, Callable[[Columns], None]]:
        """Table -> what takes a row of it."""
        return {
            "zones": _one_each(self.zones, "id"),
            "starting_zones": self.starts.append,
            "spawn": _one_each(self.spawns, "id"),
            **{table: _one_each(self.details[table], "spawn_id") for table in KINDS},
            "spawn_location_entry": self._entry,
            "spawn_location_placement": _one_each(self.placements, "id"),
            "entity_commands": _some_each(self.commands, "command_list_id"),
            "transporters": _some_each(self.transporters, "transport_id"),
            "npc_appearance": _some_each(self.appearances, "spawn_id", least=1),
        }

    def _entry(self, columns: Columns) -> None:
        choice = fraction(columns, "spawnpercentage"), number(columns, "spawn_id", least=1)
        self.choices[number(columns, "spawn_location_id")].append(choice)


def _one_each(rows: dict[int, Columns], key: str) -> Callable[[Columns], None]:
    """Return what keeps a row by a number that no other row has."""

    def take(columns: Columns) -> None:
        rows[number(columns, key, least=1)] = columns

    return take


def _some_each(
    rows: dict[int, list[Columns]], key: str, least: int = 0
) -> Callable[[Columns], None]:
    """Return what keeps a row among those of one number."""
    return lambda columns: rows[number(columns, key, least=least)].append(columns)


TABLES: Final = tuple(Tables().takes)


Row = dict[str, Any]

LOOKS: Final = (
    "hair_type_id", "facial_hair_type_id", "wing_type_id", "chest_type_id", "legs_type_id",
    "soga_hair_type_id", "soga_facial_hair_type_id", "soga_model_type", "gender",
)  # fmt: skip
STATES: Final = ("action_state", "mood_state", "emote_state")
USUAL_SIZE: Final = 32
ZONE_SIGN: Final = "Zone"
LARGEST: Final = 0xFFFF


def spawn_keys(columns: Columns, kind: SpawnKind) -> Row:
    """Return what a row of `spawn` says."""
    flags = ("attackable", "targetable", "show_name")
    row: Row = {
        "kind": kind.value,
        "name": text(columns, "name"),
        "last_name": text(columns, "last_name"),
        "title": text(columns, "sub_title"),
        "model": number(columns, "model_type", most=LARGEST),
        "size": number(columns, "size", USUAL_SIZE, most=LARGEST_SIZE) or USUAL_SIZE,
        "collision_radius": number(columns, "collision_radius", most=LARGEST_SIZE),
        **{flag: number(columns, flag) != 0 for flag in flags},
        "visual_state": number(columns, "visual_state", most=LARGEST),
    }
    return {key: value for key, value in row.items() if value not in {"", 0} or key in flags} | {
        "name": row["name"]
    }


def npc_keys(columns: Columns, spawn: Columns, colors: Sequence[Columns]) -> Row:
    """Return what a row of `spawn_npcs` says, with its spawn's race and its colors."""
    looks: Row = {name: number(columns, name, most=LARGEST) for name in LOOKS}
    looks["class"] = number(columns, "class_")
    looks["race"] = number(spawn, "race")
    for color in colors:
        parts = [number(color, part, least=-128, most=255) for part in ("red", "green", "blue")]
        looks[text(color, "type")] = parts
    row: Row = {name: number(columns, name, most=LARGEST) for name in STATES}
    row = {name: value for name, value in row.items() if value}
    row["level"] = min(255, max(1, number(columns, "min_level")))
    return row | {"looks": dict(_known(looks))}


def sign_keys(columns: Columns) -> Row:
    """Return what a row of `spawn_signs` says; its texts, and where it leads."""
    row: Row = {
        "sign": {
            "title": text(columns, "title"),
            "text": text(columns, "description"),
            "distance": fraction(columns, "sign_distance"),
            "language": number(columns, "language", most=255),
        }
    }
    zone_id = number(columns, "zone_id")
    if text(columns, "type") == ZONE_SIGN and zone_id:
        row["to"] = way(zone_id, columns, "zone_")
    return row | widget_keys(columns)


def widget_keys(columns: Columns) -> Row:
    """Return number and place that a row of signs or widgets has besides the spawn's."""
    widget: Row = {"id": number(columns, "widget_id")}
    at = widget_place(columns)
    if at is not None:
        widget["place"] = at
    return {"widget": widget}


def widget_place(columns: Columns) -> list[float] | None:
    """Return where the client has this widget; None when the row does not say."""
    at = [fraction(columns, f"widget_{axis}") for axis in "xyz"]
    return at if any(at) else None


def own_place(columns: Columns) -> list[float]:
    """Return where a sign or widget stands that no placement names. Raises `ValueError`."""
    at = widget_place(columns)
    if at is None:
        raise ValueError("its place is not in the dump")
    return at


def verb_rows(commands: Sequence[Columns]) -> list[Row]:
    """Return the verbs of a command list."""
    return [
        {
            "name": text(command, "command_text"),
            "distance": fraction(command, "distance"),
            "command": text(command, "command"),
        }
        for command in commands
        if text(command, "command_text")
    ]


def way(zone_id: int, columns: Columns, prefix: str) -> Row:
    """Return where a sign or a transporter leads; no place is the zone's safe one."""
    place = [fraction(columns, f"{prefix}{axis}") for axis in "xyz"]
    if not any(place):
        return {"zone": zone_id}
    return {"zone": zone_id, "place": [*place, fraction(columns, f"{prefix}heading")]}


def _known(looks: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the looks that clients can be told; white and none are what is not said."""
    for name, value in looks.items():
        if not value:
            continue
        try:
            check_looks({name: value})
        except ValueError:
            continue
        yield name, value


SPAWNS_PER_ZONE: Final = 10_000
ANY: Final = 255
"""What starting_zones has for "any" class, race, choice or deity."""
NO_PLACE: Final = -999_999.0
FAMILIES: Final = {
    1: range(1, 11), 2: range(2, 5), 5: range(5, 8), 8: range(8, 11),
    11: range(11, 21), 12: range(12, 15), 15: range(15, 18), 18: range(18, 21),
    21: range(21, 31), 22: range(22, 25), 25: range(25, 28), 28: range(28, 31),
    31: range(31, 41), 32: range(32, 35), 35: range(35, 38), 38: range(38, 41),
}  # fmt: skip
"""Archetype or class of the second step -> the classes that come of it."""
LAST_VERSION: Final = 0xFFFFFFFF
BEFORE_READING: Final = Path("dump")


@dataclass(slots=True)
class Composer:
    """Makes documents; every row counts for the first one that it goes into."""

    tables: Tables
    report: ImportReport
    shipped: Collection[int]
    """Numbers of zones that come with the program."""
    _counted: set[tuple[str, object]] = field(default_factory=set)
    _placed: dict[int, list[Row]] = field(default_factory=dict)
    _documents: dict[int, Document] = field(default_factory=dict)

    def documents(self) -> Iterator[Document]:
        """Yield a document for each zone, and one for the starting places."""
        for zone_id, columns in sorted(self.tables.zones.items()):
            self._zone(zone_id, columns)
        placed_by_rows = self._place_all()
        self._place_the_rest()
        for zone_id, document in self._documents.items():
            if zone_id in self.shipped and zone_id not in placed_by_rows:
                document.tables["zone"]["extends"] = True
            document.tables["spawn"] = self._placed.get(zone_id, [])
            yield document
        starts = self._starts()
        if starts.tables["start"]:
            yield starts

    # -- zones ----------------------------------------------------------------------------------

    def _zone(self, zone_id: int, columns: Columns) -> None:
        try:
            row = _zone_row(zone_id, columns)
            read_zone(BEFORE_READING, row)
        except (ValueError, FileFormatError) as error:
            self._left_out("zones", zone_id, _reason(error))
            return
        name = f"{zone_id:05}-{_slug(row['name'])}.toml"
        document = self._documents[zone_id] = Document(name, {"zone": row})
        self._count(document, "zones", zone_id)

    # -- what stands there ----------------------------------------------------------------------

    def _place_all(self) -> set[int]:
        """Put in what placements name; returns the zones that have some."""
        zones = set()
        several = 0
        for placement_id, columns in self.tables.placements.items():
            location = _number_or_none(columns, "spawn_location_id")
            choices = self.tables.choices.get(location or 0, [])
            if not choices:
                self._left_out("spawn_location_placement", placement_id, "no spawn stands there")
                continue
            several += len(choices) > 1
            _, spawn_id = max(choices, key=lambda choice: choice[0])
            try:
                zone_id = number(columns, "zone_id")
                place = [fraction(columns, axis) for axis in ("x", "y", "z", "heading")]
                document = self._put(spawn_id, zone_id, place, number(columns, "grid_id"))
            except ValueError as error:
                self._left_out("spawn_location_placement", placement_id, str(error))
                continue
            zones.add(zone_id)
            self._count(document, "spawn_location_placement", placement_id)
            self._count(document, "spawn_location_entry", (location, spawn_id))
        if several:
            self.report.note(
                "spawn_location_entry",
                f"{several} places have several spawns to choose from: the likeliest stands there",
            )
        return zones

    def _place_the_rest(self) -> None:
        """Put in the signs and widgets that say themselves where they are; name what is left."""
        for table in KINDS:
            for spawn_id, columns in self.tables.details[table].items():
                if (table, spawn_id) in self._counted:
                    continue
                try:
                    at = own_place(columns)
                    self._put(spawn_id, spawn_id // SPAWNS_PER_ZONE, at, 0)
                except ValueError as error:
                    self._left_out(table, spawn_id, str(error))

    def _put(self, spawn_id: int, zone_id: int, place: list[float], grid: int) -> Document:
        """Put a spawn into a zone. Raises `ValueError`."""
        document = self._documents.get(zone_id)
        if document is None:
            raise ValueError(f"zone {zone_id} is not in the dump")
        standing = self._placed.setdefault(zone_id, [])
        if len(standing) >= MOST_FIXTURES:
            raise ValueError(f"zone {zone_id} holds {MOST_FIXTURES} spawns already")
        row = self._fixture(spawn_id, document)
        row["place"] = place
        if grid:
            row["grid"] = grid
        try:
            read_fixtures(BEFORE_READING, [row], int)
        except FileFormatError as error:
            raise ValueError(_reason(error)) from None
        standing.append(row)
        return document

    def _fixture(self, spawn_id: int, document: Document) -> Row:
        """Return what all tables say of a spawn. Raises `ValueError`."""
        tables = self.tables
        table = next((one for one in KINDS if spawn_id in tables.details[one]), None)
        if table is None:
            raise ValueError(f"spawn {spawn_id} is of no kind that is brought")
        detail = tables.details[table][spawn_id]
        spawn = tables.spawns.get(spawn_id, {"name": text(detail, "title")})
        row = spawn_keys(spawn, KINDS[table])
        if KINDS[table] is SpawnKind.NPC:
            row |= npc_keys(detail, spawn, tables.appearances.get(spawn_id, []))
            self._count(document, "npc_appearance", spawn_id, len(tables.appearances[spawn_id]))
        elif KINDS[table] is SpawnKind.SIGN:
            row |= sign_keys(detail)
        elif KINDS[table] is SpawnKind.WIDGET:
            row |= widget_keys(detail)
        row |= self._uses(spawn, document)
        self._count(document, table, spawn_id)
        if spawn_id in tables.spawns:
            self._count(document, "spawn", spawn_id)
        return row

    def _uses(self, spawn: Columns, document: Document) -> Row:
        """Return the verbs of a spawn, and the way that a transporter makes it."""
        row: Row = {}
        commands = number(spawn, "command_primary")
        verbs = verb_rows(self.tables.commands.get(commands, []))
        if commands and verbs:
            row["verbs"] = verbs
            self._count(document, "entity_commands", commands, len(verbs))
        transporter = number(spawn, "transport_id")
        ways = self.tables.transporters.get(transporter, [])
        if transporter and ways:
            target = number(ways[0], "destination_zone_id")
            row["to"] = way(target, ways[0], "destination_")
            if not target:
                del row["to"]
            else:
                self._count(document, "transporters", transporter)
            if len(ways) > 1:
                self.report.note(
                    "transporters",
                    f"transporter {transporter}: the first of {len(ways)} ways is brought",
                )
        return row

    # -- starting places ------------------------------------------------------------------------

    def _starts(self) -> Document:
        document = Document(STARTS, {"start": []})
        known = {*self._documents, *self.shipped}
        for columns in self.tables.starts:
            try:
                row = _start_row(columns, known)
                read_starts(BEFORE_READING, [row], int)
            except (ValueError, FileFormatError) as error:
                self._left_out("starting_zones", columns.get("id"), _reason(error))
                continue
            document.tables["start"].append(row)
            self._count(document, "starting_zones", len(document.tables["start"]))
        return document

    def _count(self, document: Document, table: str, key: object, rows: int = 1) -> None:
        if (table, key) not in self._counted:
            self._counted.add((table, key))
            document.counts[table] += rows

    def _left_out(self, table: str, key: object, reason: str) -> None:
        self.report.note(table, f"{table} {key} left out: {reason}")


def _zone_row(zone_id: int, columns: Columns) -> Row:
    row: Row = {
        "id": zone_id,
        "name": text(columns, "name"),
        "file": text(columns, "file"),
        "description": text(columns, "description") or text(columns, "name"),
        "safe": [fraction(columns, f"safe_{name}") for name in ("x", "y", "z", "heading")],
    }
    underworld = fraction(columns, "underworld") if "underworld" in columns else NO_UNDERWORLD
    if underworld != NO_UNDERWORLD:
        row["underworld"] = underworld
    if text(columns, "zone_motd"):
        row["motd"] = text(columns, "zone_motd")
    return row


def _start_row(columns: Columns, known: Collection[int]) -> Row:
    """Return a starting place in one of the known zones. Raises `ValueError`."""
    zone_id = number(columns, "zone_id", least=1)
    if zone_id not in known:
        raise ValueError(f"zone {zone_id} is not in the dump")
    row: Row = {"zone": zone_id}
    place = [fraction(columns, axis) for axis in ("x", "y", "z", "heading")]
    if NO_PLACE not in place:
        row["place"] = place
    class_id = number(columns, "class_id", ANY)
    if class_id != ANY:
        row["class"] = list(FAMILIES.get(class_id, (class_id,)))
    for key, name in (("race", "race_id"), ("city", "choice"), ("deity", "deity")):
        wanted = number(columns, name, ANY)
        if wanted != ANY:
            row[key] = [wanted]
    first, last = number(columns, "min_version"), number(columns, "max_version")
    if first or last:
        row["versions"] = [first, last or LAST_VERSION]
    return row


def _reason(error: Exception) -> str:
    """Return why something is left out, without the file and table that our reader names."""
    return str(error).removeprefix(f"{BEFORE_READING}: ")


def _number_or_none(columns: Columns, name: str) -> int | None:
    try:
        return number(columns, name)
    except ValueError:
        return None


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "zone"
