"""The cost of a SessionRequest from an unknown address, with and without a socket.

Every request comes from another address, as in a flood. Figures are microseconds of *server CPU*;
the bare echo gets and returns the same bytes.
"""

from __future__ import annotations

import itertools
import os
import socket
import time
from contextlib import ExitStack

from emu.session import Endpoint, EndpointConfig
from emu.times import Monotonic
from emu.wire import SessionRequest, packets
from tools.bench.figures import Figure, Round
from tools.bench.processes import Child, child
from tools.bench.yardsticks import RC4_BYTE, rc4_loop

AT_ONCE = 250
TURNS = 16
ALONE = 20_000
SERVER = "tools.bench.echo_server"


def request(number: int) -> bytes:
    """Return the request of one peer."""
    return packets.SESSION_REQUEST.push(SessionRequest(number))


def knock(server: Child, first: int) -> None:
    """Let peers ask at the same time, each from an address of its own, and wait for answers."""
    with ExitStack() as stack:
        peers = []
        for number in range(first, first + AT_ONCE):
            peer = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            peer.bind((f"127.7.{number >> 8 & 255}.{number & 255}", 0))
            peer.settimeout(2)
            peers.append(peer)
        for number, peer in enumerate(peers, first):
            peer.sendto(request(number), ("127.0.0.1", server.port))
        for peer in peers:
            peer.recv(2048)


class Flood:
    """Unknown peers of one server, always new ones."""

    def __init__(self, server: Child) -> None:
        self._server = server
        self._numbers = itertools.count(step=AT_ONCE)
        knock(server, next(self._numbers))

    def cost(self) -> float:
        """Return microseconds of CPU that a request costs."""
        before = self._server.cpu_seconds()
        for _ in range(TURNS):
            knock(self._server, next(self._numbers))
        return (self._server.cpu_seconds() - before) / (TURNS * AT_ONCE) * 1e6


START = Monotonic(0.0)


def alone() -> float:
    """Return microseconds of CPU a request costs an endpoint without a socket."""
    endpoint = Endpoint(EndpointConfig(), random_bytes=os.urandom)
    addresses = [(f"198.51.{n >> 8 & 255}.{n & 255}", 1024 + (n >> 16)) for n in range(ALONE)]
    requests = [request(number) for number in range(ALONE)]
    before = time.process_time()
    for address, data in zip(addresses, requests, strict=True):
        endpoint.receive_datagram(data, address, START)
        endpoint.datagrams_to_send()
    return (time.process_time() - before) / ALONE * 1e6


def report(rounds: int) -> list[Figure]:
    """Ask both kinds of server in turn, and the endpoint without a socket beside the loop."""
    with child(SERVER, "echo") as echo, child(SERVER, "session") as served:
        bare, ours = Flood(echo), Flood(served)
        over_udp = [Round(ours.cost(), bare.cost()) for _ in range(rounds)]
    without = [Round(alone(), rc4_loop().cpu * 1e6) for _ in range(rounds)]
    return [
        Figure("endpoint, CPU for a request", "us", "echo", over_udp, "15 us"),
        Figure("endpoint without a socket", "us", RC4_BYTE, without),
    ]
