"""The mind of a creature: the order of hate, and its limits."""

from hypothesis import given
from hypothesis import strategies as st

from emu.world.actors.mind import LARGEST_HATE, MOST_HATED, Mind
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world_stream.movement import Position

PLACE = Position(1.0, 2.0, 3.0, 0.0)
OTHERS = [Spawn(number, SpawnKind.NPC, "Wolf", PLACE) for number in range(MOST_HATED + 5)]


def test_the_most_hated_is_the_first_of_equals() -> None:
    mind: Mind[Spawn] = Mind()
    assert mind.most_hated() is None
    for other, amount in zip(OTHERS, (5, 9, 9), strict=False):
        mind.add_hate(other, amount, PLACE)
    assert mind.most_hated() is OTHERS[1]
    assert mind.order() == [OTHERS[1], OTHERS[2], OTHERS[0]]


def test_hate_is_at_least_one_and_at_most_the_largest() -> None:
    mind: Mind[Spawn] = Mind()
    mind.add_hate(OTHERS[0], 0, PLACE)
    assert not mind.hates
    mind.add_hate(OTHERS[0], LARGEST_HATE, PLACE)
    mind.add_hate(OTHERS[0], 7, PLACE)
    assert mind.hates == {OTHERS[0]: LARGEST_HATE}
    mind.add_hate(OTHERS[0], -LARGEST_HATE - 9, PLACE)
    assert mind.hates == {OTHERS[0]: 1}


def test_only_so_many_are_hated() -> None:
    mind: Mind[Spawn] = Mind()
    for other in OTHERS:
        mind.add_hate(other, 1, PLACE)
    assert list(mind.hates) == OTHERS[:MOST_HATED]


def test_the_place_is_that_of_the_first_hate() -> None:
    mind: Mind[Spawn] = Mind()
    mind.add_hate(OTHERS[0], 1, PLACE)
    mind.add_hate(OTHERS[1], 1, PLACE._replace(x=9.0))
    assert mind.left_from == PLACE


def test_who_is_forgotten_fights_no_more() -> None:
    mind: Mind[Spawn] = Mind()
    mind.add_hate(OTHERS[0], 1, PLACE)
    mind.fighters[OTHERS[0]] = None
    mind.forget(OTHERS[0])
    mind.forget(OTHERS[1])
    assert not mind.hates
    assert not mind.fighters


@given(
    st.lists(st.integers(1, 4) | st.just(LARGEST_HATE), min_size=1, max_size=6),
    st.data(), st.booleans(),
)  # fmt: skip
def test_a_shift_changes_two_places(amounts: list[int], data: st.DataObject, up: bool) -> None:
    mind: Mind[Spawn] = Mind()
    for other, amount in zip(OTHERS, amounts, strict=False):
        mind.add_hate(other, amount, PLACE)
    before = mind.order()
    at = data.draw(st.integers(0, len(before) - 1))
    mind.shift(before[at], up=up)
    assert all(1 <= amount <= LARGEST_HATE for amount in mind.hates.values())
    to = at + (-1 if up else 1)
    if 0 <= to < len(before):
        expected = list(before)
        expected[at], expected[to] = expected[to], expected[at]
        first, second = (mind.hates[one] for one in expected[min(at, to) : max(at, to) + 1])
        assert first >= second
        assert first > second or first == 1
    else:
        assert mind.order() == before
