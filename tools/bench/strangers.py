"""What a SessionRequest of a stranger costs: the endpoint process, and the endpoint alone.

Every request comes from another address, as in a flood. Told in microseconds of *server CPU*; the
bare echo beside it gets and returns the same bytes.
"""

from __future__ import annotations

import os
import socket
import time
from contextlib import ExitStack

from emu.session import Endpoint, EndpointConfig
from emu.times import Monotonic
from emu.wire import SessionRequest, packets
from tools.bench.processes import Child, child

AT_ONCE = 250
ROUNDS = 80
ALONE = 100_000


def request(number: int) -> bytes:
    """Return the request of one stranger."""
    return packets.push_session_request(SessionRequest(number))


def knock(server: Child, first: int) -> None:
    """Let strangers ask at the same time, each from an address of its own, and wait for answers."""
    with ExitStack() as stack:
        strangers = []
        for number in range(first, first + AT_ONCE):
            stranger = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            stranger.bind((f"127.7.{number >> 8 & 255}.{number & 255}", 0))
            stranger.settimeout(2)
            strangers.append(stranger)
        for number, stranger in enumerate(strangers, first):
            stranger.sendto(request(number), ("127.0.0.1", server.port))
        for stranger in strangers:
            stranger.recv(2048)


def over_udp(kind: str) -> float:
    """Return microseconds of CPU a request costs one kind of server: ``echo`` or ``session``."""
    with child("tools.bench.echo_server", kind) as server:
        knock(server, 0)
        before = server.cpu_seconds()
        for number in range(1, ROUNDS + 1):
            knock(server, number * AT_ONCE)
        return (server.cpu_seconds() - before) / (ROUNDS * AT_ONCE) * 1e6


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


def report() -> list[tuple[str, str]]:
    """Measure and return rows of (what, figure)."""
    return [
        ("bare echo, CPU for a request", f"{over_udp('echo'):.1f} us"),
        ("endpoint, CPU for a request (aim 15 us)", f"{over_udp('session'):.1f} us"),
        ("endpoint without a socket", f"{alone():.1f} us"),
    ]
