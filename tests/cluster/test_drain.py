"""Sending players to other nodes."""

from __future__ import annotations

from emu.cluster.drain import MOST_AT_ONCE, RETRY, Drain
from emu.times import Monotonic


def test_a_hundred_players_take_five_seconds() -> None:
    here = list(range(100))
    drain = Drain(lambda: here)
    now, times = Monotonic(1000.0), []
    while (due := drain.get_timer(now)) is not None:
        now = max(now, due)
        for one in drain.due(now):
            here.remove(one)
            times.append(now)
    assert len(times) == 100
    assert 4.5 < times[-1] - times[0] < 5.1


def test_a_player_that_stays_is_sent_again_later() -> None:
    drain = Drain(lambda: [7])
    assert drain.due(Monotonic(0.0)) == [7]
    assert drain.due(Monotonic(1.0)) == []
    assert drain.get_timer(Monotonic(1.0)) == RETRY
    assert drain.due(Monotonic(RETRY)) == [7]


def test_a_player_that_could_not_be_taken_is_not_sent_at_once() -> None:
    here = [7]
    drain = Drain(lambda: here)
    assert drain.due(Monotonic(0.0)) == [7]
    here.clear()
    assert drain.due(Monotonic(0.5)) == []
    assert drain.get_timer(Monotonic(0.5)) is None
    here.append(7)
    assert drain.due(Monotonic(1.0)) == []
    assert drain.due(Monotonic(RETRY)) == [7]


def test_after_a_pause_few_are_sent_at_once() -> None:
    drain = Drain(lambda: range(100))
    drain.due(Monotonic(0.0))
    assert len(drain.due(Monotonic(60.0))) <= MOST_AT_ONCE + 1
