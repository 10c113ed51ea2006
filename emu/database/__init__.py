"""SQLite files: made, opened, checked, brought up to date, and one way to tell what fails.

`Database` is an open file and its transactions. What is in the tables belongs to whoever has a
`Schema`: `emu.store` and `emu.opcodes`, which may share a file.
"""

from emu.database.database import Database
from emu.database.errors import LOCK_WAIT, explained, readable_errors
from emu.database.files import check_version
from emu.database.migrations import Schema, Step, in_user_version, read_steps

__all__ = [
    "LOCK_WAIT",
    "Database",
    "Schema",
    "Step",
    "check_version",
    "explained",
    "in_user_version",
    "read_steps",
    "readable_errors",
]
