"""Packet structs: EQ2Emulator's XML vocabulary compiled to codecs, one layout a client version.

Start with `shipped_catalog().layout("LS_LoginReplyMsg", 546)`; `StructLayout` says what values look
like.
`read_text` and `StructCatalog` are for struct files of your own. `packed` is the packed form and
the one that tells only what changed, `client_cmd` the commands inside an OP_ClientCmdMsg.
"""

from __future__ import annotations

from emu.structs import packed
from emu.structs.catalog import StructCatalog, StructLayout, load_folder, shipped_catalog
from emu.structs.reader import FieldDefinition, FieldType, StructDefinition, read_text

__all__ = [
    "FieldDefinition",
    "FieldType",
    "StructCatalog",
    "StructDefinition",
    "StructLayout",
    "client_cmd",
    "load_folder",
    "packed",
    "read_text",
    "shipped_catalog",
]
