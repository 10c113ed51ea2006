"""A connection over a core that counts: what is written, what waits, and how it ends."""

from __future__ import annotations

from collections import deque

from twisted.internet.error import ConnectionDone
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure

from emu.limits.connections import StreamLimits
from emu.net.scheduler import Scheduler
from emu.net.stream import Stream

SILENCE = 90.0


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


class Core:
    """Hands on each byte as an event of its own, and ends after silence."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.events: deque[object] = deque()
        self.output: list[bytes] = []
        self.silent_at = SILENCE

    @property
    def closed(self) -> bool:
        return self.reason is not None

    def receive_data(self, data: bytes, now: float) -> None:
        self.silent_at = now + SILENCE
        self.events.extend(data[at : at + 1] for at in range(len(data)))

    def connection_lost(self, now: float) -> None:
        self.close("connection lost", now)
        self.output.clear()

    def close(self, reason: str, now: float) -> None:
        if self.reason is None:
            self.reason = reason
            self.events.append(reason)

    def data_to_send(self) -> list[bytes]:
        output, self.output = self.output, []
        return output

    def next_event(self) -> object | None:
        return self.events.popleft() if self.events else None

    def get_timer(self) -> float | None:
        return None if self.closed else self.silent_at

    def handle_timer(self, now: float) -> None:
        if now >= self.silent_at:
            self.close("silent", now)


class Connection(Stream):
    core: Core  # type: ignore[assignment]

    def __init__(self, clock: Clock, limits: StreamLimits) -> None:
        super().__init__(Scheduler(clock), limits)
        self.heard: list[object] = []
        self.space = True

    @property
    def wants_data(self) -> bool:
        return self.space

    def take_event(self, event: object, now: float) -> None:
        self.heard.append(event)
        self.serve()  # must not begin anew inside itself


class Bench:
    def __init__(self) -> None:
        self.clock = Clock()
        limits = StreamLimits(write_buffer=100, stall_timeout=30, close_linger=5)
        self.connection = Connection(self.clock, limits)
        self.transport = Transport()
        self.connection.transport = self.transport  # type: ignore[assignment]
        self.connection.start(Core())

    def send(self, size: int) -> None:
        self.connection.core.output.append(bytes(size))
        self.connection.serve()

    def lose(self) -> None:
        self.connection.connectionLost(Failure(ConnectionDone()))


def test_each_item_is_one_write() -> None:
    bench = Bench()
    bench.send(5)
    bench.send(6)
    assert bench.transport.writes == [bytes(5), bytes(6)]


def test_timers_of_the_core_are_kept_with_one_call() -> None:
    bench = Bench()
    for _ in range(3):
        bench.clock.advance(40)
        bench.connection.dataReceived(b"x")
        assert len(bench.clock.getDelayedCalls()) == 1
    bench.connection.heard.clear()
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
    bench.send(100)
    assert bench.transport.writes == []
    assert not bench.transport.aborted
    bench.send(1)
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
    assert [len(data) for data in bench.transport.writes] == [1, 2]
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


def test_a_closed_connection_sends_its_last_bytes_and_lingers_no_longer_than_allowed() -> None:
    bench = Bench()
    bench.connection.pauseProducing()
    bench.send(1)
    bench.connection.close("done", 0.0)
    assert bench.transport.value() == b"\0"
    assert bench.transport.disconnecting
    bench.clock.advance(4.9)
    assert not bench.transport.aborted
    bench.clock.advance(0.1)
    assert bench.transport.aborted
    bench.lose()
    assert bench.clock.getDelayedCalls() == []


def test_events_are_handed_on_in_order() -> None:
    bench = Bench()
    bench.connection.dataReceived(b"ab")
    assert bench.connection.heard == [b"a", b"b"]
    bench.lose()
    assert bench.connection.heard[-1] == "connection lost"


def test_a_core_without_capacity_leaves_the_peer_waiting() -> None:
    bench = Bench()
    bench.connection.space = False
    bench.connection.dataReceived(b"a")
    assert bench.transport.producerState == "paused"
    bench.connection.space = True
    bench.connection.serve()
    assert bench.transport.producerState == "producing"
    bench.connection.space = False
    bench.connection.serve()
    bench.connection.close("done", 0.0)
    assert bench.transport.producerState == "producing"
    assert bench.transport.disconnecting
    bench.lose()
