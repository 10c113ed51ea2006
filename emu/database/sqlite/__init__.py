"""SQLite files: creation, opening, checks, migrations, and one form of error.

`SqliteDatabase` is an open file and its transactions. The tables belong to the packages with a
`Schema`: `emu.store` and `emu.opcodes`, which may share a file.
"""

from emu.database.sqlite.database import SqliteDatabase
from emu.database.sqlite.files import LOCK_WAIT, check_version, explained, readable_errors
from emu.database.sqlite.migrations import Schema, in_user_version

__all__ = [
    "LOCK_WAIT",
    "Schema",
    "SqliteDatabase",
    "check_version",
    "explained",
    "in_user_version",
    "readable_errors",
]
