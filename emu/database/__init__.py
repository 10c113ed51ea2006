"""SQLite files: creation, opening, checks, migrations, and one form of error.

`Database` is an open file and its transactions. The tables belong to the packages with a `Schema`:
`emu.store` and `emu.opcodes`, which may share a file.
"""

from emu.database.database import Database
from emu.database.files import LOCK_WAIT, check_version, explained, readable_errors
from emu.database.migrations import Migration, Schema, in_user_version, read_steps

__all__ = [
    "LOCK_WAIT",
    "Database",
    "Migration",
    "Schema",
    "check_version",
    "explained",
    "in_user_version",
    "read_steps",
    "readable_errors",
]
