import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.a2s.messages import MOST_BYTES, NUMBERS, PREFIX, A2sJoiner, split
from emu.errors import MalformedMessage


@given(st.integers(0, 12_000), st.integers(1, NUMBERS), st.data())
def test_an_answer_is_cut_and_joined_in_any_order(size: int, number: int, data) -> None:
    answer = PREFIX + (bytes(range(251)) * 50)[:size]
    parts = split(answer, number)
    assert all(len(part) <= MOST_BYTES for part in parts)
    assert (len(parts) == 1) == (len(answer) <= MOST_BYTES)
    joiner, joined = A2sJoiner(), None
    for part in data.draw(st.permutations([*parts, parts[0]] if len(parts) > 1 else parts)):
        joined = joiner.join(part) if joined is None else joined
    assert joined == answer


def test_the_head_of_a_part() -> None:
    first, second = split(PREFIX + bytes(1400), 0x1234)
    assert first[:16] == bytes.fromhex("feffffff 34120000 02 00 e004 ffffffff")
    assert second[:12] == bytes.fromhex("feffffff 34120000 02 01 e004")


@pytest.mark.parametrize(
    "part",
    ["", "fdffffff", "feffffff", "feffffff01000080020000e004", "feffffff00800000020000e004",
     "feffffff010000000202e00400", "feffffff010000000000e00400"],
)  # fmt: skip
def test_parts_of_nothing_are_refused(part: str) -> None:
    with pytest.raises(MalformedMessage):
        A2sJoiner().join(bytes.fromhex(part))


def test_a_later_answer_takes_the_place_of_one_that_is_not_complete() -> None:
    joiner = A2sJoiner()
    old, new = split(PREFIX + bytes(1400), 1), split(PREFIX + b"x" * 1400, 2)
    assert joiner.join(old[0]) is None
    assert joiner.join(new[1]) is None
    assert joiner.join(new[0]) == PREFIX + b"x" * 1400
