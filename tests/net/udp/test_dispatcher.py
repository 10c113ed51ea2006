import gc
import random

import pytest
from twisted.internet.task import Clock

from emu.errors import EmuError, StoreError, Unanswered
from emu.net.logs import logger
from emu.net.scheduler import Scheduler
from emu.net.udp.dispatcher import Dispatcher, Outbox
from emu.net.udp.session_port import LATER, HostPort
from emu.session import (
    AddressChanged,
    Endpoint,
    EndpointConfig,
    Message,
    Session,
    SessionClosed,
    Writable,
)
from tests.support.running.whole_server import captured_log
from tests.support.sessions.link import drain
from tests.support.sessions.players import new_client
from tests.support.sessions.raw_client import session_request

CLIENT = ("127.0.0.1", 40000)
OWN = ("127.0.0.1", 9100)


class Recorder:
    """A handler that keeps the events of one session and answers opcode 5 with opcode 6."""

    made: list["Recorder"] = []

    def __init__(self, port, now):
        self.port = port
        self.events = []
        self.timer = None
        self.waiting = 0
        self.fired = []
        port.session.trust()
        Recorder.made.append(self)

    def handle_event(self, event, now):
        self.events.append(event)
        if isinstance(event, Message):
            if event.opcode == 5:
                self.port.session.send(6, event.payload)
                self.port.touch()
            if event.opcode == 7:
                raise EmuError("a handler's own mistake")
            if event.opcode == 9:
                self.timer = now + 0.5

    def get_timer(self):
        return self.timer

    def held_bytes(self):
        return self.waiting

    def handle_timer(self, now):
        self.fired.append(now)
        self.timer = None
        self.port.session.send(8, b"late")


class Wire:
    """Keeps what a dispatcher sends."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self.written: list[tuple[bytes, HostPort]] = []
        dispatcher.own = OWN
        dispatcher.outbox = Outbox(None, lambda *sent: self.written.append(sent))

    def take(self) -> list[tuple[bytes, HostPort]]:
        """Return what was sent since the last call."""
        written, self.written = self.written, []
        return written


def give(dispatcher: Dispatcher, datagram: bytes, address: HostPort) -> None:
    """Bring one datagram, as a shell does that gets them one by one."""
    dispatcher.receive_datagrams([(datagram, address)])
    dispatcher.serve_soon()


@pytest.fixture
def harness():
    Recorder.made = []
    clock = Clock()
    scheduler = Scheduler(clock)
    endpoint = Endpoint(EndpointConfig(), random_bytes=random.Random(1).randbytes)
    dispatcher = Dispatcher(endpoint, scheduler, Recorder, logger("test"))
    wire = Wire(dispatcher)
    yield clock, dispatcher, wire
    dispatcher.abandon()
    assert clock.getDelayedCalls() == []


def exchange(client: Session, clock: Clock, dispatcher: Dispatcher, wire: Wire, turns: int = 12):
    """Let both sides talk until neither has anything to say; return the client's events."""
    events = []
    for _ in range(turns):
        for data in client.datagrams_to_send(clock.seconds()):
            give(dispatcher, data, CLIENT)
        clock.advance(0)
        for data, address in wire.take():
            assert address == CLIENT
            client.receive_datagram(data, clock.seconds())
        while (event := client.next_event()) is not None:
            events.append(event)
    return events


def connected(harness) -> Session:
    clock, dispatcher, wire = harness
    client = new_client()
    client.connect(clock.seconds())
    exchange(client, clock, dispatcher, wire)
    assert client.key is not None
    return client


@pytest.fixture
def client(harness) -> Session:
    return connected(harness)


def test_a_message_in_is_answered_in_the_same_turn(harness, client) -> None:
    clock, dispatcher, wire = harness
    client.send(5, b"hello")
    assert Message(6, b"hello") in exchange(client, clock, dispatcher, wire)
    assert clock.seconds() == 0.0


