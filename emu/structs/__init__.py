"""Packet structs: EQ2Emulator's XML vocabulary compiled to codecs, one layout per client version.

Start with `shipped_catalog().layout("LS_LoginReplyMsg", 546)`; `emu.structs.layout` describes the
values. `read_text` and `StructCatalog` read struct files of your own. `packed` has the packed form,
XOR deltas, and the commands inside OP_ClientCmdMsg.
"""

from __future__ import annotations

from emu.structs import packed
from emu.structs.catalog import StructCatalog, load_folder, shipped_catalog
from emu.structs.definitions import FieldDefinition, FieldType, StructDefinition
from emu.structs.layout import StructLayout
from emu.structs.reader import read_text

__all__ = [
    "FieldDefinition",
    "FieldType",
    "StructCatalog",
    "StructDefinition",
    "StructLayout",
    "load_folder",
    "packed",
    "read_text",
    "shipped_catalog",
]
