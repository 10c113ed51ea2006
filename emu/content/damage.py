"""Rows of a damaged content file: values that no import could have written.

SQLite refuses such values, but a damaged disk, or a program that changed the schema, does not ask.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Final

from emu.content.tables import Column, Table, content_tables

DAMAGE: Final = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, sqlite3.Error)
"""Exceptions that reading a damaged content file raises."""
_TYPES: Final = {
    "int": "('integer')", "flag": "('integer')", "float": "('real', 'integer')",
    "text": "('text')", "word": "('text')",
}  # fmt: skip


def decoded(text: bytes) -> str:
    """Return a stored text; bytes of a damaged file that are no text become marks."""
    return text.decode("utf-8", "replace")


def is_wrong(column: Column) -> str:
    """Return the SQL condition of a value that does not fit its column."""
    wrong = f'typeof("{column.name}") NOT IN {_TYPES[column.kind]}'
    if column.kind in ("int", "float") and (column.has_range or column.kind == "float"):
        # Also without a range of its own: a float may be infinite.
        wrong += (
            f' OR ("{column.name}" NOT BETWEEN {column.low} AND {column.high}'
            f' AND "{column.name}" <> {column.default})'
        )
    return wrong


def has_wrong_rows(
    database: sqlite3.Connection,
    table: Table,
    where: str = "WHERE TRUE",
    values: Sequence[object] = (),
) -> bool:
    """Return whether a row of a table has a value that does not fit its column.

    `where` and its `values` select the rows that count. SQLite compares without holding Python's
    lock, and in a part of the time that reading the rows takes.
    """
    found = database.execute(
        f'SELECT EXISTS (SELECT 1 FROM "{table.name}" {where} AND ({_wrong_row(table.name)}))',  # noqa: S608
        values,
    ).fetchone()
    return bool(found[0])


@cache
def _wrong_row(name: str) -> str:
    """Return the SQL condition of a row with a wrong value."""
    return " OR ".join(is_wrong(column) for column in content_tables()[name].columns)


def wrong_texts(database: sqlite3.Connection, table: Table) -> Iterator[tuple[str, str]]:
    """Yield the key and the column of each text of a table that is not UTF-8.

    The connection's texts are bytes.
    """
    names = [column.name for column in table.columns if column.kind in ("text", "word")]
    if not names:
        return
    columns = ", ".join(f'"{name}"' for name in names)
    # Most texts are ASCII, and SQLite finds the others faster than a loop here.
    others = " OR ".join(f"\"{name}\" GLOB '*[^ -~]*'" for name in names)
    key = " || ' ' || ".join(f'"{name}"' for name in table.key)
    rows = database.execute(f'SELECT {key}, {columns} FROM "{table.name}" WHERE {others}')  # noqa: S608
    for number, *texts in rows:
        for name, text in zip(names, texts, strict=True):
            if isinstance(text, bytes) and not _is_text(text):
                yield decoded(number) if isinstance(number, bytes) else str(number), name


def damaged_tables(database: sqlite3.Connection, names: Collection[str]) -> set[str]:
    """Return those of some tables that have a wrong value; the connection's texts are bytes."""
    return {
        name
        for name in names
        if name not in content_tables()
        or has_wrong_rows(database, content_tables()[name])
        or any(True for _ in wrong_texts(database, content_tables()[name]))
    }


def _is_text(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
