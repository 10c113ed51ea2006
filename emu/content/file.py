"""`ContentFile`: a content file as the server reads it, zone by zone.

The server never writes it. A zone is read in one job of a thread, when a player enters it; what
stands there is small: places, and the templates that they share.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from emu.content.alliances import Alliance, alliances_of
from emu.content.checks import check_form, read_only
from emu.content.damage import DAMAGE, decoded, has_wrong_rows
from emu.content.importing import APPLICATION, tables_form
from emu.content.regions import FILES
from emu.content.rows import Row, SharedValues, StoredRow
from emu.content.tables import Column, Stored, Table, content_tables
from emu.errors import FileFormatError

MOST_MARKS: Final = 500
"""Ids of one statement."""
DIGESTED: Final = 2000
"""Rows that are read at a time for a digest."""
KINDS: Final = ("npcs", "objects", "grounds", "signs", "widgets")
"""The kinds of spawns; where a spawn is of several, the first counts."""
_OF_ZONE: Final = "WHERE zone_id = ?"
_AT_PLACES: Final = "WHERE location_id IN (SELECT location_id FROM placements WHERE zone_id = ?)"


LONGEST_PROBLEM: Final = 300


class Placement(NamedTuple):
    """One place where something can stand; the fields are those of the table `placements`."""

    id: int
    location_id: int
    x: float
    y: float
    z: float
    heading: float
    pitch: float
    roll: float
    x_offset: float
    y_offset: float
    z_offset: float
    grid: int
    respawn: int
    respawn_low: int
    respawn_high: int
    expire: int
    expire_offset: int
    instance: int
    level: int
    health: int
    power: int
    difficulty: int
    strength: int
    stamina: int
    wisdom: int
    intelligence: int
    agility: int


class Entry(NamedTuple):
    """One thing that can stand at a location, with its weight among the others."""

    id: int
    location_id: int
    spawn_id: int
    weight: float
    condition: int
    script: str
    """The script of the entry, of its location or of its spawn; empty without one."""


@dataclass(frozen=True, slots=True)
class Template:
    """What all spawns of one number share."""

    id: int
    kind: str
    """The table of its kind: one of `KINDS`."""
    spawn: Row
    """Its row in `spawns`."""
    own: Row
    """Its row in the table of its kind."""
    appearance: Mapping[str, tuple[int, int, int]]
    equipment: Sequence[Row]


class Group(NamedTuple):
    """A group of placements that come and go together."""

    id: int
    set_id: int
    """Of the groups with one number, one stands at a time."""
    weight: float
    placements: tuple[int, ...]
    chance: float = 0.0
    """Its own chance; 0 without one: then its weight is an equal share."""


@dataclass(frozen=True, slots=True)
class ZoneContent:
    """All that a content file says about one zone."""

    zone: Row
    placements: Sequence[Placement]
    entries: Mapping[int, Sequence[Entry]]
    """By location, in the order of their numbers."""
    templates: Mapping[int, Template]
    """By number, those of the entries and those that only scripts name."""
    groups: Sequence[Group]
    revive_points: Sequence[Row]
    areas: Sequence[tuple[Row, Sequence[Row]]]
    """Each with its points."""
    transporters: Mapping[int, Sequence[Row]]
    """By list: those of this zone's spawns."""
    triggers: Sequence[Row]
    """Transporters that move whoever comes near."""
    commands: Mapping[int, Sequence[Row]]
    """Lists of commands by their number."""
    spawn_scripts: Mapping[int, str] = field(default_factory=dict)
    """The scripts of spawns by the spawn's number, whatever their places say."""
    factions: Mapping[int, Row] = field(default_factory=dict)
    """All factions by number."""
    alliances: Mapping[int, Alliance] = field(default_factory=dict)
    """The friends and enemies of factions, by number."""


