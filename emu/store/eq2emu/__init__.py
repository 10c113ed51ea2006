"""Taking over what a dump of EQ2Emulator's login database holds.

`dump` runs an import; `logins` and `characters` know what becomes of each table's rows. Reading
SQL, and what is told of it all, is `emu.sqldump`.
"""

from emu.sqldump.report import ImportReport, Tally
from emu.store.eq2emu.dump import TABLES, import_dump

__all__ = ["TABLES", "ImportReport", "Tally", "import_dump"]
