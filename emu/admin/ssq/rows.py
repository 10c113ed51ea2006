"""The table form of every answer: cells end with NUL, rows with a cell that is a line feed.

Source: docs/protocol/administration/ssq.md#packets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from emu.errors import MalformedMessage

Cell = str | int

ROW_END: Final = b"\n\0"
NOTHING: Final = ROW_END
"""The answer when there is nothing to tell, errors too: one row without cells."""
NULL_HEADER: Final = b"\0" + ROW_END
"""The header row that says: all columns, in the order asked."""
PONG: Final = b"j\0\n"
"""The answer to a ping, no table."""

_ESCAPES: Final = {"\0": None, "\\": "\\\\", "\n": "\\n"}
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_TABLE: Final = str.maketrans(_ESCAPES)


def push_cell(value: Cell) -> bytes:
    """Return a cell as it is sent; a NUL cannot be carried and falls away."""
    if isinstance(value, int):
        return b"%d\0" % value
    return value.translate(_TABLE).encode("utf-8", "replace") + b"\0"


def push_row(cells: Iterable[Cell]) -> bytes:
    """Return a row as it is sent."""
    return b"".join(map(push_cell, cells)) + ROW_END


def push_rows(rows: Iterable[Sequence[Cell]]) -> bytes:
    """Return rows as they are sent."""
    return b"".join(map(push_row, rows))


def pull_rows(body: bytes) -> list[list[str]]:
    """Return the rows of an answer's body, the header first. Raises `MalformedMessage`.

    A line feed inside a cell may be escaped as the letter n or as itself; bytes that are no UTF-8
    become U+FFFD.
    """
    *cells, rest = body.split(b"\0")
    if rest or (cells and cells[-1] != b"\n"):
        raise MalformedMessage("table that does not end with a row")
    rows: list[list[str]] = []
    row: list[str] = []
    for cell in cells:
        if cell == b"\n":
            rows.append(row)
            row = []
        else:
            row.append(_ESCAPED.sub(_unescape, cell.decode("utf-8", "replace")))
    return rows


def _unescape(match: re.Match[str]) -> str:
    letter = match[1]
    return "\n" if letter == "n" else letter
