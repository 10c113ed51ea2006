"""Names between the wire and the program: structs carry bytes as latin-1 text, people read UTF-8.

A struct's string field comes as `str` with one character for each byte, so that any byte round
trips. Names that are shown or stored go through `read_name`, and through `wire_name` on their way
out; passwords stay bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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


def wire_texts(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with every text as a struct's string field wants it, lists of rows included."""
    return {name: _wire(value) for name, value in values.items()}


def _wire(value: Any) -> Any:
    if isinstance(value, str):
        return wire_name(value)
    if isinstance(value, list):
        return [wire_texts(row) if isinstance(row, Mapping) else _wire(row) for row in value]
    return value
