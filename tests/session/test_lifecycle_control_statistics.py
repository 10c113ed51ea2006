"""Statistics that a client requests and a server returns."""

from __future__ import annotations

import pytest

from emu.errors import MalformedDatagram
from emu.session import SessionConfig, StatisticsReceived
from emu.session.lifecycle import ControlPackets, stat_response, statistics_of
from emu.session.send_queue import RoundTrip
from emu.wire import ServerKeyRequest, SessionStatResponse, pull_packet

CONFIG = SessionConfig()


def request(control, round_trip, *, sent=1, received=1, now=0.0) -> ServerKeyRequest:
    """Return the ServerKeyRequest that a client sends now."""
    control.request_statistics()
    (packet,) = control.take_pending(round_trip, sent=sent, received=received, now=now)
    found = pull_packet(packet)
    assert isinstance(found, ServerKeyRequest)
    return found


def test_a_request_carries_the_round_trip_only_once_it_is_measured():
    round_trip = RoundTrip(CONFIG)
    first = request(ControlPackets(), round_trip, sent=3, received=2, now=1.5)
    assert first == ServerKeyRequest(1500, packets_sent=3, packets_received=2)
    round_trip.measure(0.0001)
    second = request(ControlPackets(), round_trip, sent=4, received=2, now=70.0)
    assert (second.request_id, second.average) == (70_000 & 0xFFFF, 1)


def test_the_response_to_any_open_request_measures_and_settles_all():
    control, round_trip = ControlPackets(), RoundTrip(CONFIG)
    first = request(control, round_trip, now=1.0)
    request(control, round_trip, now=1.25)
    response = SessionStatResponse(first.request_id, server_sent=8, server_received=9)
    event = control.measure(response, round_trip, 1.5)
    assert event == StatisticsReceived(0.5, 0.5, 0.5, 0.5, 8, 9)
    with pytest.raises(MalformedDatagram, match="unasked statistics"):
        control.measure(response, round_trip, 1.6)


def test_requests_without_responses_do_not_pile_up():
    control, round_trip = ControlPackets(), RoundTrip(CONFIG)
    for number in range(1000):
        request(control, round_trip, now=number / 100)
    assert len(control._requested_at) <= 16


def test_a_server_returns_the_clients_counts_with_its_own():
    asked = ServerKeyRequest(7, 10, 20, 30, 40, 50, packets_sent=5, packets_received=4)
    response = stat_response(asked, sent=11, received=12, now=2.0**32 / 1000 + 1.0)
    assert response == SessionStatResponse(7, 1000, 5, 4, 11, 12)
    assert statistics_of(asked) == StatisticsReceived(0.01, 0.02, 0.03, 0.04, 5, 4)
