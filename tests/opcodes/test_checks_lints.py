"""Every rule finds what it is for, and says it in one line."""

from __future__ import annotations

import pytest
from hypothesis import given

from emu.opcodes import OpcodeRow
from emu.opcodes.changes import Rejected
from emu.opcodes.checks import CORE, OpcodeFinding, Severity, check, errors
from emu.opcodes.table import WHOLE_TABLE
from tests.support.files.opcode_rows import ROWS

CUT = "OP_ExpectClientAsCharacterReplyMs"
FULL = "OP_ExpectClientAsCharacterReplyMsg"


def login(first: int = 0, last: int = 374) -> list[OpcodeRow]:
    return [OpcodeRow(first, last, name, number) for name, number in CORE.items()]


def only(*rows: OpcodeRow, used: tuple[str, ...] = ()) -> OpcodeFinding:
    (found,) = check([*login(), *rows], used=used)
    return found


def test_sound_rows_give_nothing() -> None:
    assert check([*login(), *login(540, 546)]) == []


@pytest.mark.parametrize(
    ("first", "last", "missing"), [(1, 374, "0"), (0, 0, "1"), (540, 546, "0 and 1")]
)
def test_versions_0_and_1_must_be_covered(first: int, last: int, missing: str) -> None:
    (found,) = check(login(first, last))
    assert (found.severity, found.code) == (Severity.ERROR, "uncovered")
    assert found.message.startswith(f"no range covers version {missing}, which")


def test_core_numbers_never_move() -> None:
    found = only(OpcodeRow(540, 546, "OP_LoginReplyMsg", 40))
    assert (found.severity, found.code, found.range) == (Severity.ERROR, "core-number", "540-546")
    assert found.message == "OP_LoginReplyMsg is 40, but it is 4 in every client version"
    found = only(OpcodeRow(540, 546, "OP_KeymapLoadMsg", 4))
    assert found.message == (
        "OP_KeymapLoadMsg has number 4, which is OP_LoginReplyMsg in every client version"
    )


def test_two_names_of_one_number_are_reported() -> None:
    pair = [OpcodeRow(540, 546, name, 191) for name in ("OP_SysClient", "OP_SignalMsg")]
    found = only(*pair)
    assert (found.severity, found.code) == (Severity.WARNING, "shared-number")
    assert found.message == (
        "191 has 2 names (OP_SignalMsg, OP_SysClient); OP_SignalMsg is shown for it"
    )


def test_two_names_that_the_program_speaks_are_an_error() -> None:
    names = ("OP_KeymapLoadMsg", "OP_KeymapNoneMsg")
    found = only(*(OpcodeRow(540, 546, name, 153) for name in names), used=names)
    assert (found.severity, found.code) == (Severity.ERROR, "clash")
    assert "153 is the number of OP_KeymapLoadMsg and OP_KeymapNoneMsg" in found.message


def test_two_messages_of_clients_are_an_error_without_naming_them() -> None:
    names = ("OP_SignalMsg", "OP_DialogSelectMsg")
    (found,) = check([*login(), *(OpcodeRow(540, 546, name, 191) for name in names)])
    assert (found.severity, found.code) == (Severity.ERROR, "clash")


def test_two_messages_that_no_service_reads_may_share_a_number() -> None:
    """EQ2Emulator's tables of 57032 and newer have such a pair (docs/protocol/opcodes.md)."""
    names = ("OP_CSToolAccessResponseMsg", "OP_UpdateGroupMemberDataMsg")
    (found,) = check([*login(), *(OpcodeRow(540, 546, name, 388) for name in names)])
    assert (found.severity, found.code) == (Severity.WARNING, "shared-number")


def test_a_cut_name_is_no_second_name() -> None:
    found = only(*(OpcodeRow(540, 546, name, 28) for name in (CUT, FULL)))
    assert (found.severity, found.code) == (Severity.NOTE, "cut-name")
    assert f"{CUT} = {FULL}" in found.message


def test_a_cut_name_with_another_number_than_its_full_one_is_reported() -> None:
    rows = [OpcodeRow(540, 546, CUT, 28), OpcodeRow(540, 546, FULL, 29)]
    found = check([*login(), *rows])
    assert [one.code for one in found] == ["cut-twin", "cut-name"]
    assert found[0].message == f"{CUT} is 28, but its full name {FULL} is 29"


def test_place_holders_are_reported() -> None:
    rows = [OpcodeRow(540, 546, f"OP_S{n}", n) for n in (999, 9999, 10000, 65535)]
    found = only(*rows)
    assert (found.severity, found.code) == (Severity.NOTE, "sentinel")
    assert found.message.startswith("4 rows have a sentinel (999, 9999, 10000, 65535)")
    assert only(OpcodeRow(540, 546, "OP_HeritageMsg", 10063)).code == "placeholder"
    assert only(*(OpcodeRow(540, 546, f"OP_D{n}", 1010) for n in range(8))).code == "dead-group"


def test_an_overlap_is_reported_with_what_differs_and_who_wins() -> None:
    numbers = {"OP_KeymapLoadMsg": (153, 151), "OP_LsClientAlertlogReplyMsg": (216, 215)}
    rows = [OpcodeRow(540, 546, name, pair[0]) for name, pair in numbers.items()]
    rows += [OpcodeRow(546, 844, name, pair[1]) for name, pair in numbers.items()]
    found = only(*rows)
    assert (found.severity, found.code, found.range) == (Severity.WARNING, "overlap", "546")
    assert found.message == (
        "540-546 and 546-844 overlap at 546: 540-546 wins as the narrower, and the other adds to"
        " it; 2 names differ: OP_KeymapLoadMsg 153/151, OP_LsClientAlertlogReplyMsg 216/215"
        " (the wider is 546-844)"
    )


def test_an_overlap_without_a_difference_is_only_a_note() -> None:
    found = only(OpcodeRow(540, 546, "OP_A", 100), OpcodeRow(544, 545, "OP_A", 100))
    assert (found.severity, found.range) == (Severity.NOTE, "544-545")
    assert "they agree" in found.message


def test_a_whole_table_is_not_said_to_be_added_to() -> None:
    rows = [OpcodeRow(540, 546, f"OP_N{n}", 100 + n) for n in range(WHOLE_TABLE)]
    found = only(*rows, OpcodeRow(546, 844, "OP_N0", 101))
    assert "adds to it" not in found.message


def test_rejected_rows_are_errors_together() -> None:
    rejected = [
        Rejected(f"line {n}", f"inverted version range 67634-67633 (row OP_N{n} = 1)")
        for n in range(44)
    ]
    rejected.append(Rejected("line 99", "opcode 70000 is not between 0 and 65535"))
    found = check(login(), rejected=rejected)
    assert [(one.severity, one.code) for one in found] == [
        (Severity.ERROR, "invalid-row"),
        (Severity.ERROR, "inverted-range"),
    ]
    assert found[1].range == "67634-67633"
    assert "67634-67633: 44 rows cannot be used, the first at line 0" in found[1].message


def test_rows_that_are_none_are_errors() -> None:
    found = errors(check([*login(), OpcodeRow(9, 8, "OP_A", 1), OpcodeRow(8, 9, "A", 1)]))
    assert {one.code for one in found} == {"inverted-range", "invalid-row"}


@given(ROWS)
def test_any_rows_can_be_checked(rows: list[OpcodeRow]) -> None:
    found = check(rows, used=[row.name for row in rows])
    assert [one.severity for one in found] == sorted(
        (one.severity for one in found), key=list(Severity).index
    )
    assert all("\n" not in one.message for one in found)
