"""SQL dumps of MySQL and MariaDB: their rows, the values in them, and what an import tells.

Reads and never executes. What rows mean belongs to whoever imports them.
"""

from __future__ import annotations

from emu.sqldump.reader import InsertRow, Value, read_inserts
from emu.sqldump.report import ImportReport, Tally
from emu.sqldump.source import Source

__all__ = ["ImportReport", "InsertRow", "Source", "Tally", "Value", "read_inserts"]
