"""One dump file that an import reads several times, each time for some of its tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from emu.errors import FileFormatError
from emu.sqldump.reader import InsertRow, read_inserts


class Dump:
    """A dump file; errors and notes name it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tables: set[str] = set()
        """Names of the tables that the dump defines or fills, in lower case, as far as it was
        read."""

    def read(self, tables: Collection[str]) -> Iterator[InsertRow]:
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
