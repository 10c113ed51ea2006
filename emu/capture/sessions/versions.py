"""Finding the client version in a session's first message, as EQ2Emulator's servers do.

The login server reads OP_LoginRequestMsg (docs/protocol/login.md#version), the world server
OP_LoginByNumRequestMsg (docs/protocol/world/entering.md#login-by-num); both look at the old place
first, and at the new one when the old gives no version that has opcodes. Must not know tables: it
asks whether one covers a number.
"""

from __future__ import annotations

from collections.abc import Callable

from emu.dialects.common import LOGIN_BY_NUMBER, LOGIN_REQUEST

NEW_LOGIN_BY_NUMBER = 1208
"""From here on a number at LoginByNum's old place is not believed."""
MIDDLE_LOGIN_BY_NUMBER_SIZE = 34
"""Only the layout of 562 to 1207 is that long; EQ2Emulator never asks for it, our world does."""


def find_client_version(opcode: int, body: bytes, covers: Callable[[int], bool]) -> int | None:
    """Return the version in a client's first message, or None when it is no login or has none.

    `covers` tells whether an opcode table covers a version. When no place gives a covered version,
    the last one read is returned, as a server would name it in its refusal.
    """
    if opcode == LOGIN_REQUEST:
        at = _after_strings(body, 4)
        if at is None:
            return None
        old, new, believed_below = at + 8, at + 10, 0x10000
    elif opcode == LOGIN_BY_NUMBER:
        old, new, believed_below = 8, 14, NEW_LOGIN_BY_NUMBER
        if len(body) == MIDDLE_LOGIN_BY_NUMBER_SIZE:
            old = new = 12
    else:
        return None
    version = int.from_bytes(body[old : old + 2], "little")
    if version != 0 and version < believed_below and covers(version):
        return version
    return int.from_bytes(body[new : new + 2], "little") or version or None


def _after_strings(body: bytes, count: int) -> int | None:
    """Return the offset behind `count` strings with u16 lengths, or None when they are cut."""
    at = 0
    for _ in range(count):
        at += 2 + int.from_bytes(body[at : at + 2], "little")
        if at > len(body):
            return None
    return at
