"""A session whose owner takes its messages slowly: what waits is bounded, and nothing is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu.session import Message, Role, Session, SessionConfig
from emu.times import Monotonic
from emu.wire import AppCombined, ServerKeyRequest, push_packet
from tests.support.sessions.link import Link, connected_link, make_sessions, sealed

CONFIG = replace(SessionConfig(), waiting_message_limit=20, waiting_bytes_limit=100_000)


def waiting(session: Session) -> int:
    return sum(isinstance(event, Message) for event in session.events)


class SlowOwner(Link):
    """A link whose server's owner takes only so many messages each time it is asked."""

    most = 0

    def flush(self) -> None:
        for session, other in ((self.client, self.server), (self.server, self.client)):
            left = self.most if session is self.server else 10**9
            while left and (event := session.next_event()) is not None:
                self.events[session.role].append(event)
                left -= 1
            for datagram in session.datagrams_to_send(Monotonic(self.now)):
                self._carry(other, datagram)


def slow_link(config: SessionConfig = CONFIG, **settings: float) -> SlowOwner:
    link = SlowOwner(*make_sessions(config))
    link.most = 10**9
    link.client.connect(Monotonic(link.now))
    link.run(1.0)
    link.most = 0
    link.events = {Role.CLIENT: [], Role.SERVER: []}
    for name, value in settings.items():
        setattr(link, name, value)
    return link


def test_no_more_messages_wait_than_the_limit_says() -> None:
    link = slow_link()
    for number in range(500):
        link.client.send(5, number.to_bytes(2, "big"))
    link.run(2.0)
    assert waiting(link.server) == 20
    # What is behind them is held as it came, or still at the client.
    assert link.server.held_bytes < 20_000


def test_one_below_the_limit_closes_nothing() -> None:
    link = slow_link()
    for number in range(19):
        link.client.send(5, bytes([number]))
    link.run(2.0)
    assert waiting(link.server) == 19
    assert not link.server._channel.is_paused
    assert link.client.statistics().packets_in_flight == 0


@pytest.mark.parametrize("loss", [0.0, 0.2])
def test_all_arrive_in_order_once_they_are_taken(loss: float) -> None:
    link = slow_link(loss=loss, seed=3)
    sent = [number.to_bytes(2, "big") + bytes(number % 90) for number in range(500)]
    for body in sent:
        link.client.send(5, body)
    link.run(3.0)
    assert len(link.messages(Role.SERVER)) == 0
    link.most = 3
    for _ in range(400):
        link.run(0.25)
        assert waiting(link.server) <= 20
    assert [body for _, body in link.messages(Role.SERVER)] == sent
    assert link.server.held_bytes == 0


def test_bytes_that_wait_are_bounded_as_well() -> None:
    link = slow_link(replace(CONFIG, waiting_bytes_limit=3000))
    for _ in range(12):
        link.client.send(5, bytes(1000))
    link.run(2.0)
    assert waiting(link.server) <= 5
    assert link.server.held_bytes >= 3000
    link.most = 2
    link.run(60.0)
    assert len(link.messages(Role.SERVER)) == 12


def test_messages_of_one_payload_are_decrypted_as_they_are_taken() -> None:
    """Thousands of messages in one run of fragments would stop everybody else."""
    link = slow_link(replace(CONFIG, app_combined_part_limit=253))
    codec = link.client._codec
    assert codec is not None
    parts = tuple(codec.encode(5, number.to_bytes(2, "big")) for number in range(300))
    payload = push_packet(AppCombined(parts))
    link.client._channel._place_payload(payload)
    link.client._channel.queue.resend_oldest(Monotonic(link.now))
    link.run(2.0)
    assert waiting(link.server) == 20
    link.most = 20
    for _ in range(20):
        link.flush()
    bodies = [body for _, body in link.messages(Role.SERVER)]
    assert bodies == [number.to_bytes(2, "big") for number in range(300)]


def test_acknowledgments_and_answers_leave_while_messages_wait() -> None:
    link = slow_link()
    for number in range(100):
        link.client.send(5, bytes([number]))
    link.run(100.0)  # more than the idle time
    assert not link.server.ended
    assert not link.client.ended
    link.server.send(6, b"still here")
    link.run(1.0)
    assert (6, b"still here") in link.messages(Role.CLIENT)


def test_statistics_do_not_pile_up_before_an_owner_who_takes_none() -> None:
    link = slow_link()
    question = ServerKeyRequest(1)
    for _ in range(200):
        link.server.receive_datagram(sealed(question), Monotonic(link.now))
    assert len(link.server.events) <= 20


def test_an_owner_who_takes_everything_at_once_sees_no_limit() -> None:
    link = connected_link(CONFIG)
    for number in range(500):
        link.client.send(5, number.to_bytes(2, "big"))
    link.settle()
    assert len(link.messages(Role.SERVER)) == 500


def test_a_session_that_ends_lets_go_of_what_waits_behind_its_limit() -> None:
    link = slow_link()
    for number in range(200):
        link.client.send(5, bytes([number]))
    link.run(1.0)
    link.server.discard("freed memory")
    events = []
    while (event := link.server.next_event()) is not None:
        events.append(event)
    assert sum(isinstance(event, Message) for event in events) == 20
    assert link.server.events == []
