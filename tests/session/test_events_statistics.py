"""The snapshot of a session's counters."""

from __future__ import annotations

import pytest

from emu.session import Role, Session, SessionConfig, SessionStatistics


def test_a_new_session_has_counted_nothing():
    statistics = Session(SessionConfig(), role=Role.SERVER).statistics()
    assert isinstance(statistics, SessionStatistics)
    assert statistics.datagrams_received == statistics.bytes_sent == statistics.drops == 0
    assert statistics.smoothed_round_trip is None
    assert statistics.retransmission_timeout == 1.5


def test_what_happened_is_in_the_numbers(link):
    before = link.server.statistics()
    link.client.send(1, b"hello")
    link.server.send(2, bytes(100))
    link.flush()
    assert link.server.statistics().packets_in_flight == 1
    assert link.server.statistics().queued_bytes >= 102
    link.run(1.0)
    link.server.receive_datagram(b"garbage", link.now)
    after = link.server.statistics()
    assert after.messages_received == before.messages_received + 1
    assert after.messages_sent == before.messages_sent + 1
    assert after.drops == before.drops + 1
    assert after.queued_bytes == after.packets_in_flight == 0
    assert after.smoothed_round_trip == pytest.approx(0.1)
    sent = [datagram for role, datagram in link.wire if role is Role.SERVER]
    assert after.datagrams_sent - before.datagrams_sent == len(sent)
    assert after.bytes_sent - before.bytes_sent == sum(map(len, sent))
