from __future__ import annotations

from twisted.internet.error import ConnectionDone
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure

from emu.link.end import LinkEnd, LinkLimits
from emu.link.frames import KEEP_ALIVE, Frame, encode_frame
from emu.link.messages import OpaqueMessage
from emu.net.link_connection import ConnectionLimits, LinkConnection
from emu.net.scheduler import Scheduler


class Transport(StringTransport):
    """Remembers single writes, and whether the connection was cut off."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []
        self.aborted = False

    def write(self, data: bytes) -> None:
        self.writes.append(data)
        super().write(data)

    def abortConnection(self) -> None:
        self.aborted = True


class End(LinkEnd):
    """Hands every message on."""

    def _receive_message(self, frame: Frame, now: float) -> None:
        self._events.append(frame)


class Connection(LinkConnection):
    def __init__(self, clock: Clock, limits: ConnectionLimits) -> None:
        super().__init__(Scheduler(clock), limits)
        self.heard: list[object] = []

    def take_event(self, event: object, now: float) -> None:
        self.heard.append((event, now))

    def link_closed(self, reason: str, now: float) -> None:
        self.heard.append(reason)
        self.send(OpaqueMessage(9), now)  # must do nothing, and not call us again


class Bench:
    def __init__(self) -> None:
        self.clock = Clock()
        limits = ConnectionLimits(write_buffer=100, stall_timeout=30, close_linger=5)
        self.connection = Connection(self.clock, limits)
        self.transport = Transport()
        self.connection.transport = self.transport  # type: ignore[assignment]
        self.connection.start(End(LinkLimits(), 0.0))

    def send(self, size: int) -> None:
        self.connection.send(OpaqueMessage(9, bytes(size)), self.clock.seconds())

    def lose(self) -> None:
        self.connection.connectionLost(Failure(ConnectionDone()))


def test_each_frame_is_one_write() -> None:
    bench = Bench()
    bench.send(5)
    bench.send(6)
    assert bench.transport.writes == [encode_frame(9, bytes(5)), encode_frame(9, bytes(6))]


def test_timers_of_the_end_are_kept_with_one_call() -> None:
    bench = Bench()
    for _ in range(3):
        bench.clock.advance(40)
        bench.connection.dataReceived(KEEP_ALIVE)
        assert len(bench.clock.getDelayedCalls()) == 1
    assert bench.transport.writes == [KEEP_ALIVE]
    bench.clock.advance(89)
    assert bench.connection.heard == []
    bench.clock.advance(1)
    assert bench.connection.heard == ["silent"]
    assert bench.transport.disconnecting
    bench.lose()
    assert bench.clock.getDelayedCalls() == []


def test_what_a_slow_reader_leaves_waiting_is_bounded() -> None:
    bench = Bench()
    bench.connection.pauseProducing()
    bench.send(93)
    assert bench.transport.writes == []
    assert not bench.transport.aborted
    bench.send(0)
    assert bench.transport.aborted
    assert bench.connection.heard == ["peer does not read"]
    bench.lose()
    assert bench.connection.heard == ["peer does not read"]
    assert bench.clock.getDelayedCalls() == []


def test_a_reader_that_catches_up_gets_everything_in_order() -> None:
    bench = Bench()
    bench.connection.pauseProducing()
    bench.send(1)
    bench.send(2)
    bench.clock.advance(29)
    bench.connection.resumeProducing()
    assert [len(data) for data in bench.transport.writes] == [8, 9]
    bench.clock.advance(5)
    assert not bench.transport.aborted
    bench.lose()


def test_a_reader_that_stalls_is_cut_off() -> None:
    bench = Bench()
    bench.connection.pauseProducing()
    bench.clock.advance(30)
    assert bench.transport.aborted
    assert bench.connection.heard == ["peer does not read"]
    bench.lose()


def test_a_closed_link_sends_its_last_bytes_and_lingers_no_longer_than_allowed() -> None:
    bench = Bench()
    bench.connection.pauseProducing()
    bench.send(1)
    bench.connection.close("done", 0.0)
    assert bench.transport.value() == encode_frame(9, b"\0")
    assert bench.transport.disconnecting
    bench.clock.advance(4.9)
    assert not bench.transport.aborted
    bench.clock.advance(0.1)
    assert bench.transport.aborted
    bench.lose()
    assert bench.clock.getDelayedCalls() == []


def test_events_are_handed_on_in_order_with_their_time() -> None:
    bench = Bench()
    bench.clock.advance(7)
    bench.connection.dataReceived(encode_frame(3) + encode_frame(4, b"x"))
    assert bench.connection.heard == [(Frame(3), 7.0), (Frame(4, b"x"), 7.0)]
    bench.lose()
    assert bench.connection.heard[-1] == "connection lost"
