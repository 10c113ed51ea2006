"""A query core behind a UDP port in a thread, for commands that wait for its answers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from emu.times import Monotonic


class Core(Protocol):
    """What answers; `emu.net.udp.query.QueryCore`."""

    def answer(self, data: bytes, address: tuple[str, int], now: Monotonic) -> Sequence[bytes]: ...


@contextmanager
def answering(core: Core) -> Iterator[str]:
    """Serve, and yield where: ``127.0.0.1:PORT``."""
    ended = threading.Event()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as port:
        port.bind(("127.0.0.1", 0))
        port.settimeout(0.05)

        def serve() -> None:
            while not ended.is_set():
                try:
                    asked, asker = port.recvfrom(4096)
                except TimeoutError:
                    continue
                for data in core.answer(asked, asker, Monotonic(1.0)):
                    port.sendto(data, asker)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{port.getsockname()[1]}"
        finally:
            ended.set()
            thread.join(5)
