"""A link over a connection: messages become frames, and the end of it is told once."""

from __future__ import annotations

from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport

from emu.limits.streams import StreamLimits
from emu.link.end import LinkEnd, LinkLimits
from emu.link.frames import KEEP_ALIVE, Frame, encode_frame
from emu.link.messages import OpaqueMessage
from emu.net.link.connection import LinkConnection
from emu.net.scheduler import Scheduler


class End(LinkEnd):
    """Hands every message on."""

    def _receive_message(self, frame: Frame, now: float) -> None:
        self._events.append(frame)


class Connection(LinkConnection):
    def __init__(self, clock: Clock) -> None:
        super().__init__(Scheduler(clock), StreamLimits())
        self.heard: list[object] = []

    def link_event(self, event: object, now: float) -> None:
        self.heard.append((event, now))

    def link_closed(self, reason: str, now: float) -> None:
        self.heard.append(reason)
        self.send(OpaqueMessage(9), now)  # must do nothing, and not call us again


def connected() -> tuple[Connection, Clock, StringTransport]:
    clock, transport = Clock(), StringTransport()
    connection = Connection(clock)
    connection.transport = transport  # type: ignore[assignment]
    connection.start(End(LinkLimits(), 0.0))
    return connection, clock, transport


def test_messages_and_keep_alives_are_frames() -> None:
    connection, clock, transport = connected()
    connection.send(OpaqueMessage(9, b"abc"), 0.0)
    for _ in range(3):
        clock.advance(30)
        connection.dataReceived(KEEP_ALIVE)
    assert transport.value() == encode_frame(9, b"abc") + KEEP_ALIVE


def test_events_are_handed_on_in_order_with_their_time() -> None:
    connection, clock, _ = connected()
    clock.advance(7)
    connection.dataReceived(encode_frame(3) + encode_frame(4, b"x"))
    assert connection.heard == [(Frame(3), 7.0), (Frame(4, b"x"), 7.0)]
    connection.connectionLost()
    assert connection.heard[2:] == ["connection lost"]
