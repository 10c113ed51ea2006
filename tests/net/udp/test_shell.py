import gc
import random
import socket

import pytest
from twisted.internet import reactor
from twisted.internet.task import Clock, deferLater

from emu.errors import EmuError
from emu.net.logs import logger
from emu.net.scheduler import Scheduler
from emu.net.udp.port import BatchPort
from emu.net.udp.shell import READ_AT_ONCE, UdpShell, listen
from emu.session import (
    Endpoint,
    EndpointConfig,
    Message,
    Role,
    Session,
    SessionClosed,
    SessionConfig,
    Writable,
)
from tests.support.memory_udp import MemoryPort
from tests.support.raw_client import session_request

CLIENT = ("127.0.0.1", 40000)


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
            if event.opcode == 7:
                raise EmuError("a handler's own mistake")

    def get_timer(self):
        return self.timer

    def held_bytes(self):
        return self.waiting

    def handle_timer(self, now):
        self.fired.append(now)
        self.timer = None
        self.port.session.send(8, b"late")


@pytest.fixture
def house():
    Recorder.made = []
    clock = Clock()
    scheduler = Scheduler(clock)
    endpoint = Endpoint(EndpointConfig(), random_bytes=random.Random(1).randbytes)
    shell = UdpShell(endpoint, scheduler, Recorder, logger("test"))
    port = MemoryPort(shell)
    yield clock, shell, port
    shell.abandon()
    assert clock.getDelayedCalls() == []


def new_client(session_id: int = 7) -> Session:
    return Session(
        SessionConfig(), role=Role.CLIENT, session_id=session_id, key_block=bytes(range(1, 61))
    )


def exchange(client: Session, clock: Clock, shell: UdpShell, port: MemoryPort, turns: int = 12):
    """Let both sides talk until neither has anything to say; return the client's events."""
    events = []
    for _ in range(turns):
        for data in client.datagrams_to_send(clock.seconds()):
            shell.datagramReceived(data, CLIENT)
        clock.advance(0)
        for data, address in port.take():
            assert address == CLIENT
            client.receive_datagram(data, clock.seconds())
        while (event := client.next_event()) is not None:
            events.append(event)
    return events


def connected(house) -> Session:
    clock, shell, port = house
    client = new_client()
    client.connect(clock.seconds())
    exchange(client, clock, shell, port)
    assert client.key is not None
    return client


def test_a_message_in_is_answered_in_the_same_turn(house) -> None:
    clock, shell, port = house
    client = connected(house)
    client.send(5, b"hello")
    assert Message(6, b"hello") in exchange(client, clock, shell, port)
    assert clock.seconds() == 0.0


def test_a_handler_is_told_what_is_worth_queueing_and_when_more_is(house) -> None:
    clock, shell, port = house
    client = connected(house)
    (recorder,) = Recorder.made
    while recorder.port.room() > 0:
        recorder.port.session.send(9, random.Random(1).randbytes(1000))
    recorder.port.touch()
    exchange(client, clock, shell, port)
    assert recorder.events.count(Writable()) == 1
    assert recorder.port.room() > 0


def test_who_makes_us_keep_most_is_ended_when_memory_runs_out(house) -> None:
    clock, shell, port = house
    client = connected(house)
    (recorder,) = Recorder.made
    limit = shell.endpoint.config.memory_limit
    for waiting, alive in ((limit, True), (limit + 1, False)):
        recorder.waiting = waiting
        client.send(3, b"x")
        exchange(client, clock, shell, port)
        assert (SessionClosed("made room in memory") in recorder.events) != alive
        assert shell.session_count == alive
    assert len(shell.endpoint) == 0


def test_the_datagrams_of_one_wake_up_are_answered_with_one(house) -> None:
    clock, shell, port = house
    client = connected(house)
    for _ in range(10):
        client.send(3, b"x")
        for data in client.datagrams_to_send(clock.seconds()):
            shell.datagramReceived(data, CLIENT)
    assert port.written == []
    clock.advance(0)
    assert len(port.take()) == 1


def test_a_handler_is_made_only_for_a_proven_address(house) -> None:
    clock, shell, port = house
    client = new_client()
    client.connect(clock.seconds())
    for data in client.datagrams_to_send(clock.seconds()):
        shell.datagramReceived(data, CLIENT)
    clock.advance(0)
    assert len(port.take()) == 1
    assert shell.session_count == 0
    assert Recorder.made == []


def test_a_failing_handler_costs_only_its_session(house, logged_failures) -> None:
    clock, shell, port = house
    client = connected(house)
    client.send(7, b"")
    events = exchange(client, clock, shell, port)
    assert any(isinstance(event, SessionClosed) for event in events)
    assert len(logged_failures.flush(EmuError)) == 1
    clock.advance(10)
    assert shell.session_count == 0


