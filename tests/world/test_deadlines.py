"""Deadlines by owner and name."""

from __future__ import annotations

import random

from emu.times import Monotonic
from emu.world.deadlines import Deadlines


def test_the_earliest_comes_first_and_moved_ones_at_their_new_time() -> None:
    wakes: list[float] = []
    deadlines: Deadlines[str, str] = Deadlines(wakes.append)
    deadlines.set("a", "camp", 5.0)
    deadlines.set("b", "camp", 3.0)
    deadlines.set("a", "save", 4.0)
    deadlines.set("b", "camp", 9.0)
    assert wakes == [5.0, 3.0, 4.0, 9.0]
    assert deadlines.next() == 4.0
    assert deadlines.pop_due(3.9) is None
    assert deadlines.pop_due(6.0) == ("a", "save")
    assert deadlines.pop_due(6.0) == ("a", "camp")
    assert deadlines.pop_due(6.0) is None
    assert deadlines.get("b", "camp") == 9.0
    assert deadlines.clear("b", "camp")
    assert not deadlines.clear("b", "camp")
    assert deadlines.next() is None


def test_moving_for_ever_grows_nothing() -> None:
    chance = random.Random(1)
    deadlines: Deadlines[int, str] = Deadlines(lambda _due: None)
    for step in range(10_000):
        deadlines.set(chance.randrange(10), "save", float(step + chance.randrange(100)))
    assert len(deadlines) == 10
    assert len(deadlines._heap) < 200
    deadlines.forget(3, ("save", "camp"))
    popped = []
    while (due := deadlines.pop_due(1e9)) is not None:
        popped.append(due[0])
    assert sorted(popped) == [0, 1, 2, 4, 5, 6, 7, 8, 9]


def test_owners_that_are_gone_are_not_kept() -> None:
    deadlines: Deadlines[int, str] = Deadlines(lambda _due: None)
    for owner in range(5_000):
        deadlines.set(owner, "timer", Monotonic(1e6))
    for owner in range(5_000):
        assert deadlines.clear(owner, "timer")
    assert len(deadlines._heap) < 100
    assert deadlines.next() is None


def test_a_turn_takes_no_more_than_it_may_and_the_rest_stays_due() -> None:
    deadlines: Deadlines[int, str] = Deadlines(lambda _due: None)
    for owner in range(5):
        deadlines.set(owner, "step", Monotonic(owner))
    assert list(deadlines.some_due(Monotonic(3.0), 2)) == [(0, "step"), (1, "step")]
    assert deadlines.next() == 2.0
    assert [owner for owner, _ in deadlines.some_due(Monotonic(3.0), 9)] == [2, 3]
    assert deadlines.next() == 4.0
