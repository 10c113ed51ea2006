"""Which rows make up one client's table: the rules of ranges, place-holders and names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import UnknownOpcode, UnknownVersion
from emu.opcodes import OpcodeRow, OpcodeTables, VersionRange
from emu.opcodes.table import WHOLE_TABLE, is_absent

CUT = "OP_ExpectClientAsCharacterReplyMs"
FULL = "OP_ExpectClientAsCharacterReplyMsg"


def tables(*rows: tuple[int, int, str, int]) -> OpcodeTables:
    return OpcodeTables(OpcodeRow(*row) for row in rows)


def whole(first: int, last: int, **more: int) -> list[OpcodeRow]:
    """A range with as many rows as a whole build's table."""
    rows = [OpcodeRow(first, last, f"OP_{name}", number) for name, number in more.items()]
    fill = WHOLE_TABLE - len(rows)
    return rows + [OpcodeRow(first, last, f"OP_Fill{n}", 2000 + n) for n in range(fill)]


def test_names_and_numbers_find_each_other() -> None:
    table = tables((540, 546, "OP_A", 1), (540, 546, "OP_B", 300)).for_version(546)
    assert table.number("OP_B") == 300
    assert table.get("OP_B") == 300
    assert table.name(300) == "OP_B"
    assert table.get("OP_C") is None
    assert table.name(2) is None
    assert (table.version, table.range, len(table)) == (546, VersionRange(540, 546), 2)
    assert dict(table.names) == {1: "OP_A", 300: "OP_B"}
    assert dict(table.numbers) == {"OP_A": 1, "OP_B": 300}


def test_a_missing_name_is_reported_with_its_range() -> None:
    with pytest.raises(UnknownOpcode, match=r"version 545 .range 540-546. has no opcode OP_C"):
        tables((540, 546, "OP_A", 1)).for_version(545).number("OP_C")


def test_a_gap_is_refused_with_the_ranges_on_either_side() -> None:
    made = tables((0, 374, "OP_A", 1), (540, 546, "OP_A", 2), (540, 544, "OP_A", 3))
    with pytest.raises(UnknownVersion) as caught:
        made.for_version(400)
    assert caught.value.nearest == ((0, 374), (540, 544))
    with pytest.raises(UnknownVersion) as caught:
        made.for_version(700)
    assert caught.value.nearest == ((540, 546),)
    assert str(caught.value) == (
        "no opcode range covers client version 700; the nearest ranges are 540-546"
    )
    with pytest.raises(UnknownVersion):
        OpcodeTables([]).for_version(0)


def test_the_narrowest_range_wins_whatever_the_order() -> None:
    rows = [
        OpcodeRow(546, 844, "OP_LsClientAlertlogReplyMsg", 215),
        OpcodeRow(540, 546, "OP_LsClientAlertlogReplyMsg", 216),
        OpcodeRow(547, 838, "OP_LsClientAlertlogReplyMsg", 214),
    ]
    for order in (rows, rows[::-1]):
        made = OpcodeTables(order)
        found = [made.for_version(v).number("OP_LsClientAlertlogReplyMsg") for v in (546, 600, 840)]
        assert found == [216, 214, 215]


def test_exactly_one_version_is_the_narrowest_of_all() -> None:
    made = tables((540, 546, "OP_A", 1), (543, 543, "OP_A", 2))
    assert [made.for_version(v).number("OP_A") for v in (542, 543, 544)] == [1, 2, 1]


def test_of_two_equally_narrow_ranges_the_later_wins() -> None:
    made = tables((100, 110, "OP_A", 1), (105, 115, "OP_A", 2))
    assert made.for_version(107).number("OP_A") == 2
    assert made.for_version(107).range == (105, 115)


def test_a_small_range_adds_to_the_wider_one() -> None:
    made = tables((540, 546, "OP_A", 1), (540, 546, "OP_B", 2), (543, 543, "OP_A", 7))
    table = made.for_version(543)
    assert (table.number("OP_A"), table.number("OP_B")) == (7, 2)
    assert table.name(1) is None, "the old number of A is nobody's"
    assert table.range == (543, 543)


def test_a_number_that_the_narrower_range_took_is_not_given_twice() -> None:
    made = tables((540, 546, "OP_A", 1), (540, 546, "OP_B", 2), (543, 543, "OP_C", 2))
    table = made.for_version(543)
    assert table.name(2) == "OP_C"
    assert table.get("OP_B") is None


def test_nothing_is_added_to_a_whole_table() -> None:
    made = OpcodeTables([*whole(540, 546, A=1), OpcodeRow(546, 844, "OP_UpdatePositionMsg", 500)])
    assert made.for_version(546).get("OP_UpdatePositionMsg") is None
    assert made.for_version(547).number("OP_UpdatePositionMsg") == 500
    smaller = OpcodeTables(
        [*whole(540, 546, A=1)[1:], OpcodeRow(546, 844, "OP_UpdatePositionMsg", 500)]
    )
    assert smaller.for_version(546).number("OP_UpdatePositionMsg") == 500