def test_a_handlers_own_timer_is_served(house) -> None:
    clock, shell, port = house
    client = connected(house)
    (handler,) = Recorder.made
    handler.timer = 2.0
    handler.port.touch()
    clock.advance(0)
    clock.advance(1.9)
    assert handler.fired == []
    clock.advance(0.1)
    assert handler.fired == [2.0]
    assert Message(8, b"late") in exchange(client, clock, shell, port)


def test_silence_closes_the_session_and_frees_it(house) -> None:
    clock, shell, _ = house
    connected(house)
    (handler,) = Recorder.made
    for _ in range(80):
        clock.advance(1)
    assert isinstance(handler.events[-1], SessionClosed)
    assert shell.session_count == 0
    assert len(shell.endpoint) == 0
    assert shell._ports == {}


@pytest.fixture
def _no_collector():
    """Keep Python from freeing circles, as it does for a long time when a flood comes."""
    gc.disable()
    yield
    gc.enable()


def test_a_flood_of_requests_makes_no_session_and_each_gets_its_answer() -> None:
    clock = Clock()
    config = EndpointConfig(half_open_limit=4)
    shell = UdpShell(
        Endpoint(config, random_bytes=random.Random(1).randbytes),
        Scheduler(clock),
        Recorder,
        logger("test"),
    )
    port = MemoryPort(shell)
    for number in range(300):
        address = ("198.51.100.1", number + 1)
        shell.datagramReceived(session_request(number + 1), address)
        ((answer, to),) = port.take()
        assert to == address
        assert answer[:6] == b"\0\2" + (number + 1).to_bytes(4, "big")
    assert shell.session_count == 0
    assert shell.endpoint.half_open == 4
    assert clock.getDelayedCalls() == []
    shell.abandon()


@pytest.mark.usefixtures("_no_collector")
def test_a_session_that_is_over_is_freed_at_once(house) -> None:
    clock, shell, port = house
    client = connected(house)
    (recorder,) = Recorder.made
    # Compiled classes take no weak reference, so the session is looked for among all objects.
    session = id(recorder.port.session)
    assert session in {id(one) for one in gc.get_objects() if type(one) is Session}
    client.close()
    exchange(client, clock, shell, port)
    del recorder.port
    assert session not in {id(one) for one in gc.get_objects() if type(one) is Session}


def test_close_says_goodbye_to_every_client(house) -> None:
    clock, shell, port = house
    client = connected(house)
    shell.close(clock.seconds())
    events = exchange(client, clock, shell, port)
    assert any(isinstance(event, SessionClosed) for event in events)
    clock.advance(1)
    assert shell.session_count == 0


def test_after_it_is_abandoned_nothing_wakes_the_shell(house) -> None:
    clock, shell, port = house
    client = connected(house)
    (handler,) = Recorder.made
    client.send(5, b"late")
    late = client.datagrams_to_send(clock.seconds())
    shell.abandon()
    for data in late:
        shell.datagramReceived(data, CLIENT)
    handler.port.touch()
    assert clock.getDelayedCalls() == []
    assert port.take() == []


def test_a_session_that_is_replaced_hears_of_it(house) -> None:
    clock, shell, port = house
    connected(house)
    again = new_client(session_id=8)
    again.connect(clock.seconds())
    exchange(again, clock, shell, port)
    first, second = Recorder.made
    assert isinstance(first.events[-1], SessionClosed)
    assert not any(isinstance(event, SessionClosed) for event in second.events)
    assert shell.session_count == 1


def test_every_datagram_and_key_is_traced(house) -> None:
    clock, shell, port = house
    seen: list[tuple] = []

    class Tracer:
        def datagram(self, now, source, destination, data):
            seen.append((source, destination))

        def key(self, session_id, check_key, rc4_key):
            seen.append((session_id, rc4_key))

    shell.tracer = Tracer()
    client = connected(house)
    assert (CLIENT, ("127.0.0.1", 9100)) in seen
    assert (("127.0.0.1", 9100), CLIENT) in seen
    assert (7, client.key) in seen


def test_any_bytes_from_anybody_never_raise_out_of_the_shell(house) -> None:
    clock, shell, port = house
    connected(house)
    source = random.Random(7)
    for _ in range(2000):
        shell.datagramReceived(source.randbytes(source.randrange(80)), CLIENT)
        shell.datagramReceived(b"\0" + source.randbytes(source.randrange(20)), ("10.0.0.9", 1))
        clock.advance(0.001)
    assert shell.session_count < 5


