"""Damages of a content file that SQLite itself would refuse."""

import sqlite3
from contextlib import closing
from pathlib import Path


def loosen(path: Path) -> None:
    """Let a file take every value, as a damaged disk does not ask either."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA writable_schema = ON")
        database.execute(
            "UPDATE sqlite_schema SET sql = replace(replace(sql, 'STRICT, ', ''), 'NOT NULL', '')"
        )


def damage(path: Path, *statements: str) -> Path:
    """Change a file that was loosened, or loosen it; return its path."""
    loosen(path)
    with closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            database.execute(statement)
    return path
