"""The login request and the client log: the two messages a client sends of its own accord.

Both change with the client version in ways that no packet struct holds, because a server never
needs the parts that differ. Sources: docs/protocol/login.md#request (with the 2006 client's own
bytes, which end at the version), docs/protocol/login.md#client-logs.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from emu.errors import CommandError

BUILD_STAMP = 0x2E_0000_2E00
"""The bits of a build stamp around its version word.

Byte 4 is 2E, the value that adds nothing to the version; the low word must be no client version,
or a server would take it for one.
"""

LOG_SIZE = 4095
"""Inflated size of the recorded alert log (docs/protocol/login.md#client-546)."""


def _str16(text: str) -> bytes:
    raw = text.encode("latin-1")
    return struct.pack("<H", len(raw)) + raw


def _word(version: int) -> bytes:
    """The classic place of the version: a u16 behind the pass code."""
    return struct.pack("<H", version)


def _stamp(version: int) -> bytes:
    """Clients from 1212: a u64 build stamp whose bits 16 to 31 are the version."""
    return struct.pack("<Q", BUILD_STAMP | (version & 0xFFFF) << 16)


_TEXTS = _str16("") * 2 + struct.pack("<IBH", 0, 0, 2681)
"""Two empty strings, a u32, the full-screen flag, the SOE build."""

_STATION = _str16("STATION")

_MACHINE = (
    _str16("") * 2
    + struct.pack("<Q", 0)
    + _str16("emu-client")
    + struct.pack("<5i", 0, 0, 0, 0, 0)
    + _str16("none")
    + _str16("none")
)
"""Two strings, a u64, computer name, five numbers, names of GPU and CPU."""


@dataclass(frozen=True, slots=True)
class RequestForm:
    """How clients from version `first` on end their login request."""

    first: int
    version: Callable[[int], bytes]
    tail: bytes


REQUEST_FORMS = (
    RequestForm(57015, _stamp, _TEXTS + _STATION + _MACHINE),
    RequestForm(1212, _stamp, _TEXTS + _STATION),
    RequestForm(1169, _word, _TEXTS + _STATION),
    RequestForm(547, _word, _TEXTS),
    RequestForm(0, _word, b""),
)
"""Newest first; the first whose `first` is not above the client's version counts."""


def login_request(version: int, user: str, password: str) -> bytes:
    """Return the payload of an OP_LoginRequestMsg.

    Raises `CommandError` when name or password cannot be written in the client's character set
    or are longer than a string field.
    """
    form = next(form for form in REQUEST_FORMS if form.first <= version)
    for what, text in (("user name", user), ("password", password)):
        try:
            size = len(text.encode("latin-1"))
        except UnicodeEncodeError:
            raise CommandError(f"the {what} has characters that no client can send") from None
        if size > 0xFFFF:
            raise CommandError(f"the {what} is longer than 65535 characters")
    return (
        _str16("")
        + _str16("")
        + _str16(user)
        + _str16(password)
        + bytes(8)
        + form.version(version)
        + form.tail
    )


@cache
def alert_log(version: int) -> bytes:
    """Return the payload of the alert log that a client sends right after its login.

    From 546 on: u32 compressed length, u32 inflated length, zlib stream of the best level; before
    it a u16 length and the stream. The text ends with NUL bytes up to `LOG_SIZE`.
    """
    lines = (
        f"Alert {number:03}: client {version}, no fault, mark {number * 7919 % 10007:04}\n"
        for number in range(100)
    )
    text = "".join(lines).encode("ascii")[: LOG_SIZE - 1]
    packed = zlib.compress(text.ljust(LOG_SIZE, b"\0"), 9)
    if version < 546:
        return struct.pack("<H", len(packed)) + packed
    return struct.pack("<II", len(packed), LOG_SIZE) + packed
