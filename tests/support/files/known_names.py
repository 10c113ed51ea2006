"""Opcode names and layouts for capture tests: few ones made up, and the shipped ones."""

from __future__ import annotations

from emu.capture.messages import MessageDecoder, StructLookup
from emu.opcodes import OpcodeRow, OpcodeTables, shipped_tables
from emu.structs import shipped_catalog
from tests.support.files.struct_texts import catalog_of, struct_of

VERSIONS = (1, 546, 60114)
"""The real tables cover 1, too."""
NAMES = {
    0: "OP_LoginRequestMsg",
    1: "OP_LoginByNumRequestMsg",
    4: "OP_LoginReplyMsg",
    8: "OP_WorldListMsg",
    50: "OP_ClientCmdMsg",
    300: "OP_WideMsg",
    412: "OP_EqDisplayTextCmd",
}
STRUCTS = (
    struct_of("number int32", "Reply", more='OpcodeName="OP_LoginReplyMsg"'),
    struct_of(
        "number int32", "Text",
        more='OpcodeName="OP_ClientCmdMsg" OpcodeType="OP_EqDisplayTextCmd"',
    ),
)  # fmt: skip


def few_messages() -> MessageDecoder:
    """Return a decoder of these names and structs."""
    rows = [OpcodeRow(v, v, name, number) for v in VERSIONS for number, name in NAMES.items()]
    return MessageDecoder(OpcodeTables(rows), StructLookup(catalog_of(*STRUCTS)))


def shipped_messages() -> MessageDecoder:
    """Return a decoder of the tables and structs that come with the program."""
    return MessageDecoder(shipped_tables(), StructLookup(shipped_catalog()))
