"""The tables of a content file, as ``data/content/tables.toml`` declares them."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from emu.errors import FileFormatError
from emu.files import data_file
from emu.sqldump.tokens import Value

Stored = str | int | float
"""A value of the content file."""

_COLUMN: Final = re.compile(
    r"(int|float|text|flag|word)(?: (\w+))?(?: (-?[\d.]+)\.\.(-?[\d.]+))?(?: =(-?[\d.]+))?"
)
_REFERENCE: Final = re.compile(r"(\w+)\.(\w+)(?:: (.+))?")
_LOWEST: Final = -(2**63)
_HIGHEST: Final = 2**63 - 1
NUMBER: Final = "id"
"""The column with the dump's own number of a row, which the database counts up."""
_TEXTS: Final = frozenset(("text", "word"))
MOST_REMEMBERED: Final = 4096
"""Values of one column that a converter remembers."""
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

    @property
    def has_range(self) -> bool:
        """Whether its values have limits of their own."""
        return self.low != _LOWEST or self.high != _HIGHEST

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

    def fits(self, value: object) -> bool:
        """Return whether a stored value is one that an import could have written."""
        if not self.is_kind(type(value)):
            return False
        if not isinstance(value, int | float):
            return True
        return self.low <= value <= self.high or value == self.default

    def is_kind(self, kind: type) -> bool:
        """Return whether values of a type can be stored in the column."""
        if self.kind in _TEXTS:
            return kind is str
        # A whole number is a float, too: SQLite stores 1.0 in fewer bytes.
        return kind is int or (kind is float and self.kind == "float")

    def _text(self, value: Value) -> str | None:
        if value is None:
            return None
        text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
        # Texts are shown by clients; a NUL would end one there, and PostgreSQL refuses it.
        text = text.replace("\0", "").strip()
        return text.lower() if self.kind == "word" else text


class Reference(NamedTuple):
    """A column whose values are keys of another table; 0 and less name no row."""

    column: str
    table: str
    key: str
    reason: str
    """The reason of a dangling reference in the report."""

    def dangling(self, table: Table) -> str:
        """Return the statement that selects the keys of a table's dangling references."""
        key = " || ' ' || ".join(f'"{name}"' for name in table.key)
        return (
            f'SELECT {key} FROM "{table.name}" WHERE "{self.column}" > 0'  # noqa: S608  # our names
            f' AND "{self.column}" NOT IN (SELECT "{self.key}" FROM "{self.table}")'
        )


@dataclass(frozen=True, slots=True)
class Table:
    """One table of the content file."""

    name: str
    source: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    last: bool
    """Whether the last of several rows with one key counts; else the first does."""
    references: tuple[Reference, ...] = ()

    @property
    def has_number(self) -> bool:
        """Whether the dump's own number of a row is part of the key, so that no key repeats."""
        return self.number_at is not None

    @property
    def number_at(self) -> int | None:
        """The place of that number's column; None without one."""
        places = (
            at for at, column in enumerate(self.columns)
            if column.name in self.key and column.source == NUMBER
        )  # fmt: skip
        return next(places, None)

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


class _Refused:
    """Stands for a value that does not fit its column."""


_REFUSED: Final = _Refused()


class _Converted(dict[Value, "Stored | _Refused"]):
    """The values of one column as they are stored; it remembers some, since most values repeat."""

    def __init__(self, column: Column, is_key: bool) -> None:
        self._column = column
        # Without a value the default is no loss and is not counted; a key has no default.
        self._nothing: Stored | _Refused = _REFUSED if is_key else column.default

    def __missing__(self, value: Value) -> Stored | _Refused:
        stored = self._column.convert(value)
        if stored is None:
            return self._nothing if value is None else _REFUSED
        if len(self) < MOST_REMEMBERED:
            self[value] = stored
        return stored


class _Texts(_Converted):
    """The same for texts: they remember nothing, since 1 and 1.0 are equal and differ as texts."""

    def __getitem__(self, value: Value) -> Stored | _Refused:
        return self.__missing__(value)