class ContentFile:
    """An open content file, for one thread at a time."""

    def __init__(self, path: Path, *, is_shared: bool = False) -> None:
        """Open a file for reading. Raises `FileFormatError`.

        With `is_shared` several threads may use it, one at a time.
        """
        self.path = path
        self._all_factions: Mapping[int, Row] | None = None
        self._all_alliances: Mapping[int, Alliance] | None = None
        self.is_careful = False
        """Whether each row of a zone is checked, and left out if a value does not fit.

        That takes twice the time, so it is for a file in which reading has failed.
        """
        self.problems: dict[str, None] = {}
        """What was left out, one line each."""
        self._damaged: dict[str, bool] = {}
        """Whether tables that were read whole have wrong values."""
        try:
            self.stamp = _stamp(path)
            """Differs for another file, and after a change of this one."""
            self._database = sqlite3.connect(
                read_only(path), uri=True, check_same_thread=not is_shared
            )
            self._database.text_factory = decoded
            self._database.execute("PRAGMA query_only = ON")
            (application,) = self._database.execute("PRAGMA application_id").fetchone()
            (version,) = self._database.execute("PRAGMA user_version").fetchone()
        except (sqlite3.Error, OSError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise FileFormatError(
                f"{path}: is no usable content file ({why}); make one with `emu content import`"
            ) from error
        if application != APPLICATION:
            raise FileFormatError(f"{path}: is no content file; make one with `emu content import`")
        if version != tables_form():
            raise FileFormatError(
                f"{path}: has other tables than this version of the server reads;"
                " make it anew with `emu content import`"
            )

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """Close the file; what reading damaged tables raises becomes a `FileFormatError`."""
        self.close()
        if isinstance(error, DAMAGE):
            raise FileFormatError(
                f"{self.path}: is damaged ({error!r:.200}); make it anew with `emu content import`"
            ) from error

    def digest(self) -> str:
        """Return a digest of the rows that are served; nodes of a cluster compare it."""
        # Of the rows: the file itself differs with the moment of its import, and a file may be
        # changed by hand after it.
        made = sha256()
        for name in content_tables():
            columns = [row[1] for row in self._database.execute(f'PRAGMA table_info("{name}")')]
            # Each row is one text, made by SQLite. They come in the order of the key.
            row = " || ',' || ".join(f'quote("{column}")' for column in columns)
            rows = self._database.execute(
                f'SELECT {row} FROM "{name}"'  # noqa: S608  # our names
            )
            made.update(f"{name} ".encode())
            # Some at a time: the text of all things takes a hundred MB.
            before = ""
            while some := rows.fetchmany(DIGESTED):
                text = "\n".join([text for (text,) in some])
                made.update(f"{before}{text}".encode("utf-8", "surrogateescape"))
                before = "\n"
            made.update(b"\n")
        for row in self._database.execute(FILES):
            made.update(f"{row}\n".encode())
        return made.hexdigest()[:16]

    def imports(self) -> list[tuple[str, str, int]]:
        """Return each dump that was imported: where it was, the moment, and its rows."""
        return self._of_kinds(
            "imports", (str, str, int), "SELECT source, moment, rows FROM imports ORDER BY source"
        )

    def counts(self) -> dict[str, int]:
        """Return the number of rows of each table."""
        return {name: self._count(name) for name in content_tables()}

    def left_out(self) -> list[tuple[str, str, int]]:
        """Return table, reason and number of the rows that the import left out or changed."""
        return self._of_kinds(
            "left_out", (str, str, int),
            "SELECT name, reason, count(*) AS rows FROM left_out GROUP BY name, reason"
            " ORDER BY rows DESC, name, reason",
        )  # fmt: skip

    def rows_of(self, table: str, column: str, number: int) -> list[Row]:
        """Return the rows of a table whose column has a number."""
        return list(self._rows(table, f'WHERE "{column}" = ?', (number,)))

    def set_of(self, group: int) -> tuple[int, float] | None:
        """Return the set of a group and its weight there; None if there is no such group."""
        row = self._database.execute(
            "SELECT set_id, weight FROM set_groups WHERE group_id = ?", (group,)
        ).fetchone()
        return None if row is None else (int(row[0]), float(row[1]))

    def table(self, name: str) -> list[Row]:
        """Return all rows of a table, by its key."""
        return list(self.each(name))

    def each(self, name: str) -> Iterator[Row]:
        """Yield the rows of a large table one by one, by its key."""
        yield from self._rows(name, "", ())

    def rows(self, name: str, column: str, values: Sequence[Stored]) -> Iterable[StoredRow]:
        """Yield the rows of a table whose column has one of some values, by its key."""
        for some in _parts(values):
            yield from self._rows(name, f'WHERE "{column}" IN ({_marks(some)})', some)

    def matching(
        self, name: str, key: str, columns: Sequence[str], word: str, most: int
    ) -> list[tuple[Stored, str]]:
        """Return the key and the first text of rows in which one of some texts contains a word."""
        pattern = (
            "%" + "".join(f"\\{letter}" if letter in "\\%_" else letter for letter in word) + "%"
        )
        conditions = " OR ".join(f"\"{column}\" LIKE ? ESCAPE '\\'" for column in columns)
        return self._of_kinds(
            name, (int, str),
            f'SELECT DISTINCT "{key}", "{columns[0]}" FROM "{name}" WHERE {conditions}'  # noqa: S608
            f' ORDER BY "{key}" LIMIT ?',
            (*[pattern] * len(columns), most),
        )  # fmt: skip

    def script_names(self) -> Iterator[tuple[str, int, str]]:
        """Yield each script that a row names: the row's kind and number, and the name."""
        columns = "SELECT kind, min(id), script FROM scripts WHERE script != '' GROUP BY script"
        yield from self._of_kinds("scripts", (str, int, str), f"{columns} ORDER BY script")

    def scripts_of(self, number: int) -> list[tuple[str, int, str]]:
        """Return kind, number and script of each script of a spawn: its own, and those of places.

        The kind is `spawn`, `location` or `entry`.
        """
        return self._of_kinds(
            "scripts", (str, int, str),
            "SELECT kind, id, script FROM scripts WHERE kind = 'spawn' AND id = :spawn"
            " OR kind = 'location' AND id IN"
            " (SELECT location_id FROM entries WHERE spawn_id = :spawn)"
            " OR kind = 'entry' AND id IN (SELECT id FROM entries WHERE spawn_id = :spawn)"
            " ORDER BY kind DESC, id",
            {"spawn": number},
        )  # fmt: skip

    @property
    def is_checked(self) -> bool:
        """Whether the file passed the check of this version of the server."""
        rows = self._database.execute("SELECT form FROM checked").fetchall()
        return rows == [(check_form(),)]

    def models(self) -> Iterator[tuple[int, str, int]]:
        """Yield number, path and first client version of each model."""
        yield from self._of_kinds(
            "models", (int, str, int), "SELECT id, path, min_version FROM models ORDER BY id"
        )

    def models_of_spawns(self) -> Iterator[tuple[int, str, int]]:
        """Yield the same of the bodies of spawns that not every client has."""
        yield from self._of_kinds(
            "models", (int, str, int),
            "SELECT id, path, min_version FROM models WHERE min_version >"
            " (SELECT min(min_version) FROM models) AND id IN"
            " (SELECT model FROM spawns UNION SELECT soga_model FROM npcs) ORDER BY id",
        )  # fmt: skip

    def zones(self) -> list[Row]:
        """Return the rows of all zones, by number."""
        return self.table("zones")

    def spawn(self, number: int) -> Template | None:
        """Return a spawn by its number."""
        return self._templates([number], SharedValues()).get(number)

    def script_of(self, number: int) -> str:
        """Return the script of all spawns of a number; empty if they have none."""
        return self._scripts("spawn", {number}).get(number, "")

    def commands(self, numbers: Iterable[int]) -> dict[int, list[Row]]:
        """Return lists of verbs by number."""
        return self._lists("commands", numbers)

    def places_of(self, number: int) -> list[tuple[int, int, float]]:
        """Return zone, placement and weight of each place where a spawn can stand."""
        return self._of_kinds(
            "entries", (int, int, float),
            "SELECT zone_id, placements.id, weight FROM entries JOIN placements"
            " ON placements.location_id = entries.location_id WHERE spawn_id = ?"
            " ORDER BY zone_id, placements.id",
            (number,),
        )  # fmt: skip

    def zone_named(self, name: str) -> int | None:
        """Return the number of a zone by its number, its name, its file or its description."""
        row = self._database.execute(
            "SELECT id FROM zones WHERE id = ? OR name = ? COLLATE NOCASE"
            " OR file = ? COLLATE NOCASE OR description = ? COLLATE NOCASE ORDER BY id LIMIT 1",
            (int(name) if name.isdecimal() and len(name) < 10 else -1, name, name, name),
        ).fetchone()
        return None if row is None else int(row[0])

    def zone_content(self, zone_id: int, also: Iterable[int] = ()) -> ZoneContent | None:
        """Return everything about a zone; None if there is no such zone.

        `also` are spawns that stand there by other files than this one.
        """
        zones = list(self._rows("zones", "WHERE id = ?", (zone_id,)))
        if not zones:
            return None
        # With the table's name: SQLite would read an unknown column in quotes as a text.
        fields = ", ".join(f'placements."{name}"' for name in Placement._fields)
        rows = self._database.execute(
            f"SELECT {fields} FROM placements {_OF_ZONE} ORDER BY location_id, id",  # noqa: S608
            (zone_id,),
        )
        # Ten thousand of them: the constructor of a named tuple takes three times as long.
        known = SharedValues()
        right = self._checked("placements", Placement._fields, rows, _OF_ZONE, zone_id)
        placements = [tuple.__new__(Placement, known.values(row)) for row in right]
        locations = {one.location_id for one in placements}
        entries = self._entries(zone_id, locations, known)
        wanted = {one.spawn_id for group in entries.values() for one in group}
        # Scripts make spawns that stand nowhere; their numbers begin with their zone's.
        numbered = self._database.execute(
            "SELECT id FROM spawns WHERE id BETWEEN ? AND ?",
            (zone_id * 10_000, zone_id * 10_000 + 9_999),
        )
        wanted |= {row[0] for row in numbered} | set(also)
        templates = self._templates(sorted(wanted), known)
        transports = {one.spawn["transport"] for one in templates.values()} - {0}
        lists = {
            one.spawn[name] for one in templates.values() for name in ("commands", "more_commands")
        }
        return ZoneContent(
            zones[0],
            placements,
            entries,
            templates,
            self._groups({one.id for one in placements}),
            list(self._rows("revive_points", "WHERE zone_id = ?", (zone_id,))),
            self._areas(zone_id),
            self._lists("transporters", transports),
            list(self._rows("transporters", "WHERE zone_id = ? AND kind = 'location'", (zone_id,))),
            self._lists("commands", lists - {0}),
            self._scripts("spawn", wanted),
            self._factions(),
            self._alliances(),
        )

    # -- internals --------------------------------------------------------------------------------

    def _alliances(self) -> Mapping[int, Alliance]:
        """Return the friends and enemies of all factions: the same object for every zone."""
        if self._all_alliances is None:
            self._all_alliances = alliances_of(self.table("faction_alliances"))
        return self._all_alliances

    def _factions(self) -> Mapping[int, Row]:
        """Return all factions by number: the same object for every zone."""
        if self._all_factions is None:
            self._all_factions = {row["id"]: row for row in self.table("factions")}
        return self._all_factions

    def _count(self, name: str) -> int:
        (count,) = self._database.execute(f'SELECT count(*) FROM "{name}"').fetchone()  # noqa: S608
        return int(count)

    def _rows(self, name: str, where: str, values: Sequence[Any]) -> Iterable[StoredRow]:
        """Yield rows of a table as dicts, by its key."""
        table = content_tables()[name]
        key = ", ".join(f'"{column}"' for column in table.key)
        is_careful = self.is_careful or self._is_damaged(table, where, values)
        names = {column.name: at for at, column in enumerate(table.columns)}
        rows = self._database.execute(
            f'SELECT * FROM "{name}" {where} ORDER BY {key}',  # noqa: S608  # our names
            values,
        )
        for row in self._right(name, table.columns, rows) if is_careful else rows:
            yield StoredRow(names, row)

    def _is_damaged(self, table: Table, where: str, values: Sequence[Any]) -> bool:
        """Return whether chosen rows of a table have a wrong value."""
        if where:
            return has_wrong_rows(self._database, table, where, values)
        if table.name not in self._damaged:
            self._damaged[table.name] = has_wrong_rows(self._database, table)
        return self._damaged[table.name]

    def _checked(
        self,
        name: str,
        columns: Sequence[str],
        rows: Iterable[tuple[Any, ...]],
        where: str,
        zone: int,
    ) -> Iterable[tuple[Any, ...]]:
        """Return those rows of a zone with some columns of a table that fit."""
        if not (self.is_careful or self._is_damaged(content_tables()[name], where, (zone,))):
            return rows
        return self._right(name, _columns(name, columns), rows)

    def _right(
        self, name: str, columns: Sequence[Column], rows: Iterable[tuple[Any, ...]]
    ) -> Iterable[tuple[Any, ...]]:
        """Yield the rows of a table whose values fit its columns."""
        for row in rows:
            values = zip(columns, row, strict=True)
            wrong = next((one for one, value in values if not one.fits(value)), None)
            if wrong is None:
                yield row
            else:
                self._note(name, row, wrong.name)

    def _of_kinds(
        self, name: str, kinds: Sequence[type], statement: str, values: Any = ()
    ) -> list[Any]:
        """Return the rows of a statement whose values are of some kinds; `name` is their table."""
        found = []
        for row in self._database.execute(statement, values):
            # A whole number is a float, too: SQLite stores 1.0 in fewer bytes.
            if all(
                isinstance(value, (int, float) if kind is float else kind)
                for value, kind in zip(row, kinds, strict=True)
            ):
                found.append(row)
            else:
                self._note(name, row, "a column")
        return found

    def _note(self, name: str, row: tuple[Any, ...], column: str) -> None:
        text = f"{self.path}: table {name}, row {row[0]!r}: {column} has a wrong value"
        self.problems[text[:LONGEST_PROBLEM]] = None

    def _lists(self, name: str, ids: Iterable[int]) -> dict[int, list[Row]]:
        found: dict[int, list[Row]] = {}
        for row in self.rows(name, "list_id", sorted(ids)):
            found.setdefault(row["list_id"], []).append(row)
        return found

    def _entries(
        self, zone_id: int, locations: set[int], known: SharedValues
    ) -> dict[int, tuple[Entry, ...]]:
        rows = self._database.execute(
            "SELECT id, location_id, spawn_id, weight, condition FROM entries"  # noqa: S608
            f" {_AT_PLACES} ORDER BY location_id, id",
            (zone_id,),
        ).fetchall()
        rows = list(self._checked("entries", Entry._fields[:-1], rows, _AT_PLACES, zone_id))
        by_entry = self._scripts("entry", {row[0] for row in rows})
        by_location = self._scripts("location", locations)
        by_spawn = self._scripts("spawn", {row[2] for row in rows})
        entries: dict[int, list[Entry]] = {}
        for row in rows:
            script = by_entry.get(row[0]) or by_location.get(row[1]) or by_spawn.get(row[2]) or ""
            values = known.values((*row, script))
            entries.setdefault(values[1], []).append(tuple.__new__(Entry, values))
        # Tuples: nearly all locations have one entry, for which a list takes twice the memory.
        return {location: tuple(some) for location, some in entries.items()}

    def _scripts(self, kind: str, ids: set[int]) -> dict[int, str]:
        """Return the scripts of some entries, locations or spawns by number."""
        found: dict[int, str] = {}
        for some in _parts(sorted(ids)):
            statement = f"SELECT id, script FROM scripts WHERE kind = ? AND id IN ({_marks(some)})"  # noqa: S608
            found.update(self._of_kinds("scripts", (int, str), statement, (kind, *some)))
        return found

    def _templates(self, ids: Sequence[int], known: SharedValues) -> dict[int, Template]:
        kinds: dict[int, tuple[str, Row]] = {}
        for kind in KINDS:
            for row in known.rows(self.rows(kind, "spawn_id", ids)):
                kinds.setdefault(row["spawn_id"], (kind, row))
        appearances: dict[int, dict[str, tuple[int, int, int]]] = {}
        for row in self.rows("appearances", "spawn_id", ids):
            values = known.value((row["red"], row["green"], row["blue"]))
            appearances.setdefault(row["spawn_id"], {})[known.value(row["field"])] = values
        equipment: dict[int, list[Row]] = {}
        for row in known.rows(self.rows("equipment", "spawn_id", ids)):
            equipment.setdefault(row["spawn_id"], []).append(row)
        return {
            row["id"]: Template(
                row["id"], *_kind(kinds[row["id"]], row),
                appearances.get(row["id"], {}), equipment.get(row["id"], ()),
            )
            for row in known.rows(self.rows("spawns", "id", ids))
            if row["id"] in kinds  # one of no kind cannot stand anywhere
        }  # fmt: skip

    def _groups(self, placements: set[int]) -> list[Group]:
        members: dict[int, list[int]] = {}
        for row in self.rows("placement_groups", "placement_id", sorted(placements)):
            members.setdefault(row["group_id"], []).append(row["placement_id"])
        sets: dict[int, tuple[int, float]] = {}
        ids = sorted(members)
        for some in _parts(ids):
            statement = "SELECT group_id, set_id, weight FROM set_groups"
            statement += f" WHERE group_id IN ({_marks(some)})"
            rows = self._of_kinds("set_groups", (int, int, float), statement, some)
            sets.update({group: (set_id, weight) for group, set_id, weight in rows})
        chances = {
            row["group_id"]: row["percentage"]
            for row in self.rows("group_chances", "group_id", ids)
        }
        for one in [one for one in ids if one not in sets]:
            self.problems[f"{self.path}: table set_groups: there is no group {one}"] = None
            ids.remove(one)
        return [
            Group(one, *sets[one], tuple(members[one]), max(0.0, chances.get(one, 0.0)))
            for one in ids
        ]

    def _areas(self, zone_id: int) -> list[tuple[Row, list[Row]]]:
        areas = list(self._rows("areas", "WHERE zone_id = ?", (zone_id,)))
        points: dict[int, list[Row]] = {}
        for row in self.rows("area_points", "area_id", [area["id"] for area in areas]):
            points.setdefault(row["area_id"], []).append(row)
        return [(area, points.get(area["id"], [])) for area in areas]


def _stamp(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _parts(ids: Sequence[Stored]) -> Iterable[Sequence[Stored]]:
    """Yield ids in groups that one statement can take."""
    for start in range(0, len(ids), MOST_MARKS):
        yield ids[start : start + MOST_MARKS]


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))


def _columns(name: str, wanted: Sequence[str]) -> list[Column]:
    """Return some columns of a table in the order of their names."""
    columns = {column.name: column for column in content_tables()[name].columns}
    return [columns[one] for one in wanted]


def _kind(kind: tuple[str, Row], spawn: Row) -> tuple[str, Row, Row]:
    return kind[0], spawn, kind[1]


def zone_of(path: Path, zone_id: int) -> ZoneContent | None:
    """Open a content file, read one zone, and close it: one job of a thread."""
    with closing(ContentFile(path)) as file:
        return file.zone_content(zone_id)
