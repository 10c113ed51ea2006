"""Opcode names and layouts for capture tests: few ones made up, and the shipped ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from emu.capture.lookup import StructLookup
from emu.capture.messages import Decoder, MessageDecoder
from emu.errors import MalformedMessage, UnknownStruct, UnknownVersion
from emu.opcodes import shipped_tables
from emu.structs import Layout, shipped_catalog

NAMES = {
    0: "OP_LoginRequestMsg",
    1: "OP_LoginByNumRequestMsg",
    4: "OP_LoginReplyMsg",
    8: "OP_WorldListMsg",
    50: "OP_ClientCmdMsg",
    300: "OP_WideMsg",
    412: "OP_EqDisplayTextCmd",
}


class FewNames:
    """The opcodes of one version."""

    def name(self, number: int) -> str | None:
        """Return a name, or None."""
        return NAMES.get(number)

    def get(self, name: str) -> int | None:
        """Return a number, or None."""
        return next((number for number, known in NAMES.items() if known == name), None)


class FewTables:
    """Tables that cover 546 and 60114 (and 1, as the real ones do)."""

    def for_version(self, version: int) -> FewNames:
        """Return the names; raises `UnknownVersion` outside."""
        if version not in (1, 546, 60114):
            raise UnknownVersion(version)
        return FewNames()


class FourBytes:
    """A layout of four bytes."""

    def decode(self, data: bytes) -> dict[str, Any]:
        """Return one number."""
        if len(data) != 4:
            raise MalformedMessage("not four bytes")
        return {"number": int.from_bytes(data, "little")}


class FewLayouts:
    """Layouts of OP_LoginReplyMsg and of the display text command."""

    def layouts_for(
        self, opcode_name: str, command_name: str | None, version: int
    ) -> Iterable[Decoder]:
        """Return the layouts of one message."""
        del version
        known = ("OP_LoginReplyMsg", None), ("OP_ClientCmdMsg", "OP_EqDisplayTextCmd")
        return [FourBytes()] if (opcode_name, command_name) in known else []

    def layout(self, name: str, version: int) -> Layout:
        """Know no struct by its name; raises `UnknownStruct`."""
        del version
        raise UnknownStruct(f"there is no struct {name}")


def few_messages() -> MessageDecoder:
    """Return a decoder of these names and layouts."""
    return MessageDecoder(FewTables(), FewLayouts())


def shipped_messages() -> MessageDecoder:
    """Return a decoder of the tables and structs that come with the program."""
    return MessageDecoder(shipped_tables(), StructLookup(shipped_catalog()))
