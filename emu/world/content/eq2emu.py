"""Converts the rows of an EQ2Emulator world database into zone files.

`Tables` collects the rows of the dumps. `Composer` makes a `Document` for each zone from them.
`emu.world.content.eq2emu_import` runs the import and writes the documents. Each function here
converts one kind of row, and raises `ValueError` for a value that it cannot read. A row that cannot
be imported is reported with its reason. Source: docs/protocol/world/data.md#tables.
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
    check_appearance,
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
"""The tables of details, with the kind of their spawns."""


class Tables:
    """The rows of the dumps, by the objects to which they belong."""

    def __init__(self) -> None:
        self.zones: dict[int, Columns] = {}
        self.starts: list[Columns] = []
        self.spawns: dict[int, Columns] = {}
        self.details: dict[str, dict[int, Columns]] = {table: {} for table in KINDS}
        """For each table of details: the row of each spawn id."""
        # A location may have several spawns, of which EQ2Emulator chooses one.
        self.choices: dict[int, list[tuple[float, int]]] = defaultdict(list)
        """For each location id: its possible spawns, as (percentage, spawn id)."""
        self.placements: dict[int, Columns] = {}
        self.commands: dict[int, list[Columns]] = defaultdict(list)
        """For each id of a command list: its commands."""
        self.transporters: dict[int, list[Columns]] = defaultdict(list)
        self.appearances: dict[int, list[Columns]] = defaultdict(list)
        """For each spawn id: its colors."""

    @property
    def takes(self) -> Mapping[str, Callable[[Columns], None]]:
        """For each table: the function that adds a row. Each raises `ValueError`."""
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
    """Return a function that stores a row by its unique id."""

    def take(columns: Columns) -> None:
        rows[number(columns, key, least=1)] = columns

    return take


def _some_each(
    rows: dict[int, list[Columns]], key: str, least: int = 0
) -> Callable[[Columns], None]:
    """Return a function that appends a row to those with the same id."""
    return lambda columns: rows[number(columns, key, least=least)].append(columns)


TABLES: Final = tuple(Tables().takes)


Row = dict[str, Any]

APPEARANCE: Final = (
    "hair_type_id", "facial_hair_type_id", "wing_type_id", "chest_type_id", "legs_type_id",
    "soga_hair_type_id", "soga_facial_hair_type_id", "soga_model_type", "gender",
)  # fmt: skip
STATES: Final = ("action_state", "mood_state", "emote_state")
USUAL_SIZE: Final = 32
ZONE_SIGN: Final = "Zone"
LARGEST: Final = 0xFFFF


def spawn_keys(columns: Columns, kind: SpawnKind) -> Row:
    """Return the keys of a row of `spawn`."""
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
    # Defaults are left out, so that the files stay readable.
    return {key: value for key, value in row.items() if value not in {"", 0} or key in flags} | {
        "name": row["name"]
    }


def npc_keys(columns: Columns, spawn: Columns, colors: Sequence[Columns]) -> Row:
    """Return the keys of a row of `spawn_npcs`, with its spawn's race and its colors."""
    appearance: Row = {name: number(columns, name, most=LARGEST) for name in APPEARANCE}
    appearance["class"] = number(columns, "class_")
    appearance["race"] = number(spawn, "race")
    for color in colors:
        appearance[text(color, "type")] = [
            number(color, component, least=-128, most=255) for component in ("red", "green", "blue")
        ]
    row: Row = {name: number(columns, name, most=LARGEST) for name in STATES}
    row = {name: value for name, value in row.items() if value}
    # Rows have a range of levels, files one level.
    row["level"] = min(255, max(1, number(columns, "min_level")))
    return row | {"looks": dict(_known(appearance))}


def sign_keys(columns: Columns) -> Row:
    """Return the keys of a row of `spawn_signs`: its texts and its destination."""
    row: Row = {
        "sign": {
            "title": text(columns, "title"),
            "text": text(columns, "description"),
            "distance": fraction(columns, "sign_distance"),
            "language": number(columns, "language", most=255),
        }
    }
    zone_id = number(columns, "zone_id")
    # Only signs of this type lead to another zone.
    if text(columns, "type") == ZONE_SIGN and zone_id:
        row["to"] = way(zone_id, columns, "zone_")
    return row | widget_keys(columns)


