"""Packet structs: EQ2Emulator's XML vocabulary compiled to codecs, one layout a client version.

Start with `shipped_catalog().layout("LS_LoginReplyMsg", 546)`; `Layout` says what values look like.
"""

from __future__ import annotations

from emu.structs.catalog import StructCatalog, load_folder, shipped_catalog
from emu.structs.definitions import FieldDefinition, FieldType, StructDefinition
from emu.structs.layout import Layout

__all__ = [
    "FieldDefinition",
    "FieldType",
    "Layout",
    "StructCatalog",
    "StructDefinition",
    "load_folder",
    "shipped_catalog",
]
