"""Databases: the same transactions and statements over several engines, and one form of error.

`Database` is an open database; `emu.database.sqlite` and `emu.database.postgresql` implement it. No
engine's driver is imported before a database of that engine is opened, besides SQLite's.
"""

from emu.database.database import Database
from emu.database.dialect import Connection, Cursor, Kind, SqlDialect
from emu.database.steps import Migration, read_steps
from emu.database.where import ServerUrl, Where

__all__ = [
    "Connection",
    "Cursor",
    "Database",
    "Kind",
    "Migration",
    "ServerUrl",
    "SqlDialect",
    "Where",
    "read_steps",
]