@pytest.mark.parametrize("number", [999, 9999, 10000, 10063, 65535])
def test_a_sentinel_is_not_there_and_hides_the_wider_range(number: int) -> None:
    made = tables((540, 546, "OP_A", 1), (543, 543, "OP_A", number))
    table = made.for_version(543)
    assert table.get("OP_A") is None
    assert table.name(number) is None
    assert table.name(1) is None


def test_a_group_of_dead_names_is_not_there() -> None:
    made = tables(*((1, 2, f"OP_Dead{n}Msg", 1010) for n in range(8)), (1, 2, "OP_A", 1011))
    table = made.for_version(1)
    assert table.name(1010) is None
    assert table.get("OP_Dead1Msg") is None
    assert table.number("OP_A") == 1011


def test_one_number_under_two_names_is_shown_the_same_way_every_time() -> None:
    rows = [OpcodeRow(1, 2, name, 300) for name in ("OP_TradeskillList", "OP_ExpPurchWindow")]
    for order in (rows, rows[::-1]):
        table = OpcodeTables(order).for_version(1)
        assert table.name(300) == "OP_ExpPurchWindow"
        assert table.number("OP_TradeskillList") == table.number("OP_ExpPurchWindow") == 300


def test_a_renamed_message_is_found_under_both_names() -> None:
    table = tables((1, 2, "OP_SysClient", 217)).for_version(1)
    assert table.number("OP_SignalMsg") == table.number("OP_SysClient") == 217
    both = tables((1, 2, "OP_SysClient", 217), (1, 2, "OP_SignalMsg", 217)).for_version(1)
    assert both.name(217) == "OP_SignalMsg"


def test_a_cut_name_is_matched_to_its_full_name() -> None:
    """The full name may be known from another range only."""
    made = tables((1, 2, CUT, 28), (3, 4, FULL, 29))
    old, new = made.for_version(1), made.for_version(3)
    assert old.name(28) == FULL
    assert old.number(FULL) == old.number(CUT) == 28
    assert new.number(CUT) == new.number(FULL) == 29


def test_a_full_name_is_found_where_only_the_cut_one_is_known() -> None:
    table = tables((1, 2, CUT, 28)).for_version(1)
    assert table.number(FULL) == 28
    assert table.name(28) == CUT


def test_a_cut_name_beside_its_full_name_keeps_its_own_number() -> None:
    table = tables((1, 2, CUT, 28), (1, 2, FULL, 29)).for_version(1)
    assert (table.number(CUT), table.number(FULL)) == (28, 29)
    assert (table.name(28), table.name(29)) == (CUT, FULL)


def test_a_narrower_cut_name_hides_the_wider_full_one() -> None:
    made = tables((1, 9, FULL, 29), (1, 2, CUT, 28))
    assert made.for_version(1).number(FULL) == 28
    assert made.for_version(1).name(29) is None


def test_a_snapshot_cannot_be_changed() -> None:
    made = tables((1, 2, "OP_A", 1))
    table = made.for_version(1)
    with pytest.raises(TypeError):
        table.numbers["OP_B"] = 2  # type: ignore[index]
    with pytest.raises(TypeError):
        table.names[2] = "OP_B"  # type: ignore[index]
    assert isinstance(made.rows(VersionRange(1, 2)), tuple)


def test_spans_cover_every_version_once() -> None:
    made = tables((0, 10, "OP_A", 1), (3, 5, "OP_A", 2), (5, 7, "OP_A", 3), (20, 21, "OP_A", 4))
    spans = [(first, last, table.number("OP_A")) for first, last, table in made.spans()]
    assert spans == [(0, 2, 1), (3, 4, 2), (5, 5, 3), (6, 7, 3), (8, 10, 1), (20, 21, 4)]


ROWS = st.builds(
    lambda first, width, name, number: OpcodeRow(first, first + width, f"OP_{name}", number),
    st.integers(0, 12),
    st.integers(0, 8),
    st.sampled_from("ABCDE"),
    st.sampled_from([0, 1, 2, 3, 999, 1010, 9999]),
)


@pytest.mark.slow
@given(st.lists(ROWS, max_size=25, unique_by=lambda row: row[:3]), st.randoms())
def test_any_rows_give_one_table_whatever_their_order(
    rows: list[OpcodeRow], random: object
) -> None:
    made = OpcodeTables(rows)
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    again = OpcodeTables(shuffled)
    for version in range(22):
        covering = [row for row in rows if row.range.covers(version)]
        assert made.covers(version) is bool(covering)
        if not covering:
            continue
        table, other = made.for_version(version), again.for_version(version)
        assert dict(table.numbers) == dict(other.numbers)
        assert dict(table.names) == dict(other.names)
        assert table.range.width == min(row.range.width for row in covering)
        for number, name in table.names.items():
            assert table.number(name) == number
            assert not is_absent(number)
            assert any(row.name == name and row.opcode == number for row in covering)
