"""Port numbers for servers that tests, benchmarks and release checks start."""

from __future__ import annotations

import contextlib
import socket

HOST = "127.0.0.1"


def free_ports(count: int) -> list[int]:
    """Return different port numbers that nobody uses on the loopback address, by UDP or by TCP."""
    found: list[int] = []
    with contextlib.ExitStack() as held:
        while len(found) < count:
            tcp = held.enter_context(socket.socket())
            udp = held.enter_context(socket.socket(type=socket.SOCK_DGRAM))
            tcp.bind((HOST, 0))
            number: int = tcp.getsockname()[1]
            with contextlib.suppress(OSError):  # another program uses the number for UDP
                udp.bind((HOST, number))
                found.append(number)
    return found


def free_port() -> int:
    """Return a port number that nobody uses on the loopback address, by UDP or by TCP."""
    return free_ports(1)[0]