class RowConverter:
    """Turns rows of one dump into rows of one table, and counts what does not fit."""

    def __init__(self, table: Table, columns: Sequence[str]) -> None:
        places = {name.lower(): at for at, name in enumerate(columns)}
        self.lacks_number = table.has_number and NUMBER not in places
        """Whether the rows name no number of their own, and `convert` gets it."""
        if self.lacks_number:
            # What is missing is one behind the last, and this number is behind that.
            places[NUMBER] = len(columns) + 1
        self._columns = table.columns
        self._keys = frozenset(table.key)
        self._steps: list[tuple[_Converted, int]] = [
            (
                (_Texts if column.kind in _TEXTS else _Converted)(column, column.name in table.key),
                # A column that the dump does not have is one behind the last.
                places.get(column.source, len(columns)),
            )
            for column in table.columns
        ]
        names = [column.name for column in table.columns]
        # The dump's own number is unique; other keys can repeat.
        self._key = None if table.has_number else [names.index(name) for name in table.key]
        self._known: set[int] = set()
        self._repeated = (
            "a later row has the same key" if table.last else "an earlier row has the same key"
        )
        self.missing = [column.source for column in table.columns if column.source not in places]
        """The columns that the dump does not have."""

    def convert(
        self, values: tuple[Value, ...], report: Callable[[str, str], object], number: int = 0
    ) -> tuple[Stored, ...] | None:
        """Return a row, or None if its key is unusable.

        `report` gets the reason for each value that is replaced by its default, and for a key that
        an earlier row has; and the key of the row. `number` is that of a row which names none.
        """
        values = (*values, None, number)
        row = tuple([step[values[place]] for step, place in self._steps])
        stored = (
            self._with_defaults(row, values, report)
            if _REFUSED in row
            else cast("tuple[Stored, ...]", row)
        )
        if self._key is not None and stored is not None:
            self._note_repetition([stored[at] for at in self._key], report)
        return stored

    def _note_repetition(self, key: list[Stored], report: Callable[[str, str], object]) -> None:
        """Report a key that an earlier row of the dump has, of which only one row stays."""
        # A set of the keys themselves would take several times the memory.
        mark = hash(tuple(key))
        if mark in self._known:
            report(self._repeated, " ".join(map(str, key)))
        self._known.add(mark)

    def _with_defaults(
        self,
        row: Sequence[Stored | _Refused],
        values: Sequence[Value],
        report: Callable[[str, str], object],
    ) -> tuple[Stored, ...] | None:
        """Return the row with defaults for what does not fit; None without a usable key."""
        names = [column.name for column in self._columns]
        raw = {name: values[place] for name, (_, place) in zip(names, self._steps, strict=True)}
        key = " ".join(str(raw[name]) for name in names if name in self._keys)
        usable: list[Stored] = []
        for column, value in zip(self._columns, row, strict=True):
            if not isinstance(value, _Refused):
                usable.append(value)
                continue
            if column.name in self._keys:
                report(f"{column.name} is no usable number", key)
                return None
            report(f"{column.name} is out of its range: the default is taken", key)
            usable.append(column.default)
        return tuple(usable)


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
    """Return the declared tables by name: those of all files. Raises `FileFormatError`."""
    tables: dict[str, Table] = {}
    for path in sorted(data_file("content").glob("*.toml"), key=_order):
        declared = tomllib.loads(path.read_text(encoding="utf-8"))
        for name, values in declared.items():
            if name in tables:
                raise FileFormatError(f"{path}: {name} is declared twice")
            tables[name] = _table(name, values)
    return tables


def _order(path: Path) -> tuple[bool, str]:
    """Zones and spawns come first, since operators look for them first."""
    return path.name != "tables.toml", path.name


def _table(name: str, values: Mapping[str, Any]) -> Table:
    columns = tuple(_column(name, key, text) for key, text in values["columns"].items())
    references = tuple(
        _reference(name, key, text) for key, text in values.get("references", {}).items()
    )
    last = values.get("last", False)
    return Table(name, values["from"], tuple(values["key"]), columns, last, references)


def _reference(table: str, column: str, text: str) -> Reference:
    found = _REFERENCE.fullmatch(text)
    if found is None:
        raise FileFormatError(f"{table}.{column}: {text!r} names no column of a table")
    other, key, reason = found.groups()
    return Reference(column, other, key, reason or f"its {column} is not in {other}")


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
