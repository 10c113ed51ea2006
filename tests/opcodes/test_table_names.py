"""Place-holders, cut and former names, and which of two names is shown."""

from __future__ import annotations

import pytest

from emu.opcodes.table import (
    OpcodeRow,
    dead_numbers,
    full_names,
    is_absent,
    names_of_message,
    preference,
)

CUT = "OP_ExpectClientAsCharacterReplyMs"
FULL = "OP_ExpectClientAsCharacterReplyMsg"


@pytest.mark.parametrize("number", [999, 9999, 10000, 10063, 65535])
def test_sentinels_mean_not_there(number: int) -> None:
    assert is_absent(number)


@pytest.mark.parametrize("number", [0, 216, 411, 998, 1000, 9998])
def test_other_numbers_do_not(number: int) -> None:
    assert not is_absent(number)


def test_a_large_number_of_many_names_is_a_dead_group() -> None:
    def rows(number: int, count: int) -> list[OpcodeRow]:
        return [OpcodeRow(1, 2, f"OP_N{index}", number) for index in range(count)]

    assert dead_numbers(rows(1010, 8)) == {1010}
    assert not dead_numbers(rows(1010, 2))
    assert not dead_numbers(rows(400, 8))
    assert not dead_numbers(rows(9999, 8)), "a sentinel already says so by itself"


def test_a_name_of_33_characters_finds_the_one_it_was_cut_from() -> None:
    assert len(CUT) == 33
    assert full_names({CUT, FULL}) == {CUT: FULL}
    assert full_names({FULL}) == {}
    assert full_names({CUT}) == {}
    assert full_names({CUT, FULL, FULL + "2"}) == {}, "nobody knows which was meant"


def test_the_shown_name_does_not_hang_on_order() -> None:
    names = ["OP_SysClient", "OP_SignalMsg", "OP_ExpPurchWindow", CUT, FULL, "OP_EqStateCmd"]
    full = {CUT: FULL}
    expected = sorted(names, key=lambda name: preference(name, full))
    names.reverse()
    assert sorted(names, key=lambda name: preference(name, full)) == expected
    assert expected == [
        "OP_EqStateCmd", FULL, "OP_SignalMsg", "OP_ExpPurchWindow", "OP_SysClient", CUT,
    ]  # fmt: skip


def test_both_names_of_a_renamed_message_mean_it() -> None:
    assert names_of_message("OP_SysClient") == ("OP_SysClient", "OP_SignalMsg")
    assert names_of_message("OP_SignalMsg") == ("OP_SignalMsg", "OP_SysClient")
    assert names_of_message("OP_ZoneInfoMsg") == ("OP_ZoneInfoMsg",)
