"""A source of rows that an import reads several times, each time for some of its tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Protocol

from emu.errors import EmuError, FileFormatError
from emu.sqldump.reader import InsertRow, read_inserts


class RowSource(Protocol):
    """A database of EQ2Emulator: a dump of it, or the live one (`emu.sqldump.live`)."""

    tables: set[str]
    """Names of the tables that the source has, in lower case, as far as it was read."""

    @property
    def name(self) -> str:
        """A short name for notes about single rows."""

    def read_rows(self, tables: Collection[str]) -> Iterator[InsertRow]:
        """Yield the rows of some tables, whose columns have names; each call starts anew."""

    def error(self, text: str) -> EmuError:
        """Return an error that names the source."""


class Dump:
    """A dump file; errors and notes name it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tables: set[str] = set()

    def __str__(self) -> str:
        return str(self.path)

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return self.path.name

    def read_rows(self, tables: Collection[str]) -> Iterator[InsertRow]:
        """Yield the rows of some tables. Raises `FileFormatError`, also for unnamed columns."""
        for row in read_inserts(self.path, tables, self.tables):
            if row.columns is None:
                raise self.error(
                    f"line {row.line}: the columns of {row.table} have no names; dump the table"
                    " definitions too (without --no-create-info), or use --complete-insert"
                )
            yield row

    def error(self, text: str) -> FileFormatError:
        """Return an error that names the file."""
        return FileFormatError(f"{self.path}: {text}")
