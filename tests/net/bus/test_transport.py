"""What operators see of a transport: counts, delay, pauses between attempts."""

from __future__ import annotations

from emu.net.bus.transport import RETRY_MOST, TransportState
from tests.support.running.whole_server import captured_log


def test_pauses_grow_until_a_connection_and_a_reason_is_logged_once() -> None:
    state = TransportState("nats://a")
    with captured_log("text") as log:
        pauses = [state.lost("refused") for _ in range(8)]
        assert pauses == [0.25, 0.5, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0]
        state.connected()
        assert state.reason == ""
        assert state.lost("refused") == 0.25
        state.connected()
        text = log.text
    assert text.count("no bus at nats://a: refused") == 2
    assert text.count("connected to the bus at nats://a") == 2
    assert state.counters["reconnects"] == 1
    assert pauses[-1] == RETRY_MOST


def test_two_missing_heartbeats_are_too_many() -> None:
    state, sent = TransportState("nats://a"), list[float]()
    assert state.beat(10.0, lambda: sent.append(10.0))
    state.heard_beat(10.5)
    assert state.delay == 0.5
    assert state.beat(12.0, lambda: sent.append(12.0))
    assert state.beat(14.0, lambda: sent.append(14.0))
    assert not state.beat(16.0, lambda: sent.append(16.0))
    assert sent == [10.0, 12.0, 14.0]
