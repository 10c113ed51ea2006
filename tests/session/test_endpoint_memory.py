"""A limit over all holders: the books, and who goes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from emu.session.endpoint import SharedMemory


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 1000))))
def test_used_is_the_sum_of_what_each_holds_now(notes):
    memory = SharedMemory(10**9)
    for holder, held in notes:
        memory.note(holder, held)
    assert memory.used == sum(dict(notes).values())
    assert memory.to_end() == []


def test_nobody_goes_up_to_the_limit():
    memory = SharedMemory(100)
    memory.note("a", 60)
    memory.note("b", 40)
    assert memory.to_end() == []


def test_who_holds_most_goes_first_until_an_eighth_is_free():
    memory = SharedMemory(800)
    for holder, held in (("small", 10), ("big", 400), ("bigger", 401), ("medium", 60)):
        memory.note(holder, held)
    assert memory.to_end() == ["bigger"]
    memory.note("bigger", 0)
    assert memory.used == 470
    for number in range(34):
        memory.note(number, 10)
    assert memory.used == 810
    assert memory.to_end() == ["big"]


def test_equal_holders_go_one_after_another():
    memory = SharedMemory(80)
    for number in range(9):
        memory.note(number, 10)
    assert memory.to_end() == [0, 1]


def test_a_holder_that_lets_go_is_forgotten():
    memory = SharedMemory(100)
    memory.note("a", 90)
    memory.note("a", 0)
    memory.note("a", 0)
    memory.note("b", 101)
    assert memory.to_end() == ["b"]