def widget_keys(columns: Columns) -> Row:
    """Return the id and the place of the zone model's object, of a row of signs or widgets."""
    widget: Row = {"id": number(columns, "widget_id")}
    at = widget_place(columns)
    if at is not None:
        widget["place"] = at
    return {"widget": widget}


def widget_place(columns: Columns) -> list[float] | None:
    """Return the client's place of a widget, None if the row has none."""
    at = [fraction(columns, f"widget_{axis}") for axis in "xyz"]
    return at if any(at) else None


def own_place(columns: Columns) -> list[float]:
    """Return the place of a sign or widget without a placement. Raises `ValueError`."""
    at = widget_place(columns)
    if at is None:
        # Without a placement the row itself is the only source of a place.
        raise ValueError("the dump has no place for it")
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
        # A command without a text could not be shown.
        if text(command, "command_text")
    ]


def way(zone_id: int, columns: Columns, prefix: str) -> Row:
    """Return the destination of a sign or transporter; without a place, the zone's safe place."""
    place = [fraction(columns, f"{prefix}{axis}") for axis in "xyz"]
    # All zeros mean that the row has no place.
    if not any(place):
        return {"zone": zone_id}
    return {"zone": zone_id, "place": [*place, fraction(columns, f"{prefix}heading")]}


def _known(appearance: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the appearance fields that every client version can be sent; leave out zeros."""
    for name, value in appearance.items():
        if not value:
            continue
        try:
            check_appearance({name: value})
        except ValueError:
            continue
        yield name, value


SPAWNS_PER_ZONE: Final = 10_000
"""EQ2Emulator numbers the spawns of zone N from N times this on."""
ANY: Final = 255
"""The value of starting_zones for "any" class, race, choice or deity."""
NO_PLACE: Final = -999_999.0
FAMILIES: Final = {
    1: range(1, 11), 2: range(2, 5), 5: range(5, 8), 8: range(8, 11),
    11: range(11, 21), 12: range(12, 15), 15: range(15, 18), 18: range(18, 21),
    21: range(21, 31), 22: range(22, 25), 25: range(25, 28), 28: range(28, 31),
    31: range(31, 41), 32: range(32, 35), 35: range(35, 38), 38: range(38, 41),
}  # fmt: skip
"""For each archetype and each class of the second step: the classes that grow out of it."""
LAST_VERSION: Final = 0xFFFFFFFF
BEFORE_READING: Final = Path("dump")


@dataclass(slots=True)
class Composer:
    """Makes documents from tables; each row is counted for the first document that has it."""

    tables: Tables
    report: ImportReport
    shipped: Collection[int]
    """The numbers of shipped zones."""
    _counted: set[tuple[str, object]] = field(default_factory=set)
    _placed: dict[int, list[Row]] = field(default_factory=dict)
    _documents: dict[int, Document] = field(default_factory=dict)

    def documents(self) -> Iterator[Document]:
        """Yield a document for each zone, and one for the starting places."""
        # Zones come first, because a spawn is only imported into a zone of the dump.
        for zone_id, columns in sorted(self.tables.zones.items()):
            self._zone(zone_id, columns)
        # Placements first: a sign that has one must not be added a second time.
        placed_by_rows = self._place_all()
        self._place_the_rest()
        for zone_id, document in self._documents.items():
            # A dump without placements for a shipped zone must not empty that zone.
            if zone_id in self.shipped:
                word = "replaces" if zone_id in placed_by_rows else "extends"
                document.tables["zone"][word] = True
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

    # -- spawns ---------------------------------------------------------------------------------

    def _place_all(self) -> set[int]:
        """Add the spawns of all placements; return the zones that have placements."""
        zones = set()
        several = 0
        for placement_id, columns in self.tables.placements.items():
            location = _number_or_none(columns, "spawn_location_id")
            choices = self.tables.choices.get(location or 0, [])
            if not choices:
                self._left_out("spawn_location_placement", placement_id, "it has no spawn")
                continue
            # EQ2Emulator draws one of several spawns at each respawn. Files have no respawns yet,
            # so the most probable spawn is taken.
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
                f"{several} places have several spawns: the most probable one was taken",
            )
        return zones

    def _place_the_rest(self) -> None:
        """Add signs and widgets without a placement; report what is left.

        Their rows have the client's place. Their zone follows from their id.
        """
        for table in KINDS:
            for spawn_id, columns in self.tables.details[table].items():
                if (table, spawn_id) in self._counted:
                    continue
                try:
                    at = own_place(columns)
                    # The number of a spawn begins with the number of its zone.
                    self._put(spawn_id, spawn_id // SPAWNS_PER_ZONE, at, 0)
                except ValueError as error:
                    self._left_out(table, spawn_id, str(error))

    def _put(self, spawn_id: int, zone_id: int, place: list[float], grid: int) -> Document:
        """Add a spawn to a zone's document. Raises `ValueError`."""
        document = self._documents.get(zone_id)
        if document is None:
            raise ValueError(f"zone {zone_id} is not in the dump")
        placed = self._placed.setdefault(zone_id, [])
        # The reader of zone files has the same limit and would refuse the file.
        if len(placed) >= MOST_FIXTURES:
            raise ValueError(f"zone {zone_id} already has {MOST_FIXTURES} spawns, the limit")
        row = self._fixture(spawn_id, document)
        row["place"] = place
        if grid:
            row["grid"] = grid
        # The server's own reader checks each row now, so that an imported file always loads.
        try:
            read_fixtures(BEFORE_READING, [row], int)
        except FileFormatError as error:
            raise ValueError(_reason(error)) from None
        placed.append(row)
        return document

    def _fixture(self, spawn_id: int, document: Document) -> Row:
        """Return the row of a spawn from all tables. Raises `ValueError`."""
        tables = self.tables
        # The kind of a spawn follows from the table that has a row of the spawn.
        table = next((one for one in KINDS if spawn_id in tables.details[one]), None)
        if table is None:
            raise ValueError(f"spawn {spawn_id} is of a kind that is not imported")
        detail = tables.details[table][spawn_id]
        # Without a row of `spawn`, a sign still has its title.
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
        """Return the verbs of a spawn, and its destination if it is a transporter."""
        row: Row = {}
        commands = number(spawn, "command_primary")
        verbs = verb_rows(self.tables.commands.get(commands, []))
        if commands and verbs:
            row["verbs"] = verbs
            self._count(document, "entity_commands", commands, len(verbs))
        transporter = number(spawn, "transport_id")
        ways = self.tables.transporters.get(transporter, [])
        if transporter and ways:
            # Files have one destination for each spawn.
            target = number(ways[0], "destination_zone_id")
            row["to"] = way(target, ways[0], "destination_")
            if not target:
                del row["to"]
            else:
                self._count(document, "transporters", transporter)
            if len(ways) > 1:
                self.report.note(
                    "transporters",
                    f"transporter {transporter}: the first of {len(ways)} destinations was taken",
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
        # The same row can be in several places; the report counts it once.
        if (table, key) not in self._counted:
            self._counted.add((table, key))
            document.counts[table] += rows

    def _left_out(self, table: str, key: object, reason: str) -> None:
        self.report.note(table, f"{table} {key} was left out: {reason}")


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
    """Return a row of a starting place in a known zone. Raises `ValueError`."""
    zone_id = number(columns, "zone_id", least=1)
    if zone_id not in known:
        raise ValueError(f"zone {zone_id} is not in the dump")
    row: Row = {"zone": zone_id}
    place = [fraction(columns, axis) for axis in ("x", "y", "z", "heading")]
    # This value marks a row without coordinates.
    if NO_PLACE not in place:
        row["place"] = place
    class_id = number(columns, "class_id", ANY)
    if class_id != ANY:
        # A row for an archetype means all classes that grow out of it.
        row["class"] = list(FAMILIES.get(class_id, (class_id,)))
    for key, name in (("race", "race_id"), ("city", "choice"), ("deity", "deity")):
        wanted = number(columns, name, ANY)
        if wanted != ANY:
            row[key] = [wanted]
    first, last = number(columns, "min_version"), number(columns, "max_version")
    if first or last:
        # 0 as the last version means no limit.
        row["versions"] = [first, last or LAST_VERSION]
    return row


def _reason(error: Exception) -> str:
    """Return the text of an error without the stand-in for a file's name."""
    return str(error).removeprefix(f"{BEFORE_READING}: ")


def _number_or_none(columns: Columns, name: str) -> int | None:
    try:
        return number(columns, name)
    except ValueError:
        return None


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "zone"
