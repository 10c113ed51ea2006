"""The server end of one EQ2 session, written from docs/protocol/transport.md alone.

It shares no line with `emu.session`: struct, zlib and an RC4 are all it needs, so that the client
is tested against bytes of another origin. It is strict: a client that sends what a real one would
not send gets a `ClientFault`, which fails the test. It keeps no measured round trips, window or
congestion control; a script does not need them.
"""

from __future__ import annotations

import struct
import zlib

from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
from cryptography.hazmat.primitives.ciphers import Cipher

RESEND_AFTER = 0.5

RECORDED = bytes.fromhex(
    "00090000001944ffffffff3c00000051a894fa218823d4cff902c37c55ad51fa05a2caac209c212d152221c36b51"
    "8358cafb0d653e10bd3f94b3eb89b581c54307b80984f3c1efb0f87bfd239d86fd74d5fdbf8d5750ed519e9c301a"
    "4875a605a0cfdac83c9e110859454a028df195f840"
)
"""A real client's key block and login request: testlabs, testpass, version 546, session 5352f60f.

Datagram 5 of docs/protocol/transport.md#setup.
"""


class ClientFault(AssertionError):
    """The client sent something that a real client does not send."""


def need(condition: object, text: str) -> None:
    """Raise `ClientFault` unless `condition` holds."""
    if not condition:
        raise ClientFault(text)


def check_of(data: bytes, key: int) -> bytes:
    """Return the two check bytes (docs/protocol/transport.md#check)."""
    start = zlib.crc32(struct.pack("<I", key))
    return struct.pack(">H", zlib.crc32(data, start) & 0xFFFF)


def rc4(key: bytes) -> Cipher[None]:
    """Make the cipher of one direction."""
    return Cipher(ARC4(key), mode=None)


class Keystream:
    """One direction's RC4 with its first 20 bytes thrown away (docs/protocol/transport.md#keys)."""

    def __init__(self, key: bytes) -> None:
        self._context = rc4(key).encryptor()
        self._context.update(bytes(20))

    def update(self, data: bytes) -> bytes:
        """Encrypt or decrypt the next bytes of the stream."""
        return self._context.update(data)


def key_of_block(part: bytes) -> bytes:
    """Check a key block message and return the RC4 key in it."""
    need(len(part) == 68, f"key block of {len(part)} bytes")
    need(part[:8] == b"\xff\xff\xff\xff\x3c\x00\x00\x00", "key block begins otherwise")
    need(any(part[-8:]), "key of zeros")
    return part[:-9:-1]


def split_parts(payload: bytes) -> list[bytes]:
    """Split what follows the marker of an AppCombined."""
    parts, at = [], 0
    while at < len(payload):
        length, at = payload[at], at + 1
        if length == 0xFF:
            (length,) = struct.unpack_from(">H", payload, at)
            at += 2
        need(at + length <= len(payload), "part runs past the end")
        parts.append(payload[at : at + length])
        at += length
    return parts


