"""How late the messages of another process are, although its clock began at another time."""

from __future__ import annotations

from emu.processes.peers import Peer


def test_a_message_is_as_late_as_it_is_behind_the_fastest_one() -> None:
    peer = Peer("east", 1, 0.0)
    assert peer.lag(5.0, 1000.25) == 0.0
    assert peer.lag(6.0, 1001.0) == 0.0
    assert peer.lag(7.0, 1003.5) == 1.5
    peer.reconnected(1004.0)
    assert peer.lag(8.0, 1011.0) == 8.0, "sent before the connection was lost"


def test_clocks_that_drift_are_no_delay() -> None:
    peer, now = Peer("east", 1, 0.0), 1000.0
    for minute in range(200):
        assert peer.lag(now - 5000.0 - minute * 0.1, now) < 0.21
        now += 60.0


def test_a_time_that_is_none_is_later_than_any() -> None:
    peer = Peer("east", 1, 0.0)
    assert peer.lag(float("nan"), 1.0) == float("inf")
    assert peer.lag(1.0, 1.0) == 0.0
