"""Names and numbers of ghosts that those who show them and those who see them share.

Source: docs/protocol/world/spawns.md#create-ghost, docs/protocol/world/movement.md#updates.
"""

from __future__ import annotations

from typing import Final, Protocol

from emu.errors import MalformedMessage
from emu.structs import Layout

HEADER: Final = "WS_SpawnStruct_Header"
PARTS: Final = (
    "Substruct_SpawnPositionStruct",
    "Substruct_SpawnVisualizationInfoStruct",
    "Substruct_SpawnInfoStruct",
)
"""Position, visibility and info: what a ghost is made of, in the order of the wire."""
POSITION, VISIBILITY, INFO = range(3)
"""Places of the parts in every tuple of parts."""
SECTIONS: Final = (INFO, POSITION, VISIBILITY)
"""The parts in the order in which an update has them."""
WIDGET_FOOTER: Final = "WS_WidgetSpawnStruct_Footer"
SIGN_FOOTER: Final = "WS_SignWidgetSpawnStruct_Footer"

CREATE_GHOST: Final = "OP_EqCreateGhostCmd"
CREATE_WIDGET: Final = "OP_EqCreateWidgetCmd"
CREATE_SIGN: Final = "OP_EqCreateSignWidgetCmd"
UPDATE_GHOST: Final = "OP_EqUpdateGhostCmd"
DESTROY_GHOST: Final = "OP_EqDestroyGhostCmd"
FOOTERS: Final = {CREATE_GHOST: "", CREATE_WIDGET: WIDGET_FOOTER, CREATE_SIGN: SIGN_FOOTER}
"""For each command that creates a ghost, the struct behind its packed parts."""
HEADING_UNIT: Final = 64
"""Headings on the wire are degrees times this (docs/protocol/world/spawns.md#units)."""

_BYTE_LIMIT: Final = 255


class Layouts(Protocol):
    """The structs of one client version; `emu.dialects.Dialect` is one."""

    @property
    def version(self) -> int:
        """The client version."""

    def layout(self, name: str) -> Layout:
        """Return a struct's layout; raises `UnknownStruct`."""


def oversized(value: int) -> bytes:
    """Return a number as one byte below 255, else FF and a u16.

    Source: docs/protocol/structs.md#oversized.
    """
    if value < _BYTE_LIMIT:
        return bytes((value,))
    return b"\xff" + value.to_bytes(2, "little")


def read_oversized(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at an offset, and where it ends. Raises `MalformedMessage`."""
    end = at + (3 if data[at : at + 1] == b"\xff" else 1)
    if end > len(data):
        raise MalformedMessage("number cut short")
    return (data[at] if end == at + 1 else int.from_bytes(data[at + 1 : end], "little")), end