def test_what_a_handler_says_at_once_asks_for_no_further_turn(harness, client) -> None:
    clock, dispatcher, wire = harness
    client.send(5, b"hello")
    dispatcher.receive_datagrams(
        [(data, CLIENT) for data in client.datagrams_to_send(clock.seconds())]
    )
    dispatcher.serve_touched()
    (answer,) = wire.take()
    client.receive_datagram(answer[0], clock.seconds())
    assert client.next_event() == Message(6, b"hello")
    assert all(call.getTime() > clock.seconds() for call in clock.getDelayedCalls())


def test_a_handler_gets_the_capacity_and_an_event_for_new_capacity(harness, client) -> None:
    clock, dispatcher, wire = harness
    (recorder,) = Recorder.made
    while recorder.port.capacity() > 0:
        recorder.port.session.send(9, random.Random(1).randbytes(1000))
    recorder.port.touch()
    exchange(client, clock, dispatcher, wire)
    assert recorder.events.count(Writable()) == 1
    assert recorder.port.capacity() > 0


def test_who_makes_us_keep_most_is_ended_when_memory_runs_out(harness, client) -> None:
    clock, dispatcher, wire = harness
    (recorder,) = Recorder.made
    limit = dispatcher.endpoint.config.memory_limit
    for waiting, alive in ((limit, True), (limit + 1, False)):
        recorder.waiting = waiting
        client.send(3, b"x")
        exchange(client, clock, dispatcher, wire)
        assert (SessionClosed("memory limit of all sessions") in recorder.events) != alive
        assert dispatcher.session_count == alive
    assert len(dispatcher.endpoint) == 0


def test_the_datagrams_of_one_wake_up_are_answered_with_one(harness, client) -> None:
    clock, dispatcher, wire = harness
    for _ in range(10):
        client.send(3, b"x")
        for data in client.datagrams_to_send(clock.seconds()):
            give(dispatcher, data, CLIENT)
    assert wire.written == []
    clock.advance(0)
    assert len(wire.take()) == 1


def test_messages_that_may_wait_share_a_datagram_soon(harness, client) -> None:
    clock, dispatcher, wire = harness
    (recorder,) = Recorder.made
    for number in range(10):
        recorder.port.send_later(6, b"%d" % number)
        # What arrives meanwhile sends nothing of it: on a short way each Ack would.
        client.send(3, b"x")
        assert Message(6, b"0") not in exchange(client, clock, dispatcher, wire)
    clock.advance(LATER - 0.001)
    assert Message(6, b"0") not in exchange(client, clock, dispatcher, wire)
    clock.advance(0.001)
    clock.advance(0)
    ((datagram, _),) = wire.take()
    client.receive_datagram(datagram, clock.seconds())
    assert drain(client) == [Message(6, b"%d" % number) for number in range(10)]
    recorder.port.send_later(6, b"again")
    clock.advance(LATER)
    assert exchange(client, clock, dispatcher, wire) == [Message(6, b"again")]


def test_nothing_is_held_back_for_a_session_that_is_over(harness, client) -> None:
    clock, dispatcher, wire = harness
    (recorder,) = Recorder.made
    recorder.port.send_later(6, b"late")
    recorder.port.session.discard("test")
    recorder.port.touch()
    clock.advance(0)
    assert dispatcher.session_count == 0
    wire.take()
    clock.advance(LATER)
    clock.advance(0)
    assert recorder.port.session.drops == {}, "it is not even asked to send"
    assert wire.take() == []


def test_a_session_is_served_at_the_new_address_of_its_client(harness, client) -> None:
    clock, dispatcher, wire = harness
    (recorder,) = Recorder.made
    client.send(5, b"hello")
    elsewhere = ("198.51.100.7", 5)
    for _ in range(3):
        for data in client.datagrams_to_send(clock.seconds()):
            dispatcher.receive_datagrams([(data, elsewhere)])
            dispatcher.serve_touched()
        for data, address in wire.take():
            assert address == elsewhere
            client.receive_datagram(data, clock.seconds())
    assert Message(6, b"hello") in drain(client)
    assert recorder.port.address == elsewhere
    assert AddressChanged(CLIENT, elsewhere) in recorder.events
    recorder.port.send(6, b"later")
    clock.advance(0)
    assert [address for _, address in wire.take()] == [elsewhere]


