"""What differs between two opcode tables, by name. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from emu.opcodes.names import CUT_LENGTH, RENAMED, dead_numbers, is_absent
from emu.opcodes.rows import OpcodeRow, VersionRange
from emu.opcodes.table import OpcodeTable


class Difference(NamedTuple):
    """A name with different numbers; None where a side does not have it.

    `range` is the version range compared, "" when two single versions were.
    """

    range: str
    name: str
    first: int | None
    second: int | None


def compare_tables(first: OpcodeTable, second: OpcodeTable) -> list[Difference]:
    """Compare what two client versions are spoken to with, in the order of the numbers."""
    return _compare("", _messages(first), _messages(second))


def _messages(table: OpcodeTable) -> dict[str, int]:
    """Return a table's names without the cut and former ones of messages that have a better one."""
    numbers = table.numbers
    cut = {name[:CUT_LENGTH] for name in numbers if len(name) > CUT_LENGTH}
    return {
        name: number
        for name, number in numbers.items()
        if name not in cut and RENAMED.get(name) not in numbers
    }


def compare_rows(
    first: Iterable[OpcodeRow], second: Iterable[OpcodeRow]
) -> tuple[list[Difference], list[VersionRange], list[VersionRange]]:
    """Compare the ranges that two sets of rows both have.

    Returns the differences and the ranges that only the first and only the second has.
    """
    left, right = _by_range(first), _by_range(second)
    found: list[Difference] = []
    for version_range in sorted(left.keys() & right.keys()):
        found += _compare(str(version_range), left[version_range], right[version_range])
    return found, sorted(left.keys() - right.keys()), sorted(right.keys() - left.keys())


def _by_range(rows: Iterable[OpcodeRow]) -> dict[VersionRange, dict[str, int]]:
    grouped: dict[VersionRange, list[OpcodeRow]] = {}
    for row in rows:
        grouped.setdefault(row.range, []).append(row)
    numbers = {}
    for version_range, group in grouped.items():
        dead = dead_numbers(group)
        numbers[version_range] = {
            row.name: row.opcode
            for row in group
            if not is_absent(row.opcode) and row.opcode not in dead
        }
    return numbers


def _compare(where: str, first: Mapping[str, int], second: Mapping[str, int]) -> list[Difference]:
    found = [
        Difference(where, name, first.get(name), second.get(name))
        for name in first.keys() | second.keys()
        if first.get(name) != second.get(name)
    ]
    found.sort(
        key=lambda one: (
            one.first if one.first is not None else one.second if one.second is not None else 0,
            one.name,
        )
    )
    return found
