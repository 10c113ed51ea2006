"""A new build's table from an older one's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import CommandError
from emu.opcodes import OpcodeRow, VersionRange
from emu.opcodes.changes import Insertion, derive, parse_insertion

NEW = VersionRange(547, 547)


def numbers(rows: list[OpcodeRow]) -> dict[str, int]:
    assert all(row.range == NEW for row in rows)
    return {row.name: row.opcode for row in rows}


def old(**rows: int) -> list[OpcodeRow]:
    return [OpcodeRow(540, 546, f"OP_{name}", number, "p", "n") for name, number in rows.items()]


def test_what_stands_behind_an_insertion_moves_up() -> None:
    made = derive(old(A=1, B=2, C=3), NEW, insertions=[Insertion("OP_New", 2)], source="s")
    assert numbers(made) == {"OP_A": 1, "OP_New": 2, "OP_B": 3, "OP_C": 4}
    assert {row.source for row in made} == {"s"}
    assert [row.note for row in made if row.name == "OP_A"] == ["n"]


def test_a_block_may_end() -> None:
    steps = [Insertion("OP_New", 2, 3)]
    assert numbers(derive(old(A=1, B=2, C=3, D=10), NEW, insertions=steps, source="")) == {
        "OP_A": 1, "OP_New": 2, "OP_B": 3, "OP_C": 4, "OP_D": 10,
    }  # fmt: skip


def test_insertions_happen_in_their_order_and_removals_before() -> None:
    steps = [Insertion("OP_X", 1), Insertion("OP_Y", 1)]
    made = derive(old(A=1, B=2, C=3), NEW, insertions=steps, removals=["OP_A"], source="")
    assert numbers(made) == {"OP_Y": 1, "OP_X": 2, "OP_B": 3, "OP_C": 4}


def test_place_holders_stay_as_they_are() -> None:
    rows = [*old(A=1, S=999, T=9999), *(OpcodeRow(540, 546, f"OP_D{n}", 1010) for n in range(3))]
    made = numbers(derive(rows, NEW, insertions=[Insertion("OP_New", 0)], source=""))
    assert made["OP_A"] == 2
    assert (made["OP_S"], made["OP_T"], made["OP_D1"]) == (999, 9999, 1010)


def test_an_insertion_may_bring_a_missing_message_back() -> None:
    made = derive(old(A=1, S=999), NEW, insertions=[Insertion("OP_S", 1)], source="")
    assert numbers(made) == {"OP_S": 1, "OP_A": 2}


def test_names_that_share_a_number_stay_together() -> None:
    made = derive(old(A=1, B=1, C=2), NEW, removals=["OP_A"], source="")
    assert numbers(made) == {"OP_B": 1, "OP_C": 2}


@pytest.mark.parametrize(
    ("steps", "gone", "message"),
    [
        ([Insertion("OP_A", 5)], [], "OP_A is in the table already"),
        ([Insertion("A", 5)], [], "'A' is not an opcode name"),
        ([], ["OP_Z"], "OP_Z is not in the table"),
        ([Insertion("OP_New", 998), Insertion("OP_More", 998)], [], "range of placeholders"),
    ],
)
def test_what_does_not_fit_is_refused(
    steps: list[Insertion], gone: list[str], message: str
) -> None:
    with pytest.raises(CommandError, match=message):
        derive(old(A=1), NEW, insertions=steps, removals=gone, source="")


def test_insertions_as_text() -> None:
    assert parse_insertion("OP_New@212") == Insertion("OP_New", 212)
    assert parse_insertion("OP_New@212..410") == Insertion("OP_New", 212, 410)
    for text in ("OP_New", "OP_New@", "New@1", "OP_New@70000", "OP_New@5..4", "OP_New@1..99999"):
        with pytest.raises(CommandError):
            parse_insertion(text)


@given(st.lists(st.integers(0, 400), max_size=30, unique=True), st.integers(0, 400))
def test_no_two_messages_meet_on_one_number(taken: list[int], place: int) -> None:
    rows = [OpcodeRow(1, 1, f"OP_N{number}", number) for number in taken]
    made = derive(rows, NEW, insertions=[Insertion("OP_New", place)], source="")
    assert len({row.opcode for row in made}) == len(taken) + 1
    back = derive(made, NEW, removals=["OP_New"], source="")
    assert numbers(back) == {row.name: row.opcode for row in rows}
