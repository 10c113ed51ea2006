"""Differences between tables and between sets of rows."""

from __future__ import annotations

from emu.opcodes import OpcodeRow, OpcodeTables, VersionRange, shipped_tables
from emu.opcodes.changes import OpcodeDifference, compare_rows, compare_tables

CUT = "OP_ExpectClientAsCharacterReplyMs"
FULL = "OP_ExpectClientAsCharacterReplyMsg"


def test_two_versions_are_compared_by_name() -> None:
    made = shipped_tables()
    found = {
        one.name: one[2:] for one in compare_tables(made.for_version(546), made.for_version(561))
    }
    assert found["OP_EqHearChatCmd"] == (411, 417)
    assert found["OP_BioUpdateMsg"] == (293, 294)
    assert "OP_KeymapLoadMsg" not in found
    assert "OP_SysClient" not in found, "another name of OP_SignalMsg is no other message"


def test_differences_stand_in_the_order_of_the_numbers() -> None:
    rows = [OpcodeRow(1, 1, "OP_A", 9), OpcodeRow(1, 1, "OP_B", 3), OpcodeRow(1, 1, "OP_C", 5)]
    first = OpcodeTables(rows).for_version(1)
    second = OpcodeTables([OpcodeRow(2, 2, "OP_D", 4)]).for_version(2)
    assert compare_tables(first, second) == [
        OpcodeDifference("", "OP_B", 3, None),
        OpcodeDifference("", "OP_D", None, 4),
        OpcodeDifference("", "OP_C", 5, None),
        OpcodeDifference("", "OP_A", 9, None),
    ]
    assert compare_tables(first, first) == []


def test_a_cut_and_a_full_name_are_one_message() -> None:
    first = OpcodeTables([OpcodeRow(1, 1, CUT, 28), OpcodeRow(2, 2, FULL, 28)])
    assert compare_tables(first.for_version(1), first.for_version(2)) == []


def test_ranges_that_both_have_are_compared_and_the_others_named() -> None:
    first = [OpcodeRow(1, 2, "OP_A", 1), OpcodeRow(1, 2, "OP_B", 999), OpcodeRow(5, 6, "OP_A", 1)]
    second = [OpcodeRow(1, 2, "OP_A", 2), OpcodeRow(7, 8, "OP_A", 1)]
    assert compare_rows(first, second) == (
        [OpcodeDifference("1-2", "OP_A", 1, 2)],
        [VersionRange(5, 6)],
        [VersionRange(7, 8)],
    )
