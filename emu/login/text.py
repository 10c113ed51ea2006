"""Names between the wire and the program: structs carry bytes as latin-1 text, people read UTF-8.

A struct's string field comes as `str` with one character for each byte, so that any byte round
trips. Names that are shown or stored go through `read_name`, and through `wire_name` on their way
out; passwords stay bytes.
"""

from __future__ import annotations

from emu.wire.text import read_text


def read_name(raw: str) -> str:
    """Return the text of a name field: UTF-8 where the bytes are valid UTF-8, else latin-1."""
    return raw if raw.isascii() else read_text(raw.encode("latin-1"))


def wire_name(name: str) -> str:
    """Return the latin-1 view of a name's UTF-8 bytes, as a struct's string field wants it."""
    if name.isascii():
        return name
    return name.encode("utf-8", "replace").decode("latin-1")


def read_secret(raw: str) -> bytes:
    """Return the bytes of a password field exactly as the client sent them."""
    return raw.encode("latin-1")


def size_of(raw: str) -> int:
    """Return how many bytes a string field took on the wire."""
    return len(raw)
