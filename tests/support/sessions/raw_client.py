"""One client session on a socket, written from docs/protocol/transport.md with nothing of ours in
it.

Sends whatever a test asks for, also what no client would send; takes everything in order, so that a
test can look at the bytes. It repeats nothing: loopback loses nothing.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from twisted.internet.protocol import DatagramProtocol

from tests.support.running.whole_server import HOST, reactor, until
from tests.support.sessions.reference_wire import Keystream, check_of, split_parts

KEY_BLOCK = b"\xff\xff\xff\xff\x3c\x00\x00\x00" + bytes(range(1, 61))
STATISTICS = struct.pack(">HH5I2Q", 7, 0x52D7, 0, 0, 0, 0, 0, 2, 1)


def str16(text: bytes) -> bytes:
    return struct.pack("<H", len(text)) + text


def login_request(user: bytes, password: bytes, version: int = 546) -> bytes:
    """Return a login request in the classic layout, opcode included.

    Source: docs/protocol/login.md#request.
    """
    head = bytes(4) + str16(user) + str16(password)
    return b"\0" + head + struct.pack("<IIH", 0, 0, version) + bytes(19)


def by_number(account: int, key: int, version: int = 546) -> bytes:
    """Return OP_LoginByNumRequestMsg with its opcode, as a version has it.

    Source: docs/protocol/characters.md#play-reply.
    """
    head = struct.pack("<BII", 1, account, key)
    if version < 562:
        return head + struct.pack("<H20x", version)
    if version < 1208:
        return head + struct.pack("<IH20x", 0, version)
    return head + struct.pack("<IHH24x", 0, 0, version)


def session_request(session_id: int, max_length: int = 512, tail: bytes = b"") -> bytes:
    return struct.pack(">HIII", 1, 2, session_id, max_length) + tail


class RawClient(DatagramProtocol):
    """A socket towards one server port, and one session over it."""

    def __init__(self, port: int, session_id: int = 0x5352F60F) -> None:
        self.session_id = session_id
        self.datagrams: list[bytes] = []
        """Everything that came, as it came."""
        self.packets: list[bytes] = []
        """Protocol packets without check, taken out of Combined."""
        self.messages: list[tuple[int, bytes]] = []
        """Decrypted messages: opcode and body."""
        self.check_key: int | None = None
        self.disconnected = False
        self.refused = False
        self.socket: Any = None
        self._address = (HOST, port)
        self._in: Keystream | None = None
        self._out: Keystream | None = None
        self._inflate = zlib.decompressobj(13)
        self._sequence = 0
        self._expected = 0
        self._held: dict[int, tuple[int, bytes]] = {}
        self._run = b""
        self._run_total = 0

    # sending

    def raw(self, data: bytes) -> None:
        """Send bytes as they are."""
        transport: Any = self.transport
        transport.write(data, self._address)

    def packet(self, packet: bytes) -> None:
        """Send a protocol packet with its check."""
        assert self.check_key is not None
        self.raw(packet + check_of(packet, self.check_key))

    async def rebind(self, host: str = HOST) -> None:
        """Send from another port from now on, and from a host."""
        await self.socket.stopListening()
        self.socket = reactor.listenUDP(0, self, interface=host)

    def reliable(self, payload: bytes) -> None:
        """Send a reliable payload as it is."""
        self.packet(struct.pack(">HH", 9, self._sequence) + payload)
        self._sequence = (self._sequence + 1) & 0xFFFF

    def seal(self, message: bytes) -> bytes:
        """Encrypt one message, escape included."""
        assert self._out is not None
        sealed = self._out.update(message)
        return b"\0" + sealed if sealed[0] == 0 else sealed

    def send(self, message: bytes) -> None:
        """Send one message: opcode byte and body."""
        self.reliable(self.seal(message))

    def disconnect(self) -> None:
        self.packet(struct.pack(">HIH", 5, self.session_id, 6))

    def use_key(self, block: bytes) -> None:
        """Take the RC4 key out of a key block."""
        key = block[:-9:-1]
        self._in = Keystream(key)
        self._out = Keystream(bytes(byte ^ 0xFF for byte in key))

    # whole steps

    async def request(self, max_length: int = 512, tail: bytes = b"") -> bytes:
        """Ask for a session and return the answer."""
        before = len(self.datagrams)
        self.raw(session_request(self.session_id, max_length, tail))
        await until(lambda: len(self.datagrams) > before, "the session response")
        return self.datagrams[before]

    async def set_up(self) -> None:
        """Ask for a session and the key request, unless that was done."""
        if self._expected:
            return
        await self.request()
        self.packet(STATISTICS)
        await until(lambda: self._expected == 1, "the key request")

    async def log_in(
        self, user: bytes = b"testlabs", password: bytes = b"testpass", version: int = 546
    ) -> None:
        """Send key block and login request, and wait for the reply."""
        await self.enter(login_request(user, password, version))
        await self.message(4)

    async def enter(self, first: bytes) -> None:
        """Set the session up and send key block and first message in one datagram."""
        await self.set_up()
        self.use_key(KEY_BLOCK)
        sealed = self.seal(first)
        self.reliable(b"\0\x19" + bytes([68]) + KEY_BLOCK + bytes([len(sealed)]) + sealed)

    async def message(self, opcode: int, seconds: float = 5.0) -> bytes:
        """Wait for the next message of an opcode, take it out and return its body."""

        def find() -> int | None:
            places = (at for at, (number, _) in enumerate(self.messages) if number == opcode)
            return next(places, None)

        await until(lambda: find() is not None, f"message {opcode}", seconds)
        place = find()
        assert place is not None
        return self.messages.pop(place)[1]

    # receiving

    def datagramReceived(self, datagram: bytes, addr: Any) -> None:
        self.datagrams.append(datagram)
        if datagram[:2] == b"\0\2":
            session_id, key = struct.unpack_from(">II", datagram, 2)
            if session_id == self.session_id:
                self.check_key = key
            return
        if datagram[:2] == b"\0\x1d":
            return
        assert self.check_key is not None
        if check_of(datagram[:-2], self.check_key) == datagram[-2:]:
            self._packet(datagram[:-2])

    def connectionRefused(self) -> None:
        self.refused = True

    def _packet(self, packet: bytes) -> None:
        (op,) = struct.unpack_from(">H", packet)
        if op == 3:
            for part in split_parts(packet[2:]):
                self._packet(part)
            return
        self.packets.append(packet)
        if op == 5:
            assert struct.unpack(">IH", packet[2:])[0] == self.session_id
            if not self.disconnected:
                self.disconnect()
            self.disconnected = True
        elif op in (9, 0x0D):
            (sequence,) = struct.unpack_from(">H", packet, 2)
            self._held[sequence] = (op, packet[4:])
            while self._expected in self._held:
                kind, payload = self._held.pop(self._expected)
                self._expected += 1
                self._payload(payload) if kind == 9 else self._fragment(payload)
            self.packet(struct.pack(">HH", 0x15, (self._expected - 1) & 0xFFFF))

    def _fragment(self, payload: bytes) -> None:
        if not self._run_total:
            (self._run_total,) = struct.unpack_from(">I", payload)
            payload = payload[4:]
        self._run += payload
        if len(self._run) == self._run_total:
            whole, self._run, self._run_total = self._run, b"", 0
            self._payload(whole)

    def _payload(self, payload: bytes) -> None:
        if self._in is None:
            self.messages.append((payload[0], payload[1:]))
            return
        combined = payload[:2] == b"\0\x19"
        for part in split_parts(payload[2:]) if combined else [payload]:
            self._message(self._in.update(part[1:] if part[0] == 0 else part))

    def _message(self, plain: bytes) -> None:
        body = plain[1:] if plain[0] == 0 else self._inflate.decompress(plain[1:])
        if body[0] == 0xFF:
            self.messages.append((struct.unpack_from("<H", body, 1)[0], body[3:]))
        else:
            self.messages.append((body[0], body[1:]))


@asynccontextmanager
async def raw_client(
    port: int, session_id: int = 0x5352F60F, *, host: str = HOST
) -> AsyncIterator[RawClient]:
    """Open a socket on `host` for a raw session; at the end the session is closed, if any."""
    client = RawClient(port, session_id)
    client.socket = reactor.listenUDP(0, client, interface=host)
    try:
        yield client
    finally:
        if client.check_key is not None and not client.disconnected:
            client.disconnect()
        await client.socket.stopListening()
