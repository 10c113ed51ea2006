"""A query core behind a UDP port in a thread, for commands that wait for its answers."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from twisted.internet.protocol import DatagramProtocol

from emu.times import Monotonic


class Core(Protocol):
    """What answers; `emu.net.udp.query.QueryCore`."""

    def answer(self, data: bytes, address: tuple[str, int], now: Monotonic) -> Sequence[bytes]: ...


Unasked = Callable[[Monotonic], Sequence[tuple[bytes, tuple[str, int]]]]
"""Does what is due, and returns what leaves without being an answer."""


@contextmanager
def answering(core: Core, unasked: Unasked = lambda _now: ()) -> Iterator[str]:
    """Serve, and yield where: ``127.0.0.1:PORT``."""
    ended = threading.Event()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as port:
        port.bind(("127.0.0.1", 0))
        port.settimeout(0.02)

        def serve() -> None:
            while True:
                now = Monotonic(time.monotonic())
                for data, to in unasked(now):
                    port.sendto(data, to)
                try:
                    asked, asker = port.recvfrom(4096)
                except TimeoutError:
                    if ended.is_set():  # what has arrived before was answered
                        return
                    continue
                for data in core.answer(asked, asker, now):
                    port.sendto(data, asker)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{port.getsockname()[1]}"
        finally:
            ended.set()
            thread.join(5)


class Asker(DatagramProtocol):
    """A socket of the test's reactor that keeps what it hears."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []

    def datagramReceived(self, datagram: bytes, addr: Any) -> None:
        self.heard.append(datagram)