def test_a_session_that_cannot_be_served_is_over_and_the_others_go_on(
    house, monkeypatch, logged_failures
) -> None:
    clock, shell, port = house
    client = connected(house)
    (recorder,) = Recorder.made
    broken = recorder.port.session
    right = Session.datagrams_to_send

    def wrong(session, now):
        if session is broken:
            raise ZeroDivisionError
        return right(session, now)

    monkeypatch.setattr(Session, "datagrams_to_send", wrong)
    client.send(5, b"hello")
    assert exchange(client, clock, shell, port) == []
    assert recorder.events[-1] == SessionClosed("a fault of the server")
    assert len(logged_failures.flush(ZeroDivisionError)) == 1
    assert shell.session_count == 0
    other = new_client(8)
    other.connect(clock.seconds())
    exchange(other, clock, shell, port)
    assert other.key is not None


async def test_a_real_port_answers_all_it_has_read_at_once() -> None:
    endpoint = Endpoint(EndpointConfig(), random_bytes=random.Random(1).randbytes)
    shell = UdpShell(endpoint, Scheduler(reactor), Recorder, logger("test"))
    port = listen(reactor, "127.0.0.1", 0, shell)
    clients = [new_client(number) for number in range(1, 4)]
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in clients]
    try:
        assert isinstance(port, BatchPort)
        for client, plug in zip(clients, sockets, strict=True):
            plug.connect(("127.0.0.1", port.getHost().port))
            plug.setblocking(False)
            client.connect(reactor.seconds())
        for _ in range(100):
            for client, plug in zip(clients, sockets, strict=True):
                for data in client.datagrams_to_send(reactor.seconds()):
                    plug.send(data)
            await deferLater(reactor, 0.005)
            for client, plug in zip(clients, sockets, strict=True):
                try:
                    client.receive_datagram(plug.recv(2048), reactor.seconds())
                except BlockingIOError:
                    continue
            if all(client.key is not None for client in clients):
                break
        assert all(client.key is not None for client in clients)
        assert shell.session_count == 3
    finally:
        shell.abandon()
        await port.stopListening()
        for plug in sockets:
            plug.close()


async def test_a_flood_is_served_in_portions() -> None:
    endpoint = Endpoint(EndpointConfig(), random_bytes=random.Random(1).randbytes)
    shell = UdpShell(endpoint, Scheduler(reactor), Recorder, logger("test"))
    port = listen(reactor, "127.0.0.1", 0, shell)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plug:
        try:
            for _ in range(100):
                plug.sendto(b"\0\x09" + bytes(510), ("127.0.0.1", port.getHost().port))
            port.doRead()
            assert 0 < endpoint.drops["unknown session"] <= READ_AT_ONCE // 512 + 1
            await deferLater(reactor, 0.05)
            assert endpoint.drops["unknown session"] == 100
        finally:
            shell.abandon()
            await port.stopListening()


def test_a_reactor_without_file_descriptors_opens_its_own_kind_of_port() -> None:
    class OtherReactor(Clock):
        def listenUDP(self, *arguments, **settings):
            return arguments, settings

    shell = UdpShell(
        Endpoint(EndpointConfig(), random_bytes=random.Random(1).randbytes),
        Scheduler(Clock()), Recorder, logger("test"),
    )  # fmt: skip
    opened = listen(OtherReactor(), "127.0.0.1", 9100, shell)
    assert opened == ((9100, shell), {"interface": "127.0.0.1", "maxPacketSize": 4096})


async def test_ipv4_clients_of_a_port_bound_to_all_addresses_are_known_by_ipv4() -> None:
    Recorder.made = []
    endpoint = Endpoint(EndpointConfig(), random_bytes=random.Random(1).randbytes)
    shell = UdpShell(endpoint, Scheduler(reactor), Recorder, logger("test"))
    port = listen(reactor, "::", 0, shell)
    client = new_client()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plug:
        try:
            plug.connect(("127.0.0.1", port.getHost().port))
            plug.setblocking(False)
            client.connect(reactor.seconds())
            for _ in range(200):
                for data in client.datagrams_to_send(reactor.seconds()):
                    plug.send(data)
                await deferLater(reactor, 0.005)
                try:
                    client.receive_datagram(plug.recv(2048), reactor.seconds())
                except BlockingIOError:
                    continue
                if client.key is not None:
                    break
            assert client.key is not None
            (handler,) = Recorder.made
            assert handler.port.address == plug.getsockname()
            assert handler.port.session.address == plug.getsockname()
        finally:
            shell.abandon()
            await port.stopListening()
