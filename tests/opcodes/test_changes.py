"""What rows of a file change, before anything is written."""

from __future__ import annotations

import pytest
from hypothesis import given

from emu.errors import CommandError
from emu.opcodes import OpcodeRow, VersionRange
from emu.opcodes.changes import (
    Keep,
    Key,
    OpcodeRowChange,
    Plan,
    Rejected,
    key_of,
    plan_reset,
    plan_rows,
)
from tests.support.files.opcode_rows import ROWS

OLD = OpcodeRow(540, 546, "OP_A", 1, "a page", "proved")
ELSE = OpcodeRow(560, 561, "OP_A", 5, "a page", "")


def have(*rows: OpcodeRow) -> dict[Key, OpcodeRow]:
    return {key_of(row): row for row in rows}


def plan(existing: dict[Key, OpcodeRow], *rows: OpcodeRow, **options: str) -> Plan:
    placed = ((f"line {number}", row) for number, row in enumerate(rows, 1))
    return plan_rows(existing, placed, **options)


def test_the_same_row_changes_nothing() -> None:
    made = plan(have(OLD), OLD)
    assert (made.changes, made.unchanged) == ([], 1)


def test_a_format_without_source_and_note_leaves_them() -> None:
    made = plan(have(OLD), OpcodeRow(540, 546, "OP_A", 1), source="dump.sql")
    assert (made.changes, made.unchanged) == ([], 1)


def test_a_new_number_gets_the_new_source_and_loses_the_old_note() -> None:
    made = plan(have(OLD), OpcodeRow(540, 546, "OP_A", 2), source="dump.sql")
    assert made.changes == [OpcodeRowChange(OLD, OpcodeRow(540, 546, "OP_A", 2, "dump.sql", ""))]
    assert (made.added, made.altered, made.removed) == (0, 1, 0)


def test_a_given_note_is_a_change() -> None:
    made = plan(have(OLD), OLD._replace(note=""))
    assert made.changes == [OpcodeRowChange(OLD, OLD._replace(note=""))]


def test_rows_that_make_no_sense_are_rejected_with_their_place() -> None:
    made = plan({}, OLD, OpcodeRow(67634, 67633, "OP_A", 1), OLD._replace(opcode=70000))
    assert made.added == 1
    assert made.rejected == [
        Rejected("line 2", "inverted version range 67634-67633 (row OP_A = 1)"),
        Rejected("line 3", "opcode 70000 is not between 0 and 65535 (row OP_A = 70000)"),
    ]


def test_a_second_number_for_one_name_is_rejected() -> None:
    made = plan({}, OLD, OLD, OLD._replace(opcode=2))
    assert made.added == 1
    assert made.rejected == [
        Rejected("line 3", "OP_A has a second number 2 for 540-546, the first is 1")
    ]


def test_what_is_kept_is_chosen() -> None:
    other = OpcodeRow(540, 546, "OP_B", 2, "", "")
    existing = have(OLD, other, ELSE)
    assert plan(existing, OLD).removed == 0
    assert plan(existing, OLD, keep=Keep.OTHER_RANGES).changes == [OpcodeRowChange(other, None)]
    assert plan(existing, OLD, keep=Keep.NOTHING).removed == 2
    assert OpcodeRowChange(other, None).row == other


@given(ROWS, ROWS)
def test_a_plan_that_was_carried_out_changes_nothing_again(
    old: list[OpcodeRow], new: list[OpcodeRow]
) -> None:
    existing = have(*old)
    made = plan(existing, *new)
    for change in made.changes:
        assert change.new is not None
        existing[key_of(change.new)] = change.new
    again = plan(existing, *new)
    assert (again.changes, again.unchanged) == ([], len(new))
    assert set(have(*new).items()) <= set(existing.items())


def test_a_reset_is_planned_for_what_is_chosen() -> None:
    shipped = [OpcodeRow(1, 2, "OP_A", 1, "", ""), OpcodeRow(1, 2, "OP_B", 2, "", "")]
    present = [shipped[0]._replace(opcode=9), OpcodeRow(3, 4, "OP_C", 3, "", "")]
    plan = plan_reset(present, shipped)
    assert (plan.altered, plan.added, plan.removed, plan.unchanged) == (1, 1, 1, 0)
    assert plan_reset(present, shipped, name="OP_B").changes == [OpcodeRowChange(None, shipped[1])]
    assert plan_reset(present, shipped, VersionRange(3, 4)).changes == [
        OpcodeRowChange(present[1], None)
    ]
    assert plan_reset(shipped, shipped).unchanged == 2
    with pytest.raises(CommandError, match="such rows"):
        plan_reset(present, shipped, VersionRange(1, 2), "OP_C")
