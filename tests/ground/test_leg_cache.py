"""Corners of legs: traced in turns, kept, and shared by all who ask."""

from pathlib import Path

import pytest

from emu.ground import leg_cache
from emu.ground.leg_cache import Leg, LegCache
from emu.ground.legs import LegCorner
from tests.support.ground.map_bytes import Part, hills, opened

LEG = Leg((-50.0, 0.0, 3.0), (50.0, 0.0, 9.0))


class Turns:
    """Counts the requests for a turn."""

    def __init__(self, folder: Path) -> None:
        self.requests = 0
        self.cache = LegCache(opened(folder, [Part(hills(60))]), self._request)

    def _request(self) -> None:
        self.requests += 1


@pytest.fixture
def turns(tmp_path: Path) -> Turns:
    return Turns(tmp_path)


def test_a_leg_is_traced_once_for_all_who_ask(turns: Turns) -> None:
    found: list[list[LegCorner]] = []
    assert turns.cache.corners(LEG, found.append) is None
    assert turns.cache.corners(LEG, found.append) is None
    assert turns.requests == 1
    count = 0
    while turns.cache.work(10):
        count += 1
    assert count > 5
    assert len(found) == 2
    assert found[0] is found[1]
    assert len(found[0]) > 3
    assert turns.cache.corners(LEG, found.append) is found[0]
    assert len(found) == 2
    assert not turns.cache.work(10)


def test_legs_wait_for_their_turn(turns: Turns) -> None:
    done: list[str] = []
    turns.cache.corners(LEG, lambda _: done.append("long"))
    turns.cache.corners(Leg((0, 0, 0), (3, 0, 0)), lambda _: done.append("short"))
    assert turns.requests == 1
    while turns.cache.work(7):
        pass
    assert done == ["long", "short"]
    turns.cache.corners(Leg((0, 0, 0), (6, 0, 0)), lambda _: done.append("next"))
    assert turns.requests == 2


def test_a_turn_ends_where_heights_take_long(turns: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leg_cache, "VISITS_A_TURN", 10)
    turns.cache.corners(LEG, lambda _: None)
    ground, count, is_waiting = turns.cache._ground, 0, True
    while is_waiting:
        before, count = ground.visits, count + 1
        is_waiting = turns.cache.work(1000)
        assert ground.visits - before <= 40
    assert count > 10


def test_few_legs_are_kept(turns: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leg_cache, "MOST_KEPT", 2)
    legs = [Leg((0, 0, 0), (1 + far, 0, 0)) for far in range(3)]
    for leg in legs:
        turns.cache.corners(leg, lambda _: None)
        while turns.cache.work():
            pass
    assert turns.cache.corners(legs[1], lambda _: None) is not None
    assert turns.cache.corners(legs[0], lambda _: None) is None


def test_removed_widgets_make_all_legs_new(turns: Turns) -> None:
    turns.cache.corners(LEG, lambda _: None)
    while turns.cache.work():
        pass
    turns.cache.remove_widgets(frozenset())
    assert turns.cache.corners(LEG, lambda _: None) is None
