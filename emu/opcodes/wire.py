"""How opcodes stand in messages: one byte or FF and a u16, and the commands in OP_ClientCmdMsg.

Pure bytes in, pure bytes out. The session layer reads and writes the opcode of a whole message by
itself; this codec is for numbers inside bodies. Source: eq2-world.md 3.0 and client-546-notes.md 2.
"""

from __future__ import annotations

from collections.abc import Iterator

from emu.errors import MalformedMessage, StructValueError
from emu.opcodes.rows import MAX_NUMBER

ESCAPE = 0xFF
"""First byte of the long form."""
LAST_SHORT_COMMAND_SIZE = 374
"""Up to this client version a command's size is written like an opcode, then as a u32."""
COMMAND_HEAD = 3
"""Bytes of a command before its payload, which its size counts: FF and the u16 number."""


def encode_opcode(number: int) -> bytes:
    """Return an opcode's bytes: one below 255, else FF and a little-endian u16.

    Raises `StructValueError` when the number is not a u16.
    """
    if not 0 <= number <= MAX_NUMBER:
        raise StructValueError(f"opcode {number} is not between 0 and {MAX_NUMBER}")
    if number < ESCAPE:
        return bytes((number,))
    return bytes((ESCAPE, number & 0xFF, number >> 8))


def decode_opcode(data: bytes, offset: int = 0) -> tuple[int, int]:
    """Read an opcode at an offset; return it and the offset behind it.

    The long form of a small number is accepted, as commands always use it. Raises
    `MalformedMessage` when the bytes end before the opcode does.
    """
    if offset >= len(data):
        raise MalformedMessage("opcode missing")
    if data[offset] != ESCAPE:
        return data[offset], offset + 1
    if offset + 3 > len(data):
        raise MalformedMessage("opcode cut short")
    return data[offset + 1] | data[offset + 2] << 8, offset + 3


def encode_command(number: int, payload: bytes, version: int) -> bytes:
    """Return the body of an OP_ClientCmdMsg with one command.

    The size counts the command's opcode, which is always in the long form. Raises
    `StructValueError` when number or payload do not fit.
    """
    size = len(payload) + COMMAND_HEAD
    short = version <= LAST_SHORT_COMMAND_SIZE
    head = encode_opcode(size) if short else size.to_bytes(4, "little")
    if not 0 <= number <= MAX_NUMBER:
        raise StructValueError(f"opcode {number} is not between 0 and {MAX_NUMBER}")
    return b"".join((head, bytes((ESCAPE, number & 0xFF, number >> 8)), payload))


def decode_commands(body: bytes, version: int) -> Iterator[tuple[int, bytes]]:
    """Yield (number, payload) of every command in the body of an OP_ClientCmdMsg.

    Raises `MalformedMessage` at the command that does not fit.
    """
    offset = 0
    while offset < len(body):
        if version <= LAST_SHORT_COMMAND_SIZE:
            size, offset = decode_opcode(body, offset)
        else:
            if offset + 4 > len(body):
                raise MalformedMessage("command size cut short")
            size = int.from_bytes(body[offset : offset + 4], "little")
            offset += 4
        if size > len(body) - offset:
            raise MalformedMessage("command cut short")
        end = offset + size
        number, start = decode_opcode(body[offset:end])
        yield number, body[offset + start : end]
        offset = end
