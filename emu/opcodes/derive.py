"""The table of a new client build, made from the one before it.

A new build usually puts a few messages between the old ones, and every number behind moves up.
Pure; the store writes the result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from emu.errors import CommandError
from emu.opcodes.names import dead_numbers, is_absent
from emu.opcodes.rows import MAX_NUMBER, OpcodeRow, VersionRange, name_problem

_STEP = re.compile(r"(OP_[A-Za-z0-9_]+)@([0-9]{1,5})(?:\.\.([0-9]{1,5}))?")


class Insertion(NamedTuple):
    """A message that came in at `number`; what stood at `number` to `last` moves up by one."""

    name: str
    number: int
    last: int = MAX_NUMBER


def parse_insertion(text: str) -> Insertion:
    """Read ``NAME@N`` or ``NAME@N..LAST``; raises `CommandError`."""
    match = _STEP.fullmatch(text)
    if match is None:
        raise CommandError(
            f"{text!r} is not an insertion; write OP_NameMsg@123, or OP_NameMsg@123..410 when"
            " numbers above 410 stay"
        )
    number, last = int(match[2]), int(match[3] or MAX_NUMBER)
    if number > MAX_NUMBER or not number <= last <= MAX_NUMBER:
        raise CommandError(f"{text}: numbers go from 0 to {MAX_NUMBER}, and LAST is not below N")
    return Insertion(match[1], number, last)


def derive(
    rows: Sequence[OpcodeRow],
    new: VersionRange,
    *,
    insertions: Iterable[Insertion] = (),
    removals: Iterable[str] = (),
    source: str,
) -> list[OpcodeRow]:
    """Return the rows of `new`: a copy of one range's rows with messages put in and taken out.

    Removals come first; the numbers behind a removed message move down by one. Then the insertions
    happen in their order. Place-holders are copied as they are. Raises `CommandError` when a name
    does not fit, or the result would not.
    """
    dead = dead_numbers(rows)
    live = {row.name: row.opcode for row in rows if not _held(row.opcode, dead)}
    for name in removals:
        if name not in live:
            raise CommandError(f"{name} is not in the table to derive from")
        gone = live.pop(name)
        if gone not in live.values():
            live = {other: n - (n > gone) for other, n in live.items()}
    for insertion in insertions:
        problem = name_problem(insertion.name)
        if problem or insertion.name in live:
            raise CommandError(problem or f"{insertion.name} is in the table already")
        live = {name: n + (insertion.number <= n <= insertion.last) for name, n in live.items()}
        live[insertion.name] = insertion.number
    if any(n > MAX_NUMBER or is_absent(n) for n in live.values()):
        raise CommandError("a number would reach those that mean: not there")
    notes = {row.name: row.note for row in rows}
    made = [OpcodeRow(*new, name, n, source, notes.get(name)) for name, n in live.items()]
    made += [
        row._replace(first=new.first, last=new.last)
        for row in rows
        if _held(row.opcode, dead) and row.name not in live
    ]
    return made


def _held(number: int, dead: frozenset[int]) -> bool:
    return is_absent(number) or number in dead
