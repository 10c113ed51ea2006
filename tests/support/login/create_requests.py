"""Create requests written byte by byte from docs/protocol/characters.md#create, not through our
struct catalog.
"""

from __future__ import annotations

import struct

FULL, HALF, TENTH = 1.0, 0.5, 0.1


def text(value: bytes) -> bytes:
    return struct.pack("<H", len(value)) + value


def floats(value: float, count: int = 3) -> bytes:
    return struct.pack("<f", value) * count


def request_546(
    name: bytes = b"Aldana", account: int = 101, *, extra: bool = True, placeholder: bool = True,
    class_: int = 3,
) -> bytes:  # fmt: skip
    """Return the request of version 546; without `extra` that of 561 (`cc_unknown_0` missing).

    Without `placeholder` it lacks the 26 bytes that the real 2006 client is said not to send.
    """
    head = b"\1" + bytes(4) + struct.pack("<II", account, 1) + text(name)
    head += bytes((9, 1, 2, class_, 1, 4)) + (b"\0" if extra else b"") + b"\4"
    head += text(b"ec/pc/human/human_male") + floats(HALF) + floats(FULL) + floats(HALF) * 3
    head += bytes(26) if placeholder else b""
    head += text(b"hair") + floats(HALF, 6) + text(b"face") + floats(HALF, 6)
    head += text(b"chest") + floats(HALF, 6) + text(b"legs") + floats(HALF, 9)
    return head + floats(TENTH, 7 * 3) + floats(0.25, 1) + floats(0.0, 1)


def request_1096(name: bytes = b"Aldana", account: int = 101) -> bytes:
    """Return the request of versions 869 to 57079."""
    head = b"\1" + bytes(4) + struct.pack("<IBI", account, 0, 1) + text(name)
    head += bytes((9, 1, 2, 3, 1, 4)) + b"\4" + text(b"ec/pc/human/human_male")
    head += floats(HALF) + floats(FULL) * 5 + bytes(26) + text(b"hair") + floats(HALF, 6)
    head += text(b"face") + floats(HALF, 6) + text(b"wing") + floats(HALF, 6)
    head += text(b"chest") + floats(HALF, 6) + text(b"legs") + floats(HALF, 9)
    head += floats(TENTH, 7 * 3) + floats(0.25, 1) + floats(0.0, 1)
    soga = b"\4" + text(b"soga") + floats(HALF) * 6 + bytes(26) + text(b"") + floats(HALF, 6)
    soga += text(b"") + floats(HALF, 6) + text(b"") + floats(HALF, 6) + text(b"")
    soga += floats(HALF, 6) + text(b"") + floats(HALF, 9) + floats(TENTH, 21)
    return head + soga + floats(0.25, 1) + floats(0.0, 1)
