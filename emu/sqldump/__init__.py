"""SQL dumps of MySQL and MariaDB: rows, values, and the report of an import.

The package reads a dump and never executes it. The importing package knows what the rows mean.
"""

from __future__ import annotations

from emu.sqldump.dump import Dump
from emu.sqldump.reader import InsertRow, Value, read_inserts
from emu.sqldump.report import ImportReport, Tally
from emu.sqldump.source import Source

__all__ = ["Dump", "ImportReport", "InsertRow", "Source", "Tally", "Value", "read_inserts"]
