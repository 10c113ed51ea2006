"""Nodes of a region's tree: planes, and what lies in front of them and behind."""

from __future__ import annotations

import struct
from typing import Final

from emu.errors import FileFormatError

OUTSIDE: Final = -1
INSIDE: Final = -2
NODE: Final = struct.Struct("<4fIii")
Node = tuple[float, float, float, float, int, int, int]
"""A plane's x, y, z and distance, the substance, and the children in front and behind."""


def pack_nodes(nodes: tuple[Node, ...]) -> bytes:
    """Return a tree's bytes."""
    return b"".join(NODE.pack(*node) for node in nodes)


def unpack_nodes(data: bytes) -> tuple[Node, ...]:
    """Return a tree of its bytes. Raises `FileFormatError` for one that is not a tree."""
    if len(data) % NODE.size:
        raise FileFormatError("the nodes of a region are cut off")
    nodes = tuple(NODE.iter_unpack(data))
    wrong = first_wrong_child(nodes)
    if wrong is not None:
        raise FileFormatError(f"node {wrong} of a region has a child that cannot be")
    return nodes


def first_wrong_child(nodes: tuple[Node, ...]) -> int | None:
    """Return a node with a child that does not exist or is reached twice; None for a tree.

    Without this check a tree with a circle would never end a search.
    """
    if not nodes:
        return None
    reached = bytearray(len(nodes))
    reached[0] = 1
    waiting = [0]
    while waiting:
        at = waiting.pop()
        for child in nodes[at][5:]:
            if child in (OUTSIDE, INSIDE):
                continue
            if not 0 <= child < len(nodes) or reached[child]:
                return at
            reached[child] = 1
            waiting.append(child)
    return None
