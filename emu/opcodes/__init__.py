"""Opcode numbers of every client version: tables, CSV text, SQLite database, and checks.

`OpcodeTables` is an immutable snapshot with an `OpcodeTable` for each client version.
`shipped_tables` returns those of the CSV files under ``opcodes/``. `OpcodeStore` keeps rows and
their history in SQLite. It is imported at its first use, so that clients of the tables do not
import sqlite3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emu.opcodes.table import OpcodeRow, OpcodeTable, OpcodeTables, VersionRange
from emu.opcodes.text import shipped_tables

if TYPE_CHECKING:
    from emu.opcodes.store import OpcodeStore

__all__ = [
    "OpcodeRow",
    "OpcodeStore",
    "OpcodeTable",
    "OpcodeTables",
    "VersionRange",
    "shipped_tables",
]


def __getattr__(name: str) -> Any:
    if name == "OpcodeStore":
        from emu.opcodes.store import OpcodeStore  # noqa: PLC0415  # brings sqlite3 along

        return OpcodeStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