def test_a_handler_is_made_only_for_a_validated_address(harness) -> None:
    clock, dispatcher, wire = harness
    client = new_client()
    client.connect(clock.seconds())
    for data in client.datagrams_to_send(clock.seconds()):
        give(dispatcher, data, CLIENT)
    clock.advance(0)
    assert len(wire.take()) == 1
    assert dispatcher.session_count == 0
    assert Recorder.made == []


def test_a_failing_handler_costs_only_its_session(harness, logged_failures) -> None:
    clock, dispatcher, wire = harness
    client = connected(harness)
    client.send(7, b"")
    events = exchange(client, clock, dispatcher, wire)
    assert any(isinstance(event, SessionClosed) for event in events)
    assert len(logged_failures.flush(EmuError)) == 1
    clock.advance(10)
    assert dispatcher.session_count == 0


@pytest.mark.parametrize("error", [StoreError("no database answers"), Unanswered("no node")])
def test_what_does_not_answer_ends_a_session_with_one_line(harness, client, error) -> None:
    clock, dispatcher, wire = harness

    async def ask() -> None:
        raise error

    with captured_log("text") as log:
        Recorder.made[0].port.start(ask())
        assert any(
            isinstance(event, SessionClosed) for event in exchange(client, clock, dispatcher, wire)
        )
    (line,) = log.text.splitlines()
    assert "warn" in line
    assert line.endswith(f"a task of a session failed; the session is closed: {error}")


def test_a_handlers_own_timer_is_served(harness, client) -> None:
    clock, dispatcher, wire = harness
    (handler,) = Recorder.made
    handler.timer = 2.0
    handler.port.touch()
    clock.advance(0)
    clock.advance(1.9)
    assert handler.fired == []
    clock.advance(0.1)
    assert handler.fired == [2.0]
    assert Message(8, b"late") in exchange(client, clock, dispatcher, wire)


def test_a_handlers_timer_that_a_message_sets_is_served(harness, client) -> None:
    clock, dispatcher, wire = harness
    (handler,) = Recorder.made
    for start in (0.0, 3.0):
        clock.advance(start - clock.seconds())
        client.send(9, b"only an Ack is to be said")
        exchange(client, clock, dispatcher, wire)
        clock.advance(0.5)
        assert handler.fired.pop() == start + 0.5
        exchange(client, clock, dispatcher, wire)


def test_acks_put_the_end_of_a_silent_session_off_and_never_lose_it(harness, client) -> None:
    clock, dispatcher, wire = harness
    limit = dispatcher.endpoint.config.session.idle_timeout
    for _ in range(5):
        clock.advance(limit / 2)
        client.send(3, b"x")
        give(dispatcher, client.datagrams_to_send(clock.seconds())[0], CLIENT)
        clock.advance(0)
    assert dispatcher.session_count == 1
    clock.pump([1.0] * int(limit + 1))
    assert dispatcher.session_count == 0


def test_silence_closes_the_session_and_frees_it(harness) -> None:
    clock, dispatcher, _ = harness
    connected(harness)
    (handler,) = Recorder.made
    for _ in range(80):
        clock.advance(1)
    assert isinstance(handler.events[-1], SessionClosed)
    assert dispatcher.session_count == 0
    assert len(dispatcher.endpoint) == 0
    assert dispatcher._ports == {}


@pytest.fixture
def _no_collector():
    """Keep Python from freeing circles, as it does for a long time when a flood comes."""
    gc.disable()
    yield
    gc.enable()


