from __future__ import annotations

import pytest

from emu.limits.rates import GRACE, FairWork
from emu.times import Monotonic


def at(seconds: float) -> Monotonic:
    return Monotonic(100.0 + seconds)


def taken(work: FairWork[str], now: float = 0.0) -> list[str]:
    found = []
    while (item := work.take(at(now))) is not None:
        found.append(item)
    return found


def test_sources_take_turns_and_some_are_first() -> None:
    work: FairWork[str] = FairWork(0.5)
    for item in ("a1", "a2", "a3", "b1", "c1", "c2"):
        work.put(item[0], item)
    work.put("z", "z1", is_first=True)
    assert len(work) == 7
    assert taken(work) == ["z1", "a1", "b1", "c1", "a2", "c2", "a3"]
    assert (len(work), work.get_timer()) == (0, None)


def test_what_was_charged_is_rested_for() -> None:
    work: FairWork[str] = FairWork(0.25)
    for item in ("a", "b", "c", "d", "e"):
        work.put("a", item)
    assert work.take(at(0)) == "a"
    work.charge(GRACE / 5, at(0))
    assert work.take(at(0)) == "b", "so much may be due"
    work.charge(0.5, at(0))
    assert work.take(at(0)) is None
    assert work.get_timer() == pytest.approx(at(2.0), abs=2 * GRACE)
    assert work.take(at(1.9)) is None
    assert work.take(at(2.1)) == "c"


def test_an_item_that_waits_alone_rests_for_one_turn_only() -> None:
    work: FairWork[str] = FairWork(0.25)
    work.charge(1.0, at(0))
    work.put("a", "x")
    assert work.take(at(0), in_turn=False) is None
    assert work.get_timer() == 0.0
    work.put("b", "y")
    assert work.take(at(0)) is None
    assert work.get_timer() == pytest.approx(at(4.0), abs=2 * GRACE)
    assert work.take(at(4.0)) == "x"
    work.charge(1.0, at(4.0))
    assert work.take(at(4.0)) == "y"


def test_an_idle_time_is_not_saved_up() -> None:
    work: FairWork[str] = FairWork(0.5)
    work.charge(1.0, at(0))
    work.put("a", "x")
    work.put("a", "y")
    work.put("a", "z")
    assert work.take(at(1000)) == "x"
    work.charge(1.0, at(1000))
    assert work.take(at(1001)) is None
