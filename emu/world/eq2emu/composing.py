"""Makes zones, with what stands in them, and starting places out of a world database's rows.

Where several spawns share a location EQ2Emulator rolls dice; here the likeliest stands there. Signs
and widgets that no placement names stand where they say the client has them, in the zone that their
number is of: EQ2Emulator numbers spawns from ten thousand times the zone's. What cannot be brought
is noted with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from emu.errors import FileFormatError
from emu.sqldump import ImportReport
from emu.sqldump.columns import Columns, fraction, number, text
from emu.world.eq2emu import fixtures
from emu.world.eq2emu.fixtures import Row
from emu.world.eq2emu.tables import KINDS, Tables
from emu.world.eq2emu.writing import Document
from emu.world.places.atlas import STARTS
from emu.world.places.reading import MOST_FIXTURES, read_fixtures, read_starts, read_zone
from emu.world.places.zones import NO_UNDERWORLD
from emu.world.spawns import SpawnKind

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
                    at = fixtures.own_place(columns)
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
        row = fixtures.spawn_keys(spawn, KINDS[table])
        if KINDS[table] is SpawnKind.NPC:
            row |= fixtures.npc_keys(detail, spawn, tables.appearances.get(spawn_id, []))
            self._count(document, "npc_appearance", spawn_id, len(tables.appearances[spawn_id]))
        elif KINDS[table] is SpawnKind.SIGN:
            row |= fixtures.sign_keys(detail)
        elif KINDS[table] is SpawnKind.WIDGET:
            row |= fixtures.widget_keys(detail)
        row |= self._uses(spawn, document)
        self._count(document, table, spawn_id)
        if spawn_id in tables.spawns:
            self._count(document, "spawn", spawn_id)
        return row

    def _uses(self, spawn: Columns, document: Document) -> Row:
        """Return the verbs of a spawn, and the way that a transporter makes it."""
        row: Row = {}
        commands = number(spawn, "command_primary")
        verbs = fixtures.verb_rows(self.tables.commands.get(commands, []))
        if commands and verbs:
            row["verbs"] = verbs
            self._count(document, "entity_commands", commands, len(verbs))
        transporter = number(spawn, "transport_id")
        ways = self.tables.transporters.get(transporter, [])
        if transporter and ways:
            target = number(ways[0], "destination_zone_id")
            row["to"] = fixtures.way(target, ways[0], "destination_")
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
