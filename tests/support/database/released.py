"""Databases of earlier schemas: that of the first release with rows, and those before a step."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from emu.database import Where
from emu.database.engines import Schemas, create_database
from emu.database.sqlite import in_user_version
from emu.database.steps import Migration, read_steps
from emu.files import data_file
from emu.store.repository import FIRST_ON_SERVERS
from tests.support.database.engines import empty_database

DUMP = Path(__file__).parents[2] / "vectors" / "released-store.sql"
SCHEMA = 5
"""The number of that schema."""
CHARACTER = (
    "INSERT INTO world_characters (id, account_id, name, name_key, coins, deleted, race, class,"
    " gender, deity, level, starting_zone, zone_id, client_version, created)"
    " VALUES (?, 1, ?, ?, ?, ?, 0, 0, 0, 0, 1, 1, 1, 546, 0.0)"
)
"""Adds a character: id, name, key of the name, coins, whether it is deleted."""


def released_database(path: Path) -> Path:
    """Make the file, as that program had left it when it was stopped."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(DUMP.read_text(encoding="utf-8"))
        connection.execute("PRAGMA journal_mode = WAL")
    return path


def _before(folder: str, name: str, first: int = 1) -> tuple[Migration, ...]:
    """Return the migrations before the one whose name ends so."""
    steps = read_steps(data_file("sql", folder), first)
    return steps[: next(place for place, one in enumerate(steps) if one.name.endswith(name))]


@contextmanager
def database_before(
    name: str, engine: str, folder: Path, fill: Callable[[Any], object]
) -> Iterator[Where]:
    """Make a database as it was before a migration whose name ends so, and let `fill` add rows.

    `engine` is `sqlite`, with a file in the folder, or `postgresql`.
    """
    older = Schemas(
        in_user_version(_before("store", name)),
        _before("store-postgresql", name, FIRST_ON_SERVERS),
    )
    with ExitStack() as stack:
        where: Where = folder / "emu.sqlite"
        if engine == "postgresql":
            where = stack.enter_context(empty_database())
        with create_database(where, older) as database, database.transaction() as connection:
            fill(connection)
        yield where
