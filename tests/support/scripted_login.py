"""A login server that speaks the world link byte by byte from the pages, not through our code.

Source: docs/protocol/link.md, and the recorded link.
"""

from __future__ import annotations

import struct
from typing import Any

from twisted.internet.defer import Deferred, maybeDeferred
from twisted.internet.interfaces import IListeningPort
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.python.failure import Failure

from tests.support.scripted_world import frame


class ScriptedLogin(Protocol):
    """One world's connection at the scripted login server."""

    def __init__(self) -> None:
        self._buffer = b""
        self.frames: list[tuple[int, bytes]] = []
        self._waiting: list[tuple[int, Deferred[bytes]]] = []
        self.is_connected = False
        self.reads: list[int] = []
        self._ended: list[Deferred[None]] = []

    def connectionMade(self) -> None:
        self.is_connected = True
        transport: Any = self.transport
        transport.setTcpNoDelay(True)
        self.factory: Any
        self.factory.arrived(self)

    def dataReceived(self, data: bytes) -> None:
        self.reads.append(len(data))
        self._buffer += data
        while len(self._buffer) >= 7:
            size, flags, opcode = struct.unpack_from("<IBH", self._buffer)
            if len(self._buffer) < size:
                return
            assert flags == 0, "the world set a flag"
            payload, self._buffer = self._buffer[7:size], self._buffer[size:]
            self._arrived(opcode, payload)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.is_connected = False
        for ended in self._ended:
            ended.callback(None)
        for _, waiting in self._waiting:
            waiting.errback(ConnectionError("the world hung up"))

    def send(self, opcode: int, payload: bytes = b"") -> None:
        transport: Any = self.transport
        transport.write(frame(opcode, payload))

    def ask_play(self, account: int, char: int, from_id: int = 7, ip: bytes = b"8.8.8.8") -> None:
        self.send(0xAB00, struct.pack("<IIIII21s", account, char, 1, from_id, 0, ip))

    def refuse(self, text: bytes) -> None:
        """Send a fatal error and hang up, as EQ2Emulator does."""
        self.send(0x1003, text + b"\0")
        transport: Any = self.transport
        transport.loseConnection()

    def received(self, opcode: int) -> Deferred[bytes]:
        """Return the payload of the next frame of an opcode that was not returned yet."""
        waiting: Deferred[bytes] = Deferred()
        for place, (found, payload) in enumerate(self.frames):
            if found == opcode:
                del self.frames[place]
                waiting.callback(payload)
                return waiting
        self._waiting.append((opcode, waiting))
        return waiting

    def ended(self) -> Deferred[None]:
        waiting: Deferred[None] = Deferred()
        if self.is_connected:
            self._ended.append(waiting)
        else:
            waiting.callback(None)
        return waiting

    def _arrived(self, opcode: int, payload: bytes) -> None:
        for place, (wanted, waiting) in enumerate(self._waiting):
            if wanted == opcode:
                del self._waiting[place]
                waiting.callback(payload)
                return
        self.frames.append((opcode, payload))


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
