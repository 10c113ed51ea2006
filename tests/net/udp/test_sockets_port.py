"""A port that hands on datagrams in batches, over real UDP."""

from __future__ import annotations

import gc
import socket
from collections.abc import Sequence
from typing import Any

import pytest
from twisted.internet.error import CannotListenError
from twisted.internet.protocol import DatagramProtocol

from emu.net.udp.sockets import PORTIONS, open_port
from tests.support.running.whole_server import HOST, reactor, sleep


class Recorder(DatagramProtocol):
    def __init__(self) -> None:
        self.batches: list[list[bytes]] = []

    def datagramReceived(self, datagram: bytes, addr: Any) -> None:
        self.receive_datagrams([(datagram, addr)])

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Any]]) -> None:
        self.batches.append([datagram for datagram, _ in datagrams])


@pytest.mark.parametrize("host", [HOST, "::1"])
async def test_what_waits_is_read_in_portions(host: str) -> None:
    recorder = Recorder()
    port = open_port(reactor, host, 0, recorder, longest=600, at_once=8192)
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(kind, socket.SOCK_DGRAM) as plug:
        try:
            for _ in range(40):
                plug.sendto(bytes(512), (host, port.getHost().port))
            port.doRead()
            assert len(recorder.batches) == PORTIONS
            await sleep(0.05)
            assert sum(map(len, recorder.batches)) == 40
            assert max(map(len, recorder.batches)) <= 3  # the compiled part is not as exact
        finally:
            await port.stopListening()


async def test_a_port_that_is_taken_leaves_no_socket_behind() -> None:
    port = open_port(reactor, HOST, 0, Recorder(), longest=600, at_once=4096)
    try:
        with pytest.raises(CannotListenError):
            open_port(reactor, HOST, port.getHost().port, Recorder(), longest=600, at_once=4096)
        gc.collect()  # would warn of a socket that is open still
    finally:
        await port.stopListening()


class Opener:
    """A reactor that has no sockets."""

    def listenUDP(self, *what: Any, **how: Any) -> tuple[Any, Any]:
        return what, how


def test_a_reactor_without_sockets_opens_its_own_kind_of_port() -> None:
    recorder = Recorder()
    opened = open_port(Opener(), HOST, 5000, recorder, longest=600, at_once=2048)
    assert opened == ((5000, recorder), {"interface": HOST, "maxPacketSize": 600})
