"""Which columns of a table fit a terminal, and how wide. Pure.

What identifies a row is never cut. The other columns fold between words, down to their longest
word; when even that is too wide, the least important ones go.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len

LONG_WORD = 24
"""A word longer than this may be broken."""
GAP = 3
"""Columns of the terminal between two of the table."""
EDGES = 2
"""Columns of the terminal outside the table's first and last column."""

IDENTIFYING = ("name", "field", "prefix")
"""Columns that tell what a row is about; in a table without one it is the first column."""


def fit(
    columns: Sequence[str],
    lines: Sequence[Sequence[str]],
    room: int,
    *,
    least: Iterable[str] = (),
    fold: bool = True,
) -> dict[str, int]:
    """Return the columns that are shown, in their order, with their widths.

    `lines` hold a cell for each column; the first is the header. `least` are the columns that go
    first; then it is those on the right. Without `fold` no column gets narrower than its content.
    """
    cells = dict(zip(columns, zip(*lines, strict=True), strict=True))
    key = next((name for name in IDENTIFYING if name in columns), columns[0])
    widths = {name: max(map(cell_len, cells[name])) for name in columns}
    lowest = {
        name: widths[name] if name == key or not fold else _longest_word(cells[name])
        for name in columns
    }
    if lowest[key] + EDGES > room:  # not even that: it folds, as nothing of it may be lost
        lowest[key] = widths[key] = max(1, room - EDGES)
    shown = list(columns)
    for name in (*least, *reversed(columns)):
        if _needed(shown, lowest) <= room:
            break
        if name in shown and name != key:
            shown.remove(name)
    _narrow(shown, widths, lowest, room)
    return {name: widths[name] for name in shown}


def _narrow(
    shown: Sequence[str], widths: dict[str, int], lowest: dict[str, int], room: int
) -> None:
    """Take from the widest column that can give, until all fit."""
    while (over := _needed(shown, widths) - room) > 0:
        able = [name for name in shown if widths[name] > lowest[name]]
        if not able:
            return
        widest = max(able, key=lambda name: widths[name])
        second = max((widths[name] for name in able if name != widest), default=0)
        give = max(1, min(over, widths[widest] - max(second, lowest[widest])))
        widths[widest] -= give


def _needed(shown: Sequence[str], widths: dict[str, int]) -> int:
    return sum(widths[name] for name in shown) + GAP * (len(shown) - 1) + EDGES


def _longest_word(cells: Iterable[str]) -> int:
    longest = max((cell_len(word) for cell in cells for word in cell.split()), default=1)
    return min(longest, LONG_WORD)
