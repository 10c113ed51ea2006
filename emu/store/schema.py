"""The schema of what must outlive a restart, but for the opcode tables."""

from __future__ import annotations

from functools import cache

from emu.database import Schema, in_user_version, read_steps
from emu.resources import data_file


@cache
def schema() -> Schema:
    """Return the steps under ``data/sql/store``; the last one's number is this program's."""
    return in_user_version(read_steps(data_file("sql", "store")))
