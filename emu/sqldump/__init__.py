"""Rows of MySQL and MariaDB: SQL dumps, live databases, values, and the report of an import.

The package reads a dump and never executes it, and it changes nothing in a live database. The
importing package knows what the rows mean.
"""

from __future__ import annotations

from emu.sqldump.dump import Dump, RowSource
from emu.sqldump.live import LiveDatabase
from emu.sqldump.reader import InsertRow, read_inserts
from emu.sqldump.report import ImportReport, Tally
from emu.sqldump.source import Source
from emu.sqldump.tokens import Value

__all__ = [
    "Dump",
    "ImportReport",
    "InsertRow",
    "LiveDatabase",
    "RowSource",
    "Source",
    "Tally",
    "Value",
    "read_inserts",
]
