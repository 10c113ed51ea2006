"""OP_ClientCmdMsg: commands with opcodes of their own inside one message (eq2-world.md 3.0).

Each command is a size, then ``FF`` and a u16 sub-opcode, then its payload; the size counts all
behind it. A client reads the body as a stream, so several commands may stand in a row. Knows
neither names of opcodes nor fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from emu.errors import MalformedMessage, StructValueError
from emu.versions import LAST_UNREVERSED_PACK

LAST_SHORT_SIZE: Final = LAST_UNREVERSED_PACK
"""Up to this client version a size is one byte, or FF and a u16; above it is a u32."""
_SHORT: Final = 0xFF


class ClientCmd(NamedTuple):
    """One command: its sub-opcode and what follows it."""

    opcode: int
    payload: bytes


def write_client_cmd(opcode: int, payload: bytes, version: int) -> bytes:
    """Return one command with its size, as a body of OP_ClientCmdMsg or a part of one.

    Raises `StructValueError` for an opcode or a length that does not fit.
    """
    if not 0 <= opcode <= 0xFFFF:
        raise StructValueError(f"sub-opcode {opcode} does not fit 16 bits")
    size = len(payload) + 3
    head = b"\xff" + opcode.to_bytes(2, "little")
    if version > LAST_SHORT_SIZE:
        return size.to_bytes(4, "little") + head + payload
    if size < _SHORT:
        return bytes((size,)) + head + payload
    if size > 0xFFFF:
        raise StructValueError(f"a command of {size} bytes is too long for version {version}")
    return b"\xff" + size.to_bytes(2, "little") + head + payload


def read_client_cmds(body: bytes, version: int) -> list[ClientCmd]:
    """Return the commands of a body of OP_ClientCmdMsg in their order, none for an empty body.

    An opcode below 255 may also stand there as one byte, the form it has outside. Raises
    `MalformedMessage` when sizes and bytes do not fit.
    """
    return list(each_client_cmd(body, version))


def each_client_cmd(body: bytes, version: int) -> Iterator[ClientCmd]:
    """Yield what `read_client_cmds` returns, and raise only where the body is damaged."""
    at = 0
    while at < len(body):
        start, size = _read_size(body, at, version)
        at = start + size
        if size == 0 or at > len(body):
            raise MalformedMessage("command with a size that does not fit")
        if body[start] != _SHORT:
            yield ClientCmd(body[start], body[start + 1 : at])
            continue
        if size < 3:
            raise MalformedMessage("command without its opcode")
        opcode = int.from_bytes(body[start + 1 : start + 3], "little")
        yield ClientCmd(opcode, body[start + 3 : at])


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
