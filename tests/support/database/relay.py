"""A TCP relay in front of a server, to cut and slow its connections without any rights."""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Self

from tests.support.patience import patience


class Relay:
    """Relays connections to a server. Any thread may change how.

    `delay`: seconds by which each piece of data is late. `is_silent`: data and new connections are
    taken and not passed on, as behind a cut wire.
    """

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.delay = 0.0
        self.is_silent = False
        self.trips_of: Counter[str] = Counter()
        """Round trips of all connections with a name; PostgreSQL's ``application_name``."""
        self._open: list[socket.socket] = []
        self._connections: list[_Trips] = []
        self._is_closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def settle(self) -> None:
        """Wait until the server has answered everything that was asked by now.

        A client may go on before the answer to a commit; what it asks then is the same round trip.
        """
        end = time.monotonic() + patience(10.0)
        while not all(one.is_answered for one in self._connections):
            assert time.monotonic() < end, "the server does not answer"
            time.sleep(0.001)

    @property
    def trips(self) -> int:
        """Round trips of all connections."""
        return self.trips_of.total()

    def reset(self) -> None:
        """End all connections at once."""
        taken, self._open = self._open, []
        for one in taken:
            with suppress(OSError):
                # Without a disconnect: the other side gets RST.
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def close(self) -> None:
        """End the relay."""
        self._is_closed = True
        self._listener.close()
        self.reset()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                try:
                    server = socket.create_connection(self._target)
                except OSError:  # A dead server must not end the relay.
                    client.close()
                    continue
                self._open += [client, server]
                for one in (client, server):
                    # Otherwise a second small piece waits for the acknowledgement of the first.
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                trips = _Trips(self)
                self._connections.append(trips)
                for source, target, note in (
                    (client, server, trips.asked), (server, client, trips.answered),
                ):  # fmt: skip
                    threading.Thread(
                        target=self._relay, args=(source, target, note), daemon=True
                    ).start()

    def _relay(
        self, source: socket.socket, target: socket.socket, note: Callable[[bytes], None]
    ) -> None:
        # Passed on by another thread: pieces that are sent behind each other are each late by the
        # delay, and not by the sum of those before.
        pieces: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()
        threading.Thread(target=self._pass_on, args=(pieces, target), daemon=True).start()
        data = b"-"
        while data:
            try:
                data = source.recv(65536)
            except OSError:
                data = b""
            note(data)
            pieces.put((time.monotonic() + self.delay, data))

    def _pass_on(
        self, pieces: queue.SimpleQueue[tuple[float, bytes]], target: socket.socket
    ) -> None:
        with suppress(OSError):
            while True:
                due, data = pieces.get()
                if not data:
                    break
                time.sleep(max(0.0, due - time.monotonic()))
                while self.is_silent and not self._is_closed:
                    time.sleep(0.01)
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)


class _Trips:
    """Counts the round trips of one connection: how often the client asks after an answer."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay
        self.is_answered = True
        self._name = ""

    def asked(self, data: bytes) -> None:
        """Note that the client has sent something, or nothing more."""
        if not data:
            return
        if not self._name:
            # The first message names the program; texts in it end with 0.
            _, _, rest = data.partition(b"application_name\0")
            self._name = rest.partition(b"\0")[0].decode("ascii", "replace")
        if self.is_answered:
            self.is_answered = False
            self._relay.trips_of[self._name] += 1

    def answered(self, _data: bytes) -> None:
        """Note that the server has sent something, or nothing more."""
        self.is_answered = True
