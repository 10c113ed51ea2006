"""An endpoint's measures go on when its sessions end."""

from __future__ import annotations

import os
from typing import Any

from emu.metrics import MetricRegistry
from emu.session import Endpoint, EndpointConfig, EndpointMeasures, Session
from emu.times import Monotonic

ADDRESS = ("192.0.2.1", 4000)


class Server:
    """An endpoint with one client, and the datagrams between them."""

    def __init__(self) -> None:
        self.now = Monotonic(0.0)
        self.endpoint = Endpoint(EndpointConfig(), random_bytes=os.urandom)
        self.client = Session.client()
        self.client.connect(self.now)
        self.carry()

    def carry(self) -> None:
        moved = True
        while moved:
            moved = False
            for data in self.client.datagrams_to_send(self.now):
                moved = True
                session = self.endpoint.receive_datagram(data, ADDRESS, self.now)
                answers = [one for one, _ in self.endpoint.datagrams_to_send()]
                if session is not None:
                    answers += session.datagrams_to_send(self.now)
                self.now = Monotonic(self.now + 0.01)
                for answer in answers:
                    self.client.receive_datagram(answer, self.now)

    @property
    def session(self) -> Any:
        return self.endpoint.get(ADDRESS)


def test_totals_survive_sessions_and_count_them_once() -> None:
    server, measures = Server(), MetricRegistry()
    EndpointMeasures(measures).watch("login", server.endpoint)
    server.client.send(1, b"hello")
    server.carry()
    session = server.session
    session.receive_datagram(b"\0\x09 no valid check here", server.now)
    server.endpoint.receive_datagram(b"nonsense", ("192.0.2.9", 1), server.now)

    def all_of_it() -> list[float]:
        return [
            measures.value("sessions_begun", "login"),
            measures.value("session_datagrams_received", "login"),
            measures.value("session_messages_received", "login"),
            measures.value("session_drops", "login", "bad check"),
            measures.value("datagrams_refused", "login", "unknown session"),
        ]

    before = all_of_it()
    assert before == [1, session.statistics().datagrams_received, 1, 1, 1]
    assert measures.value("sessions_now", "login") == 1
    session.discard("over")
    server.endpoint.forget(session)
    server.endpoint.forget(session)
    assert all_of_it() == before
    assert measures.value("sessions_now", "login") == 0
    histograms = {one.family.name: one.values for one in measures.read_samples()}
    assert histograms["session_round_trip_seconds"][("login",)].count == 1


def test_two_endpoints_are_counted_separately_with_half_open_sessions() -> None:
    measures = MetricRegistry()
    both = EndpointMeasures(measures)
    login, world = Server(), Endpoint(EndpointConfig(), random_bytes=os.urandom)
    both.watch("login", login.endpoint)
    both.watch("world", world)
    for data in Session.client().datagrams_to_send(login.now):
        world.receive_datagram(data, ADDRESS, login.now)
    unauthenticated = Session.client()
    unauthenticated.connect(login.now)
    for data in unauthenticated.datagrams_to_send(login.now):
        world.receive_datagram(data, ADDRESS, login.now)
    assert measures.value("sessions_now", "login") == 1
    assert measures.value("sessions_now", "world") == 0
    assert measures.value("sessions_half_open", "world") == 1
