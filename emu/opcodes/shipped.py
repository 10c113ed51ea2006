"""The opcode tables that ship with the program, read once from their text under ``opcodes/``."""

from __future__ import annotations

import hashlib
from functools import cache, lru_cache

from emu.opcodes.files.text import format_range, read_folder
from emu.opcodes.rows import OpcodeRow
from emu.opcodes.table import OpcodeTables
from emu.resources import opcodes_folder


@cache
def shipped_rows() -> tuple[OpcodeRow, ...]:
    """Return every row of the shipped text; raises `FileFormatError` when it is damaged."""
    return tuple(read_folder(opcodes_folder()))


@cache
def shipped_tables() -> OpcodeTables:
    """Return the tables of the shipped text; always the same object."""
    return OpcodeTables(shipped_rows())


@lru_cache(maxsize=2)
def fingerprint(rows: tuple[OpcodeRow, ...]) -> str:
    """Return a fingerprint of rows that does not hang on their order."""
    ordered = sorted(rows, key=lambda row: (row.first, row.last, row.opcode, row.name))
    text = "".join(f"{row.first}-{row.last}\n{format_range([row])}" for row in ordered)
    return hashlib.sha256(text.encode()).hexdigest()
