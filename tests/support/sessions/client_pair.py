"""A `LoginClient` and the reference server, joined by a network and a clock that are simulated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from emu.client import Credentials, LoginClient, Script, shipped_messages
from emu.client.flow import LoginFlow
from emu.session import SessionConfig
from emu.times import Monotonic
from tests.support.sessions.reference_messages import ACCOUNT
from tests.support.sessions.reference_server import ReferenceServer
from tests.support.sessions.reference_server import Script as ServerScript

KEY_BLOCK = bytes(range(1, 61))
"""A key block whose last 8 bytes are 35 to 3c hexadecimal."""

SESSION_ID = 0x5352F60F
"""The session id of the recorded client (docs/protocol/transport.md#setup)."""

DELAY = 0.01
"""How long a datagram is under way, in seconds."""

Loss = Callable[[int], bool]


def never(_count: int) -> bool:
    """Lose no datagram."""
    return False


class ClientPair:
    """Client, server and the time between them.

    `lost_out` and `lost_in` say of the n-th datagram (from 0) from and to the client whether it is
    lost. `sent` and `received` are what the client sent and what reached it.
    """

    def __init__(
        self,
        script: ServerScript | None = None,
        *,
        user: str = ACCOUNT,
        password: str = "secret",
        key_block: bytes = KEY_BLOCK,
        config: SessionConfig | None = None,
        lost_out: Loss = never,
        lost_in: Loss = never,
    ) -> None:
        self.server = ReferenceServer(script)
        self.client = LoginClient(
            shipped_messages(self.server.script.version),
            Credentials(user, password),
            session_id=SESSION_ID,
            key_block=key_block,
            config=config,
        )
        self.now = 1000.0
        self.sent: list[bytes] = []
        self.received: list[bytes] = []
        self._lost_out, self._lost_in = lost_out, lost_in
        self._counts = [0, 0]
        self.client.connect(Monotonic(self.now))

    def run(self, script: Script[Any], *, timeout: float = 20.0) -> LoginFlow[Any]:
        """Run a script to its end and return its flow, whatever the end was."""
        flow = LoginFlow(self.client, script, timeout=timeout)
        flow.begin(Monotonic(self.now))
        while not flow.done:
            self.step(flow)
        return flow

    def step(self, flow: LoginFlow[Any] | None = None) -> None:
        """Let one round of datagrams pass, or the time until something is due."""
        moved = self._to_server() + self._to_client()
        if not moved:
            timers = [self.client.get_timer(), None if flow is None else flow.get_timer()]
            due = min((timer for timer in timers if timer is not None), default=self.now)
            self.now = min(max(self.now + DELAY, due), self.now + 0.1)
        if (timer := self.client.get_timer()) is not None and timer <= self.now:
            self.client.handle_timer(Monotonic(self.now))
        if flow is not None:
            flow.advance(Monotonic(self.now))

    def settle(self, seconds: float) -> None:
        """Let time pass with no script running."""
        end = self.now + seconds
        while self.now < end:
            self.step()

    def _to_server(self) -> int:
        datagrams = self.client.datagrams_to_send(Monotonic(self.now))
        self.now += DELAY if datagrams else 0
        for datagram in datagrams:
            self.sent.append(datagram)
            self._counts[0] += 1
            if not self._lost_out(self._counts[0] - 1):
                self.server.receive(datagram, self.now)
        return len(datagrams)

    def _to_client(self) -> int:
        datagrams = self.server.take(self.now)
        self.now += DELAY if datagrams else 0
        for datagram in datagrams:
            self._counts[1] += 1
            if not self._lost_in(self._counts[1] - 1):
                self.received.append(datagram)
                self.client.receive_datagram(datagram, Monotonic(self.now))
        return len(datagrams)
