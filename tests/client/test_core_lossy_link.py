"""Whole logins over a bad network: a player who tries gets in."""

from __future__ import annotations

import heapq
import random

import pytest

from emu.client.core import Credentials, LoginClient
from emu.client.flow import LoginFlow, login
from emu.client.messages import shipped_messages
from emu.session import Endpoint, EndpointConfig, Message, Session
from tests.support.sessions import reference_messages

VERSION = 546
ADDRESS = ("192.0.2.7", 5000)
LOGIN_REQUEST = 0
LOGIN_REPLY = 4


class LossyLogin:
    """One client and one server port; every datagram may get lost. Time jumps to what is next."""

    def __init__(self, *, seed: int, loss: float, delay: float) -> None:
        self._random = random.Random(seed)
        self._loss = loss
        self._delay = delay
        self._now = 1000.0
        self._count = 0
        self._arrivals: list[tuple[float, int, bool, bytes]] = []
        self._endpoint = Endpoint(EndpointConfig(), random_bytes=self._random.randbytes)
        self._sessions: dict[Session, None] = {}
        self._client = LoginClient(
            shipped_messages(VERSION),
            Credentials(reference_messages.ACCOUNT, "secret"),
            session_id=self._random.getrandbits(32),
            key_block=self._random.randbytes(60),
        )

    def run(self) -> LoginFlow:
        """Log in with the patience of the command line, and return what became of it."""
        self._client.connect(self._now)
        flow = LoginFlow(self._client, login())
        flow.begin(self._now)
        while not flow.done:
            self._flush()
            times = [self._client.get_timer(), flow.get_timer()]
            times += [session.get_timer() for session in self._sessions]
            times += [self._arrivals[0][0]] if self._arrivals else []  # type: ignore[list-item]
            self._now = max(self._now, min(time for time in times if time is not None))
            self._arrive()
            self._handle_timers()
            flow.advance(self._now)
        return flow

    def _flush(self) -> None:
        for datagram in self._client.datagrams_to_send(self._now):
            self._carry(datagram, to_server=True)
        for session in list(self._sessions):
            while (event := session.next_event()) is not None:
                if isinstance(event, Message) and event.opcode == LOGIN_REQUEST:
                    session.send(LOGIN_REPLY, reference_messages.login_reply(VERSION))
            for datagram in session.datagrams_to_send(self._now):
                self._carry(datagram, to_server=False)
            if session.ended:
                self._endpoint.forget(session)
                del self._sessions[session]
        for datagram, _ in self._endpoint.datagrams_to_send():
            self._carry(datagram, to_server=False)

    def _carry(self, datagram: bytes, *, to_server: bool) -> None:
        if self._random.random() >= self._loss:
            self._count += 1
            arrival = (self._now + self._delay, self._count, to_server, datagram)
            heapq.heappush(self._arrivals, arrival)

    def _arrive(self) -> None:
        while self._arrivals and self._arrivals[0][0] <= self._now:
            _, _, to_server, datagram = heapq.heappop(self._arrivals)
            if not to_server:
                self._client.receive_datagram(datagram, self._now)
                continue
            session = self._endpoint.receive_datagram(datagram, ADDRESS, self._now)
            if session is not None:
                self._sessions[session] = None

    def _handle_timers(self) -> None:
        for side in (self._client, *self._sessions):
            timer = side.get_timer()  # type: ignore[attr-defined]
            if timer is not None and timer <= self._now:
                side.handle_timer(self._now)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("loss", "delay", "least"),
    [(0.2, 0.0002, 80), (0.2, 0.05, 80), (0.4, 0.0002, 78), (0.4, 0.05, 78)],
)
def test_nearly_every_login_succeeds_on_a_bad_link(loss, delay, least):
    flows = [LossyLogin(seed=seed, loss=loss, delay=delay).run() for seed in range(80)]
    failures = [str(flow.failure) for flow in flows if flow.failure is not None]
    assert len(failures) <= 80 - least, failures


def test_a_login_on_a_good_link_takes_no_more_datagrams_than_it_needs():
    attempt = LossyLogin(seed=1, loss=0.0, delay=0.05)
    flow = attempt.run()
    assert flow.failure is None
    assert attempt._now - 1000.0 == pytest.approx(0.3)  # three round trips
    assert attempt._client.session.statistics().datagrams_sent == 3
