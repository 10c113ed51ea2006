"""Messages without which nobody can log in and play, and the client versions that lost them. Pure.

A version may never have had one in the tables: then its clients cannot be served yet. When the
tables that come with the program have it, it was lost here, by an edit or an import.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from emu.opcodes.rows import VersionRange
from emu.opcodes.table import OpcodeTables

NEEDED = (
    "OP_LoginRequestMsg",
    "OP_LoginByNumRequestMsg",
    "OP_LoginReplyMsg",
    "OP_AllWSDescRequestMsg",
    "OP_WorldListMsg",
    "OP_WorldStatusChangeMsg",
    "OP_AllCharactersDescReplyMsg",
    "OP_CreateCharacterRequestMsg",
    "OP_CreateCharacterReplyMsg",
    "OP_DeleteCharacterRequestMsg",
    "OP_DeleteCharacterReplyMsg",
    "OP_PlayCharacterRequestMsg",
    "OP_PlayCharacterReplyMsg",
)
"""What the services say to every client and hear from it; without the others they do."""


class Missing(NamedTuple):
    """Messages that some versions have no number for; `lost` are those that ship with one."""

    versions: VersionRange
    lost: tuple[str, ...]
    never: tuple[str, ...]


def missing_messages(tables: OpcodeTables, shipped: OpcodeTables) -> Iterator[Missing]:
    """Yield, in order, every span of versions whose clients cannot be served in full."""
    for first, last, table in tables.spans():
        gone = [name for name in NEEDED if table.get(name) is None]
        if not gone:
            continue
        known = shipped.for_version(first) if shipped.covers(first) else None
        lost = tuple(name for name in gone if known is not None and known.get(name) is not None)
        never = tuple(name for name in gone if name not in lost)
        yield Missing(VersionRange(first, last), lost, never)
