import random
import socket

from twisted.internet import reactor
from twisted.internet.task import Clock, deferLater

from emu.net.logs import logger
from emu.net.scheduler import Scheduler
from emu.net.udp.dispatcher import Dispatcher
from emu.net.udp.sockets import PORTIONS, READ_AT_ONCE, BatchPort, UdpShell, listen
from emu.session import Endpoint, EndpointConfig
from tests.support.sessions.memory_udp import MemoryPort
from tests.support.sessions.players import new_client


class Sink:
    """A handler that does nothing."""

    made: list["Sink"] = []

    def __init__(self, port, now):
        self.port = port
        Sink.made.append(self)

    def handle_event(self, event, now):
        """Let it fall."""

    def get_timer(self):
        return None

    def held_bytes(self):
        return 0

    def handle_timer(self, now):
        """Nothing is due."""


def new_dispatcher(clock) -> Dispatcher:
    Sink.made = []
    endpoint = Endpoint(EndpointConfig(), random_bytes=random.Random(1).randbytes)
    return Dispatcher(endpoint, Scheduler(clock), Sink, logger("test"))


def test_a_port_that_does_not_say_when_all_is_read_is_answered_in_the_same_turn() -> None:
    clock = Clock()
    dispatcher = new_dispatcher(clock)
    port = MemoryPort(UdpShell(dispatcher))
    client = new_client()
    client.connect(clock.seconds())
    for _ in range(12):
        for data in client.datagrams_to_send(clock.seconds()):
            port.protocol.datagramReceived(data, ("127.0.0.1", 40000))
        clock.advance(0)
        for data, address in port.take():
            assert address == ("127.0.0.1", 40000)
            client.receive_datagram(data, clock.seconds())
    assert client.key is not None
    assert clock.seconds() == 0.0
    dispatcher.abandon()


async def test_a_real_port_answers_all_it_has_read_at_once() -> None:
    dispatcher = new_dispatcher(reactor)
    port = listen(reactor, "127.0.0.1", 0, dispatcher)
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
        assert dispatcher.session_count == 3
    finally:
        dispatcher.abandon()
        await port.stopListening()
        for plug in sockets:
            plug.close()


async def test_a_flood_is_served_in_portions() -> None:
    dispatcher = new_dispatcher(reactor)
    port = listen(reactor, "127.0.0.1", 0, dispatcher)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plug:
        try:
            for _ in range(100):
                plug.sendto(b"\0\x09" + bytes(510), ("127.0.0.1", port.getHost().port))
            port.doRead()
            assert (
                0 < dispatcher.endpoint.drops["unknown session"] <= READ_AT_ONCE // 512 + PORTIONS
            )
            await deferLater(reactor, 0.05)
            assert dispatcher.endpoint.drops["unknown session"] == 100
        finally:
            dispatcher.abandon()
            await port.stopListening()


def test_a_reactor_without_file_descriptors_opens_its_own_kind_of_port() -> None:
    class OtherReactor(Clock):
        def listenUDP(self, *arguments, **settings):
            return arguments, settings

    (number, shell), settings = listen(OtherReactor(), "127.0.0.1", 9100, new_dispatcher(Clock()))
    assert number == 9100
    assert isinstance(shell, UdpShell)
    assert settings == {"interface": "127.0.0.1", "maxPacketSize": 4096}


async def test_ipv4_clients_of_a_port_bound_to_all_addresses_are_known_by_ipv4() -> None:
    dispatcher = new_dispatcher(reactor)
    port = listen(reactor, "::", 0, dispatcher)
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
            (handler,) = Sink.made
            assert handler.port.address == plug.getsockname()
            assert handler.port.session.address == plug.getsockname()
        finally:
            dispatcher.abandon()
            await port.stopListening()
