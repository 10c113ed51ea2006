"""Opcode numbers of every client version: tables, their text, their database and its tools.

`OpcodeTables` is an immutable snapshot that gives an `OpcodeTable` per client version;
`shipped_tables` are those of the text under ``opcodes/``. `OpcodeStore` keeps rows with their
history in SQLite; it is imported only when it is asked for, so that the cores stay without it.
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
