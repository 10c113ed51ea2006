"""A world server that speaks the login link byte by byte from the pages, not through our code.

Everything is written with `struct` and read by hand, so that a fault of our codec cannot hide
behind the same fault on the other side. Source: docs/protocol/link.md, and the recorded link.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.endpoints import HostnameEndpoint
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.python.failure import Failure

LS_INFO, LS_STATUS, LS_FATAL_ERROR = 0x1000, 0x1001, 0x1003
PLAY_REQUEST, PLAY_RESPONSE = 0xAB00, 0xAB01
CHAR_UPDATE, CHAR_CREATE, ZONE_UPDATE = 0x2012, 0x2013, 0x2019
ZONE_BATCH, EQUIPMENT_BATCH = 0x201C, 0x201D


def frame(opcode: int, payload: bytes = b"") -> bytes:
    return struct.pack("<IBH", 7 + len(payload), 0, opcode) + payload


def ls_info(
    account: bytes = b"testlabs",
    password: bytes = b"secret",
    *,
    name: bytes = b"TestLabs",
    protocol: bytes = b"0.5.0",
    version: bytes = b"0.9.9-Nebula",
    kind: int = 0,
) -> bytes:
    """Return the 832 bytes of LSInfo; `password` is the plain one."""
    digest = hashlib.sha512(password).hexdigest().encode()
    head = struct.pack(
        "<201s250s31s256s25s64s", name, b"127.0.0.1", account, digest, protocol, version
    )
    return head + bytes([kind]) + (73043).to_bytes(4, "little")


class ScriptedEnd(Protocol):
    """One side of the link: splits frames itself, and a test can await what the peer sends."""

    def __init__(self) -> None:
        self._buffer = b""
        self.frames: list[tuple[int, bytes]] = []
        """Opcode and payload of what no test has asked for yet."""
        self.reads: list[int] = []
        self._waiting: list[tuple[int, Deferred[bytes]]] = []
        self._ended: list[Deferred[None]] = []
        self.is_connected = False

    def connectionMade(self) -> None:
        self.is_connected = True
        transport: Any = self.transport
        transport.setTcpNoDelay(True)

    def dataReceived(self, data: bytes) -> None:
        self.reads.append(len(data))
        self._buffer += data
        while len(self._buffer) >= 7:
            size, flags, opcode = struct.unpack_from("<IBH", self._buffer)
            if len(self._buffer) < size:
                return
            assert flags == 0, "the peer set a flag"
            payload, self._buffer = self._buffer[7:size], self._buffer[size:]
            self._arrived(opcode, payload)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.is_connected = False
        for ended in self._ended:
            ended.callback(None)
        for _, waiting in self._waiting:
            waiting.errback(ConnectionError("the peer closed the connection"))

    def write(self, data: bytes) -> None:
        transport: Any = self.transport
        transport.write(data)

    def send(self, opcode: int, payload: bytes = b"") -> None:
        self.write(frame(opcode, payload))

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
        """Wait until the peer has closed the connection."""
        waiting: Deferred[None] = Deferred()
        if self.is_connected:
            self._ended.append(waiting)
        else:
            waiting.callback(None)
        return waiting

    def hang_up(self) -> Deferred[None]:
        """Hang up; returns the end of the connection."""
        transport: Any = self.transport
        waiting = self.ended()
        transport.loseConnection()
        return waiting

    def _arrived(self, opcode: int, payload: bytes) -> None:
        for place, (wanted, waiting) in enumerate(self._waiting):
            if wanted == opcode:
                del self._waiting[place]
                waiting.callback(payload)
                return
        self.frames.append((opcode, payload))


class ScriptedWorld(ScriptedEnd):
    """The world's side."""

    def register(self, account: bytes = b"testlabs", password: bytes = b"secret") -> None:
        """Introduce this world and say that it is up, as real ones do in one breath."""
        self.send(LS_INFO, ls_info(account, password))
        self.status()

    def status(self, status: int = 1, players: int = 0, zones: int = 0, level: int = 50) -> None:
        self.send(LS_STATUS, struct.pack("<iiiB", status, players, zones, level))

    def answer_play(
        self, request: bytes, response: int = 1, *, key: int = 0x1234, port: int = 9312
    ) -> None:
        """Answer a UsertoWorldReq of 41 bytes."""
        account, char, world, from_id = struct.unpack_from("<IIII", request)
        body = struct.pack("<IIIIB80sIII", account, char, world, key, response, b"127.0.0.1",
                           port, 0, from_id)  # fmt: skip
        self.send(PLAY_RESPONSE, body)

    async def refusal(self) -> bytes:
        """Return the text of the fatal error; the login server hangs up after it."""
        text = await self.received(LS_FATAL_ERROR)
        await self.ended()
        assert text.endswith(b"\0")
        return text[:-1]


class _Factory(Factory):
    noisy = False
    protocol = ScriptedWorld


async def connect_world(reactor: Any, port: int, host: str = "127.0.0.1") -> ScriptedWorld:
    """Connect to a login server's link port without saying anything yet."""
    world: Any = await HostnameEndpoint(reactor, host, port).connect(_Factory())
    assert isinstance(world, ScriptedWorld)
    return world
