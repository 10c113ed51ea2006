"""Taking over what a dump of EQ2Emulator's login database holds.

`dump` runs an import; `logins` and `characters` know what becomes of each table's rows, `columns`
how their values are read, `report` what is told of it all. Reading SQL is `emu.sqldump`.
"""

from emu.store.eq2emu.dump import TABLES, import_dump
from emu.store.eq2emu.report import ImportReport, Tally

__all__ = ["TABLES", "ImportReport", "Tally", "import_dump"]
