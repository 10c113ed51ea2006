"""The regions of zones in a content file: an import of maps stores them, a server reads them."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from emu.content.checks import read_only
from emu.content.damage import decoded
from emu.errors import FileFormatError
from emu.ground.importing import RegionSource
from emu.ground.map_names import MapName
from emu.ground.region_nodes import unpack_nodes
from emu.ground.regions import Region

TABLES: Final = (
    (
        "CREATE TABLE region_files (map TEXT NOT NULL, low INTEGER NOT NULL, high INTEGER NOT NULL,"
        " digest TEXT NOT NULL, PRIMARY KEY (map, low, high)) WITHOUT ROWID"
    ),
    (
        "CREATE TABLE regions (map TEXT NOT NULL, low INTEGER NOT NULL, high INTEGER NOT NULL,"
        " position INTEGER NOT NULL, number INTEGER NOT NULL, kind INTEGER NOT NULL,"
        " x REAL NOT NULL, y REAL NOT NULL, z REAL NOT NULL, radius REAL NOT NULL,"
        " environment TEXT NOT NULL, file TEXT NOT NULL, grid INTEGER NOT NULL,"
        " nodes BLOB NOT NULL, PRIMARY KEY (map, low, high, position)) WITHOUT ROWID"
    ),
)
FILES: Final = "SELECT map, low, high, digest FROM region_files ORDER BY map, low, high"
"""The statement for the region files with their digests."""


def store_regions(database: sqlite3.Connection, found: Mapping[MapName, RegionSource]) -> None:
    """Store the regions of region files."""
    for name, source in found.items():
        database.execute("INSERT INTO region_files VALUES (?, ?, ?, ?)", (*name, source.digest))
        rows = [
            (
                *name, position, one.number, one.kind, *one.place, one.radius,
                one.environment, one.file, one.grid, one.pack(),
            )
            for position, one in enumerate(source.regions)
        ]  # fmt: skip
        marks = ", ".join("?" * 14)
        database.executemany(f"INSERT INTO regions VALUES ({marks})", rows)  # noqa: S608


def copy_regions(database: sqlite3.Connection, names: Collection[MapName] | None = None) -> None:
    """Copy regions from the attached database `old`: those of some files, or all."""
    for table in ("region_files", "regions"):
        into = f"INSERT OR IGNORE INTO main.{table} SELECT * FROM old.{table}"  # noqa: S608
        if names is None:
            database.execute(into)
        else:
            database.executemany(f"{into} WHERE map = ? AND low = ? AND high = ?", names)


def region_counts(path: Path) -> dict[MapName, int]:
    """Return the number of regions of each region file. Raises `FileFormatError`."""
    rows = _rows(
        path,
        "SELECT map, low, high, (SELECT count(*) FROM regions one WHERE one.map = file.map"
        " AND one.low = file.low AND one.high = file.high) FROM region_files file",
        (),
    )
    return {MapName(*row[:3]): row[3] for row in rows}


def region_digests(path: Path) -> dict[MapName, str]:
    """Return the digest of each region file. Raises `FileFormatError`."""
    return {MapName(*row[:3]): row[3] for row in _rows(path, FILES, ())}


def regions_of(path: Path, zone: str) -> dict[MapName, list[Region]]:
    """Return the regions of a zone file, one list for each range of client versions.

    Raises `FileFormatError` for a damaged file.
    """
    found: dict[MapName, list[Region]] = {}
    for row in _rows(
        path,
        "SELECT map, low, high, number, kind, x, y, z, radius, environment, file, grid, nodes"
        " FROM regions WHERE map = ? ORDER BY map, low, high, position",
        (zone.lower(),),
    ):
        name, (number, kind, x, y, z, radius, environment, file, grid, nodes) = row[:3], row[3:]
        try:
            region = Region(
                number, kind, (x, y, z), radius, environment, file, grid, unpack_nodes(nodes)
            )
        except (FileFormatError, TypeError) as error:
            raise FileFormatError(f"{path}: table regions, {zone}: {error}") from error
        found.setdefault(MapName(*name), []).append(region)
    return found


def _rows(path: Path, statement: str, values: tuple[str, ...]) -> list[tuple[Any, ...]]:
    try:
        with closing(sqlite3.connect(read_only(path), uri=True)) as database:
            database.text_factory = decoded
            return database.execute(statement, values).fetchall()
    except sqlite3.Error as error:
        raise FileFormatError(f"{path}: its regions cannot be read ({error})") from error