def test_a_flood_of_requests_makes_no_session_and_each_gets_its_answer() -> None:
    clock = Clock()
    config = EndpointConfig(half_open_limit=4)
    dispatcher = Dispatcher(
        Endpoint(config, random_bytes=random.Random(1).randbytes),
        Scheduler(clock),
        Recorder,
        logger("test"),
    )
    wire = Wire(dispatcher)
    for number in range(300):
        address = ("198.51.100.1", number + 1)
        give(dispatcher, session_request(number + 1), address)
        ((answer, to),) = wire.take()
        assert to == address
        assert answer[:6] == b"\0\2" + (number + 1).to_bytes(4, "big")
    assert dispatcher.session_count == 0
    assert dispatcher.endpoint.half_open == 4
    assert clock.getDelayedCalls() == []
    dispatcher.abandon()


@pytest.mark.usefixtures("_no_collector")
def test_a_session_that_is_over_is_freed_at_once(harness, client) -> None:
    clock, dispatcher, wire = harness
    (recorder,) = Recorder.made
    # Compiled classes take no weak reference, so the session is looked for among all objects.
    session = id(recorder.port.session)
    assert session in {id(one) for one in gc.get_objects() if type(one) is Session}
    client.close()
    exchange(client, clock, dispatcher, wire)
    del recorder.port
    assert session not in {id(one) for one in gc.get_objects() if type(one) is Session}


def test_close_sends_a_disconnect_to_every_client(harness, client) -> None:
    clock, dispatcher, wire = harness
    dispatcher.close(clock.seconds())
    events = exchange(client, clock, dispatcher, wire)
    assert any(isinstance(event, SessionClosed) for event in events)
    clock.advance(1)
    assert dispatcher.session_count == 0


def test_after_it_is_abandoned_nothing_wakes_the_dispatcher(harness, client) -> None:
    clock, dispatcher, wire = harness
    (handler,) = Recorder.made
    client.send(5, b"late")
    late = client.datagrams_to_send(clock.seconds())
    dispatcher.abandon()
    for data in late:
        give(dispatcher, data, CLIENT)
    handler.port.touch()
    assert clock.getDelayedCalls() == []
    assert wire.take() == []


def test_a_session_that_is_replaced_hears_of_it(harness) -> None:
    clock, dispatcher, wire = harness
    connected(harness)
    again = new_client(session_id=8)
    again.connect(clock.seconds())
    exchange(again, clock, dispatcher, wire)
    first, second = Recorder.made
    assert isinstance(first.events[-1], SessionClosed)
    assert not any(isinstance(event, SessionClosed) for event in second.events)
    assert dispatcher.session_count == 1


def test_every_datagram_and_key_is_traced(harness) -> None:
    clock, dispatcher, wire = harness
    seen: list[tuple] = []

    class Tracer:
        def datagram(self, now, source, destination, data):
            seen.append((source, destination))

        def key(self, session_id, check_key, rc4_key):
            seen.append((session_id, rc4_key))

    dispatcher.tracer = Tracer()
    client = connected(harness)
    assert (CLIENT, OWN) in seen
    assert (OWN, CLIENT) in seen
    assert (7, client.key) in seen


def test_any_bytes_from_anybody_never_raise_out_of_the_dispatcher(harness) -> None:
    clock, dispatcher, wire = harness
    connected(harness)
    source = random.Random(7)
    for _ in range(2000):
        give(dispatcher, source.randbytes(source.randrange(80)), CLIENT)
        give(dispatcher, b"\0" + source.randbytes(source.randrange(20)), ("10.0.0.9", 1))
        clock.advance(0.001)
    assert dispatcher.session_count < 5


def test_a_session_that_cannot_be_served_is_over_and_the_others_go_on(
    harness, logged_failures
) -> None:
    clock, dispatcher, wire = harness
    client = connected(harness)
    (recorder,) = Recorder.made
    recorder.held_bytes = lambda: 1 // 0
    client.send(5, b"hello")
    exchange(client, clock, dispatcher, wire)
    assert recorder.events[-1] == SessionClosed("a fault of the server")
    assert len(logged_failures.flush(ZeroDivisionError)) == 1
    assert dispatcher.session_count == 0
    other = new_client(8)
    other.connect(clock.seconds())
    exchange(other, clock, dispatcher, wire)
    assert other.key is not None
