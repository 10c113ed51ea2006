"""The tables of a content file, as ``data/content/tables.toml`` declares them."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from emu.errors import FileFormatError
from emu.files import data_file
from emu.sqldump.reader import Value

Stored = str | int | float
"""A value of the content file."""

_COLUMN: Final = re.compile(
    r"(int|float|text|flag|word)(?: (\w+))?(?: (-?[\d.]+)\.\.(-?[\d.]+))?(?: =(-?[\d.]+))?"
)
_LOWEST: Final = -(2**63)
_HIGHEST: Final = 2**63 - 1
_SQL_TYPES: Final = {
    "int": "INTEGER", "flag": "INTEGER", "float": "REAL", "text": "TEXT", "word": "TEXT",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name here and in the dump, its kind, its range and its default."""

    name: str
    source: str
    kind: str
    low: float
    high: float
    default: Stored

    def convert(self, value: Value) -> Stored | None:
        """Return a value of a dump as it is stored; None if it does not fit the column."""
        if self.kind in ("text", "word"):
            return self._text(value)
        number = _number(value)
        if number is None or not self.low <= number <= self.high:
            return None
        if self.kind == "float":
            return float(number)
        return int(bool(number)) if self.kind == "flag" else int(number)

    def _text(self, value: Value) -> str | None:
        if value is None:
            return None
        text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
        # Texts are shown by clients; a NUL would end one there, and PostgreSQL refuses it.
        text = text.replace("\0", "").strip()
        return text.lower() if self.kind == "word" else text


@dataclass(frozen=True, slots=True)
class Table:
    """One table of the content file."""

    name: str
    source: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    last: bool
    """Whether the last of several rows with one key counts; else the first does."""

    def create(self) -> str:
        """Return the statement that creates the table, clustered by its key."""
        columns = ", ".join(
            f'"{column.name}" {_SQL_TYPES[column.kind]} NOT NULL' for column in self.columns
        )
        key = ", ".join(f'"{name}"' for name in self.key)
        return f'CREATE TABLE "{self.name}" ({columns}, PRIMARY KEY ({key})) STRICT, WITHOUT ROWID'

    def insert(self) -> str:
        """Return the statement that inserts a row, in the order of the columns."""
        word = "REPLACE" if self.last else "IGNORE"
        marks = ", ".join("?" * len(self.columns))
        return f'INSERT OR {word} INTO "{self.name}" VALUES ({marks})'  # noqa: S608  # our names

    def converter(self, columns: Sequence[str]) -> RowConverter:
        """Return what turns rows of a dump with these columns into rows of this table."""
        return RowConverter(self, columns)


class RowConverter:
    """Turns rows of one dump into rows of one table, and counts what does not fit."""

    def __init__(self, table: Table, columns: Sequence[str]) -> None:
        places = {name.lower(): at for at, name in enumerate(columns)}
        self._steps: list[tuple[int | None, Column, bool]] = [
            (places.get(column.source), column, column.name in table.key)
            for column in table.columns
        ]
        self.missing = [column.source for column in table.columns if column.source not in places]
        """The columns that the dump does not have."""

    def convert(
        self, values: Sequence[Value], report: Callable[[str], object]
    ) -> tuple[Stored, ...] | None:
        """Return a row, or None if its key is unusable.

        `report` gets the reason for each value that is replaced by its default.
        """
        row: list[Stored] = []
        for place, column, is_key in self._steps:
            value = None if place is None else values[place]
            stored = column.convert(value)
            if stored is None:
                if is_key:
                    report(f"{column.name} is no usable number")
                    return None
                if value is not None:
                    report(f"{column.name} is out of its range: the default is taken")
                stored = column.default
            row.append(stored)
        return tuple(row)


def _number(value: Value) -> int | float | None:
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, float) and math.isfinite(value):
        return value
    return None


@cache
def content_tables() -> Mapping[str, Table]:
    """Return the declared tables by name. Raises `FileFormatError`."""
    path = data_file("content", "tables.toml")
    declared = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: _table(name, values) for name, values in declared.items()}


def _table(name: str, values: Mapping[str, Any]) -> Table:
    columns = tuple(_column(name, key, text) for key, text in values["columns"].items())
    return Table(name, values["from"], tuple(values["key"]), columns, values.get("last", False))


def _column(table: str, name: str, text: str) -> Column:
    found = _COLUMN.fullmatch(text)
    if found is None:
        raise FileFormatError(f"{table}.{name}: {text!r} declares no column")
    kind, source, low, high, default = found.groups()
    is_text = kind in ("text", "word")
    number: Stored = "" if is_text else float(default or 0)
    if not is_text and kind != "float":
        number = int(number)
    return Column(
        name, source or name, kind, float(low) if low else _LOWEST,
        float(high) if high else _HIGHEST, number,
    )  # fmt: skip
