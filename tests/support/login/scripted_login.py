"""A login server that speaks the world link byte by byte from the pages, not through our code.

Source: docs/protocol/link.md, and the recorded link.
"""

from __future__ import annotations

import struct
from typing import Any

from twisted.internet.defer import Deferred, maybeDeferred
from twisted.internet.interfaces import IListeningPort
from twisted.internet.protocol import Factory

from tests.support.login.scripted_world import ScriptedEnd


class ScriptedLogin(ScriptedEnd):
    """One world's connection at the scripted login server."""

    def connectionMade(self) -> None:
        super().connectionMade()
        self.factory: Any
        self.factory.arrived(self)

    def ask_play(self, account: int, char: int, from_id: int = 7, ip: bytes = b"8.8.8.8") -> None:
        self.send(0xAB00, struct.pack("<IIIII21s", account, char, 1, from_id, 0, ip))

    def refuse(self, text: bytes) -> None:
        """Send a fatal error and hang up, as EQ2Emulator does."""
        self.send(0x1003, text + b"\0")
        self.hang_up()


class ScriptedLoginServer(Factory):
    """Listens on loopback; `connection` gives the next world that connects."""

    noisy = False
    protocol = ScriptedLogin

    def __init__(self, reactor: Any, tls: Any = None) -> None:
        self._reactor = reactor
        self._tls = tls
        self._connections: list[ScriptedLogin] = []
        self._all: list[ScriptedLogin] = []
        self._waiting: list[Deferred[ScriptedLogin]] = []
        self._port: IListeningPort | None = None
        self.number = 0
        """The TCP port; kept when the server is stopped and started again."""

    def start(self) -> None:
        if self._tls is None:
            port = self._reactor.listenTCP(self.number, self, interface="127.0.0.1")
        else:
            port = self._reactor.listenSSL(self.number, self, self._tls, interface="127.0.0.1")
        self._port = port
        self.number = port.getHost().port

    async def stop(self) -> None:
        """Stop listening and hang up on everybody."""
        if self._port is not None:
            await maybeDeferred(self._port.stopListening)
            self._port = None
        for connection in self._all:
            if connection.is_connected:
                transport: Any = connection.transport
                ended = connection.ended()
                transport.abortConnection()
                await ended
        self._all.clear()

    def arrived(self, connection: ScriptedLogin) -> None:
        self._all.append(connection)
        if self._waiting:
            self._waiting.pop(0).callback(connection)
        else:
            self._connections.append(connection)

    def connection(self) -> Deferred[ScriptedLogin]:
        """Return the next connection that was not returned yet."""
        waiting: Deferred[ScriptedLogin] = Deferred()
        if self._connections:
            waiting.callback(self._connections.pop(0))
        else:
            self._waiting.append(waiting)
        return waiting
