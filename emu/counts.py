"""How a number of things is written: ``1 player``, ``2 players``."""

from __future__ import annotations


def counted(count: int, name: str) -> str:
    """Return a number and the name of what it counts, with an s unless it is one."""
    return f"{count} {name}" if count == 1 else f"{count} {name}s"