class ReferenceWire:
    """One session: datagrams in by `receive`, out by `take`; client messages gather in `inbox`."""

    def __init__(self, key: int = 0x33624702) -> None:
        self.check_key = key
        self.session_id = 0
        self.max_length = 512
        self.requests = 0
        """How many session requests came."""
        self.statistics: list[bytes] = []
        self.inbox: list[bytes] = []
        """Decrypted client messages in order: opcode byte(s) and body."""
        self.sizes: list[int] = []
        """How many messages each reliable payload carried."""
        self.rc4_key: bytes | None = None
        self.key_with_login = False
        """Whether the key block came in one AppCombined with the first message."""
        self.disconnected = False
        self.keep_alives = 0
        self.combine = False
        """Whether what leaves together is joined in one Combined (short packets only)."""
        self._in: Keystream | None = None
        self._out: Keystream | None = None
        self._deflate = zlib.compressobj(9, zlib.DEFLATED, 13, 9)
        self._expected = 0
        self._held: dict[int, tuple[int, bytes]] = {}
        self._fragment = bytearray()
        self._fragment_total = 0
        self._next = 0
        self._unacked: dict[int, tuple[bytes, float]] = {}
        self._queue: list[bytes] = []
        self._needs_ack = False

    # in

    def receive(self, data: bytes, now: float) -> None:
        """Take one datagram of the client."""
        if data[:2] == b"\x00\x01":
            self._session_request(data)
            return
        need(len(data) >= 4, "datagram too short for a check")
        need(check_of(data[:-2], self.check_key) == data[-2:], "wrong check")
        need(len(data) <= self.max_length, f"datagram of {len(data)} bytes")
        self._packet(data[:-2], now)
        if self._needs_ack:
            self._needs_ack = False
            if self._expected:
                self._seal(struct.pack(">HH", 0x15, (self._expected - 1) & 0xFFFF))

    def _session_request(self, data: bytes) -> None:
        need(len(data) == 14, f"session request of {len(data)} bytes")
        _, checks, session_id, max_length = struct.unpack(">HIII", data)
        need(checks == 2, "UnknownA of the session request is not 2")
        need(max_length == 512, f"MaxLength {max_length}")
        need(not self.requests or session_id == self.session_id, "a repeat with another id")
        self.requests += 1
        self.session_id = session_id
        answer = struct.pack(">HIIBBBII", 2, session_id, self.check_key, 2, 0, 0, 512, 0)
        self._queue.append(answer)

    def _packet(self, packet: bytes, now: float) -> None:
        (op,) = struct.unpack_from(">H", packet)
        if op == 0x03:
            self._combined(packet, now)
        elif op == 0x05:
            session_id, _ = struct.unpack(">IH", packet[2:])
            need(session_id == self.session_id, "disconnect of another session")
            self.disconnected = True
            self.disconnect()
        elif op == 0x06:
            self.keep_alives += 1
        elif op == 0x07:
            self._statistics(packet, now)
        elif op in (0x09, 0x0D):
            self._reliable(op, packet)
        elif op == 0x15:
            self._acknowledged(packet)
        elif op == 0x11:
            self._unacked.pop(struct.unpack(">H", packet[2:])[0], None)
        else:
            need(False, f"protocol opcode {op:04x}")

    def _combined(self, packet: bytes, now: float) -> None:
        at = 2
        while at < len(packet):
            length, at = packet[at], at + 1
            if length == 0xFF:
                (length,) = struct.unpack_from(">H", packet, at)
                at += 2
            self._packet(packet[at : at + length], now)
            at += length

    def _acknowledged(self, packet: bytes) -> None:
        (upto,) = struct.unpack(">H", packet[2:])
        for sequence in list(self._unacked):
            if (upto - sequence) & 0xFFFF < 0x8000:
                del self._unacked[sequence]

    def _statistics(self, packet: bytes, now: float) -> None:
        need(len(packet) == 40, f"statistics request of {len(packet)} bytes")
        request_id, *_ = struct.unpack(">H5I2Q", packet[2:])
        self.statistics.append(packet)
        milliseconds = int(now * 1000) & 0xFFFFFFFF
        self._seal(struct.pack(">HHI4Q", 8, request_id, milliseconds, 2, 1, 2, 2))
        if self.rc4_key is None and not self._next:
            request = struct.pack("<BI60sIB", 2, 60, b"\xff" * 60, 1, 1)
            self._reliable_out(request, now)

    def _reliable(self, op: int, packet: bytes) -> None:
        (sequence,) = struct.unpack_from(">H", packet, 2)
        self._needs_ack = True
        if (sequence - self._expected) & 0xFFFF >= 0x8000:
            return
        self._held[sequence] = (op, packet[4:])
        while self._expected in self._held:
            kind, payload = self._held.pop(self._expected)
            self._expected = (self._expected + 1) & 0xFFFF
            if kind == 0x09:
                self._payload(payload)
            else:
                self._take_fragment(payload)

    def _take_fragment(self, payload: bytes) -> None:
        if not self._fragment_total:
            (self._fragment_total,) = struct.unpack_from(">I", payload)
            payload = payload[4:]
            need(len(payload) == self.max_length - 10, "first fragment is not full")
        self._fragment += payload
        need(len(self._fragment) <= self._fragment_total, "fragments longer than announced")
        if len(self._fragment) == self._fragment_total:
            whole = bytes(self._fragment)
            self._fragment.clear()
            self._fragment_total = 0
            self._payload(whole)

    def _payload(self, payload: bytes) -> None:
        if self.rc4_key is None:
            if payload[:2] == b"\x00\x19":
                parts = split_parts(payload[2:])
                self.rc4_key = key_of_block(parts.pop(0))
                self.key_with_login = bool(parts)
            else:
                self.rc4_key, parts = key_of_block(payload), []
            self._in = Keystream(bytes(byte ^ 0xFF for byte in self.rc4_key))
            self._out = Keystream(self.rc4_key)
        elif payload[:2] == b"\x00\x19":
            parts = split_parts(payload[2:])
            need(len(parts) > 1, "AppCombined of one")
        else:
            parts = [payload]
        self.sizes.append(len(parts))
        assert self._in is not None
        for part in parts:
            need(part, "empty message")
            self.inbox.append(self._in.update(part[1:] if part[0] == 0 else part))

    # out

    def send(self, opcode: int, body: bytes, now: float) -> None:
        """Queue one application message."""
        assert self._out is not None, "no key yet"
        head = bytes([opcode]) if opcode < 255 else b"\xff" + struct.pack("<H", opcode)
        plain = head + body
        if 3 + len(plain) > 128:
            packed = self._deflate.compress(plain) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
            plain = b"\x01" + packed
        else:
            plain = b"\x00" + plain
        sealed = self._out.update(plain)
        self._reliable_out(b"\x00" + sealed if sealed[0] == 0 else sealed, now)

    def disconnect(self) -> None:
        """Tell the client that the session is over."""
        self._seal(struct.pack(">HIH", 5, self.session_id, 6))

    def raw(self, datagram: bytes) -> None:
        """Send any bytes."""
        self._queue.append(datagram)

    def _reliable_out(self, payload: bytes, now: float) -> None:
        if len(payload) + 6 <= self.max_length:
            self._sequenced(9, payload, now)
            return
        cut = self.max_length - 10
        self._sequenced(0x0D, struct.pack(">I", len(payload)) + payload[:cut], now)
        for at in range(cut, len(payload), self.max_length - 6):
            self._sequenced(0x0D, payload[at : at + self.max_length - 6], now)

    def _sequenced(self, op: int, payload: bytes, now: float) -> None:
        packet = struct.pack(">HH", op, self._next) + payload
        self._unacked[self._next] = (packet, now)
        self._next = (self._next + 1) & 0xFFFF
        self._seal(packet)

    def _seal(self, packet: bytes) -> None:
        self._queue.append(packet + check_of(packet, self.check_key))

    def tick(self, now: float) -> None:
        """Send again what was not acknowledged for half a second."""
        for sequence, (packet, sent) in list(self._unacked.items()):
            if now - sent >= RESEND_AFTER:
                self._unacked[sequence] = (packet, now)
                self._seal(packet)

    def take(self) -> list[bytes]:
        """Return and forget the datagrams to send."""
        queue, self._queue = self._queue, []
        if self.combine and len(queue) > 1 and all(one[1] not in (1, 2) for one in queue):
            parts = (one[:-2] for one in queue)
            packet = b"\x00\x03" + b"".join(bytes([len(part)]) + part for part in parts)
            return [packet + check_of(packet, self.check_key)]
        return queue
