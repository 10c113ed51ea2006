"""OP_ClientCmdMsg: commands with opcodes of their own inside one message.

Source: docs/protocol/structs.md#client-cmd.

Each command is a size, then ``FF`` and a u16 sub-opcode, then its payload; the size counts all
behind it. One command is an exception: above 561 the size n of an item window (OP_EqExamineInfoCmd)
goes out as 2n-9. A client reads the body as a stream, so several commands may stand in a row. Knows
neither numbers of opcodes nor fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from emu.errors import MalformedMessage, StructValueError
from emu.versions import LAST_OLD_CLIENT, LAST_UNREVERSED_PACK

EXAMINE_INFO: Final = "OP_EqExamineInfoCmd"
"""Name of the command whose size is another above 561; its number is given where it matters."""
LAST_SHORT_SIZE: Final = LAST_UNREVERSED_PACK
"""Up to this client version a size is one byte, or FF and a u16; above it is a u32."""
_SHORT: Final = 0xFF
_HEAD: Final = 3
"""Bytes that a size counts before the payload: FF and the sub-opcode."""
_EXAMINE_LESS: Final = 9
"""What the doubled size of an item window is less (docs/protocol/structs.md#client-cmd)."""


class ClientCmd(NamedTuple):
    """One command: its sub-opcode and what follows it."""

    opcode: int
    payload: bytes


def write_client_cmd(
    opcode: int, payload: bytes, version: int, *, examine_info: int | None = None
) -> bytes:
    """Return one command with its size, as a body of OP_ClientCmdMsg or a part of one.

    `examine_info` is the number of OP_EqExamineInfoCmd at this version: above 561 the size of that
    one command counts double less 9. Raises `StructValueError` for an opcode or a length that does
    not fit.
    """
    if not 0 <= opcode <= 0xFFFF:
        raise StructValueError(f"sub-opcode {opcode} does not fit 16 bits")
    size = len(payload) + _HEAD
    head = b"\xff" + opcode.to_bytes(2, "little")
    if version > LAST_SHORT_SIZE:
        if opcode == examine_info and version > LAST_OLD_CLIENT:
            size = 2 * size - _EXAMINE_LESS
            if size <= 0:
                raise StructValueError(f"an item window of {len(payload)} bytes is too short")
        return size.to_bytes(4, "little") + head + payload
    if size < _SHORT:
        return bytes((size,)) + head + payload
    if size > 0xFFFF:
        raise StructValueError(f"a command of {size} bytes is too long for version {version}")
    return b"\xff" + size.to_bytes(2, "little") + head + payload


def read_client_cmds(
    body: bytes, version: int, *, examine_info: int | None = None
) -> list[ClientCmd]:
    """Return the commands of a body of OP_ClientCmdMsg in their order, none for an empty body.

    `examine_info` is as for `write_client_cmd`. An opcode below 255 may also stand there as one
    byte, the form it has outside. Raises `MalformedMessage` when sizes and bytes do not fit.
    """
    return list(each_client_cmd(body, version, examine_info=examine_info))


def each_client_cmd(
    body: bytes, version: int, *, examine_info: int | None = None
) -> Iterator[ClientCmd]:
    """Yield what `read_client_cmds` returns, and raise only where the body is damaged."""
    doubled = None
    if examine_info is not None and version > LAST_OLD_CLIENT:
        doubled = b"\xff" + examine_info.to_bytes(2, "little")
    at = 0
    while at < len(body):
        start, size = _read_size(body, at, version)
        if body[start : start + _HEAD] == doubled:
            size, odd = divmod(size + _EXAMINE_LESS, 2)
            if odd:
                raise MalformedMessage("command with a size that does not fit")
        at = start + size
        if size == 0 or at > len(body):
            raise MalformedMessage("command with a size that does not fit")
        if body[start] != _SHORT:
            yield ClientCmd(body[start], body[start + 1 : at])
            continue
        if size < _HEAD:
            raise MalformedMessage("command without its opcode")
        opcode = int.from_bytes(body[start + 1 : start + _HEAD], "little")
        yield ClientCmd(opcode, body[start + _HEAD : at])


def _read_size(body: bytes, at: int, version: int) -> tuple[int, int]:
    """Return where the command begins, and its size."""
    if version > LAST_SHORT_SIZE:
        start = at + 4
        size = int.from_bytes(body[at:start], "little")
    elif body[at] != _SHORT:
        return at + 1, body[at]
    else:
        start = at + 3
        size = int.from_bytes(body[at + 1 : start], "little")
    if start > len(body):
        raise MalformedMessage("command without its size")
    return start, size
