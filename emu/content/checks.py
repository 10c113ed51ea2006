"""The checks of a content file: dangling references, and values outside of their ranges.

An import checks once; a server trusts the file. So the file has the number of the check that it
passed, and a server whose tables declare other ranges or references asks for `emu content check`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

from emu.content.damage import decoded, is_wrong, wrong_texts
from emu.content.tables import Column, Table, content_tables
from emu.errors import FileFormatError

SCRIPTS: Final = ("zones", "spawn_scripts", "spells", "quests", "items")
"""Tables whose column `script` names a file of the folder of scripts."""


_KINDS: Final = ("npcs", "objects", "grounds", "signs", "widgets")
_ODD: Final = (
    ("spawns", "it is of no kind, so it never stands",
     " AND ".join(f"id NOT IN (SELECT spawn_id FROM {one})" for one in _KINDS)),  # noqa: S608
    ("grounds", "it has no table of harvests", "ground_id = 0"),
    ("quest_details", "it names no faction", "subject = 'faction' AND faction_id = 0"),
    ("signs", "it leads to no zone", "kind = 'zone' AND to_zone = 0"),
    ("spells", "it is active and has no tier, so nobody can cast it",
     "is_active AND id NOT IN (SELECT spell_id FROM spell_tiers)"),
)  # fmt: skip
"""Rows that are right and of little use, by the condition of their table."""


class LeftOut(NamedTuple):
    """One row that is not used, or one value that was replaced by its default."""

    table: str
    reason: str
    key: str
    """The values of the table's key, in its order."""


RULES: Final = 1
"""The version of the rules that are code and not declared; raise it when they change."""


@cache
def check_form() -> int:
    """Return the number of the check: it changes with the ranges and references of the tables."""
    declared = [str(RULES)]
    declared += [
        repr((table.name, table.columns, table.references)) for table in content_tables().values()
    ]
    return crc32("\n".join(declared).encode()) & 0x7FFFFFFF


def dangling_rows(database: sqlite3.Connection) -> Iterator[LeftOut]:
    """Yield the dangling references; they stay in the file and are never used.

    A table that is empty is in no dump, so what refers to it is not checked.
    """
    filled = {name for name in content_tables() if is_filled(database, name)}
    for table in content_tables().values():
        for reference in table.references:
            if reference.table in filled and table.name in filled:
                for (key,) in database.execute(reference.dangling(table)):
                    yield LeftOut(table.name, reference.reason, str(key))


def odd_rows(database: sqlite3.Connection) -> Iterator[LeftOut]:
    """Yield the rows that are right, but of which something is missing that players would see."""
    for name, reason, condition in _ODD:
        key = _key(content_tables()[name])
        for (number,) in database.execute(f'SELECT {key} FROM "{name}" WHERE {condition}'):  # noqa: S608
            yield LeftOut(name, reason, str(number))


def is_filled(database: sqlite3.Connection, table: str, condition: str = "TRUE") -> bool:
    """Return whether a table has a row, for which a condition is true."""
    found = database.execute(
        f'SELECT EXISTS (SELECT 1 FROM "{table}" WHERE {condition})'  # noqa: S608  # our names
    ).fetchone()
    return bool(found[0])


def missing_scripts(
    database: sqlite3.Connection, find: Callable[[str], str | None]
) -> Iterator[LeftOut]:
    """Yield the rows that name a script that does not exist.

    `find` returns the file for a name, compared exactly, without blanks around it and without
    regard to case; None if there is none.
    """
    for name in SCRIPTS:
        table = content_tables()[name]
        key = _key(table)
        rows = database.execute(
            f"SELECT {key}, script FROM \"{name}\" WHERE script <> ''"  # noqa: S608  # our names
        )
        for number, script in rows:
            if find(script) is None:
                yield LeftOut(name, "there is no such script", f"{number} {script}")


def wrong_values(path: Path) -> list[LeftOut]:
    """Return the values of a content file that are outside of the declared ranges.

    An import of the same version leaves none: the file was made by another version, or was changed.
    """
    with closing(_opened(path)) as database:
        found = [
            LeftOut(table.name, f"{column.name} is out of its range", str(key))
            for table in content_tables().values()
            # Most files have none: one question to a table, and not one for each column.
            if is_filled(database, table.name, " OR ".join(map(_outside, table.columns)))
            for column in table.columns
            for (key,) in database.execute(
                f'SELECT {_key(table)} FROM "{table.name}" WHERE {_outside(column)}'  # noqa: S608
            )
        ]
        database.text_factory = bytes
        for table in content_tables().values():
            found += [
                LeftOut(table.name, f"{column} is not UTF-8", key)
                for key, column in wrong_texts(database, table)
            ]
    return found


def loose_rows(path: Path) -> list[LeftOut]:
    """Return the dangling references of a content file, and its incomplete rows."""
    with closing(_opened(path)) as database:
        return [*dangling_rows(database), *odd_rows(database)]


def accept(path: Path) -> None:
    """Note in a content file that it passed the check of this version. Raises `FileFormatError`."""
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute("UPDATE checked SET form = ?", (check_form(),))
    except sqlite3.Error as error:
        raise FileFormatError(f"{path}: cannot be written ({error})") from error


def _opened(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(read_only(path), uri=True)
    database.text_factory = decoded
    return database


def _outside(column: Column) -> str:
    """Return the condition of a value that does not fit its column, or is not a flag."""
    wrong = is_wrong(column)
    return f'{wrong} OR "{column.name}" NOT IN (0, 1)' if column.kind == "flag" else wrong


def _key(table: Table) -> str:
    return " || ' ' || ".join(f'"{name}"' for name in table.key)


def read_only(path: Path) -> str:
    """Return the URI by which SQLite opens a content file for reading, whatever its name has."""
    return f"{path.absolute().as_uri()}?mode=ro"


def keys_path(target: Path) -> Path:
    """Return the path of the file with the keys of all rows that an import left out."""
    return target.with_name(f"{target.name}.left-out.tsv")
