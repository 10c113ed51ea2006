"""Text of the outside world: UTF-8, and latin-1 where bytes are none (old clients and worlds)."""

from __future__ import annotations


def read_text(data: bytes) -> str:
    """Return the text of some bytes; never fails."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")
