"""A small scripted EverQuest II login server, written only from the fact pages.

`ReferenceServer` is one session without a socket; `serving` puts it on a loopback UDP port. The
wire is `reference_wire`, the messages are `reference_messages`: nothing here comes from `emu`.
Everything a client does wrong raises `ClientFault`.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from twisted.internet import reactor as installed_reactor
from twisted.internet.protocol import DatagramProtocol
from twisted.internet.task import LoopingCall

from tests.support.sessions import reference_messages as messages
from tests.support.sessions.reference_messages import ACCOUNT, CreateRequest, ReferenceCharacter
from tests.support.sessions.reference_wire import ReferenceWire, need

ALERT_LOG = {
    546: 216, 561: 216, 562: 215, 843: 215, 1096: 226, 1208: 241, 57080: 242,
    60085: 245, 60100: 245, 60114: 245, 63181: 246, 64753: 246,
}  # fmt: skip
"""Opcode of the alert log; docs/protocol/opcodes.md#login-numbers. Versions not named there may use
any.
"""


@dataclass
class Script:
    """Options of the server."""

    version: int = 546
    password: str = "secret"
    worlds: list[tuple[int, str]] = field(default_factory=lambda: [(1, "Antonia Bayle")])
    characters: list[ReferenceCharacter] = field(default_factory=list)
    denial_code: int = 1
    create_code: int = 1
    delete_code: int = 1
    play_code: int = 1
    play_address: str = "127.0.0.1"
    play_port: int = 9001
    access_key: int = 0x1234ABCD
    short_forms: bool = False
    """Send the 2006 client's own short delete reply and one-byte play failure."""
    status_sizes: tuple[int, ...] = (7, 8)
    silent_from: str = ""
    """The message that is no longer answered: session, login, worlds, create, delete, play."""
    keymap: bytes | None = None


@dataclass(frozen=True)
class LoginRequest:
    """A login request, read as docs/protocol/login.md#request has it."""

    user: str
    password: str
    version: int
    stamped: bool
    """Whether the version was found in the build stamp (clients from 1212)."""
    tail: bytes


def read_login_request(body: bytes) -> LoginRequest:
    """Read a login request in either layout."""
    (session, token, user, password), at = messages.read_strings(body, 0, 4)
    need(session == token == "", "access strings are not empty")
    account, code, low = struct.unpack_from("<IIH", body, at)
    need(account == code == 0, "account number and pass code are not 0")
    at += 10
    if 0 < low <= 1208:
        return LoginRequest(user, password, low, stamped=False, tail=body[at:])
    (version,) = struct.unpack_from("<H", body, at)
    return LoginRequest(user, password, version, stamped=True, tail=body[at + 2 :])


class ReferenceServer:
    """One session of the scripted server; time is an argument."""

    def __init__(self, script: Script | None = None) -> None:
        self.script = script or Script()
        self.wire = ReferenceWire()
        self.requests: list[str] = []
        """Names of the messages that came, in order."""
        self.login: LoginRequest | None = None
        self.login_body = b""
        self.alert_log = b""
        self.created: CreateRequest | None = None
        self.play_requests: list[bytes] = []
        self._accepted = False

    def receive(self, data: bytes, now: float) -> None:
        """Take one datagram."""
        if self.script.silent_from == "session":
            return
        self.wire.receive(data, now)
        inbox, self.wire.inbox = self.wire.inbox, []
        for plain in inbox:
            opcode, body = plain[0], plain[1:]
            if opcode == 0xFF:
                (opcode,) = struct.unpack_from("<H", plain, 1)
                body = plain[3:]
            self._message(opcode, body, now)

    def take(self, now: float) -> list[bytes]:
        """Return the datagrams to send now, resends among them."""
        self.wire.tick(now)
        return self.wire.take()

    def push_status(self, world_id: int, now: float) -> None:
        """Send a world status in each of the script's sizes."""
        for size in self.script.status_sizes:
            self.wire.send(6, struct.pack("<IBB", world_id, 1, 0) + bytes(size - 6), now)

    def _opcodes(self) -> dict[int, Callable[[bytes, float], None]]:
        late = 2 if self.script.version >= 60085 else 0
        return {
            0: self._login,
            7: self._worlds,
            9: self._ignored,
            11: self._create,
            16 + late: self._delete,
            18 + late: self._play,
        }

    def _message(self, opcode: int, body: bytes, now: float) -> None:
        handler = self._opcodes().get(opcode)
        if handler is not None:
            self.requests.append(handler.__name__.strip("_"))
            need(self._accepted or opcode == 0, "a message before the login was accepted")
            handler(body, now)
        elif 140 <= opcode <= 185:
            self.requests.append("keymap")
            need(body == b"", "a keymap load has no body")
            keymap = self.script.keymap
            answer = b"" if keymap is None else struct.pack("<I", len(keymap)) + keymap
            self.wire.send(opcode + (1 if keymap is None else 2), answer, now)
        else:
            expected = ALERT_LOG.get(self.script.version, opcode)
            need(opcode == expected, f"opcode {opcode}, an alert log would be {expected}")
            self._alert_log(body)

    def _ignored(self, body: bytes, now: float) -> None:
        pass

    def _login(self, body: bytes, now: float) -> None:
        self.login_body = body
        self.login = login = read_login_request(body)
        if self.script.silent_from == "login":
            return
        need(login.version == self.script.version, f"version {login.version} in the request")
        if (login.user, login.password) != (ACCOUNT, self.script.password):
            self.wire.send(4, messages.denial(self.script.denial_code), now)
            return
        self._accepted = True
        self.wire.send(4, messages.login_reply(login.version), now)

    def _alert_log(self, body: bytes) -> None:
        need(self.requests == ["login"], "the alert log is the next message after the login")
        packed, size = struct.unpack_from("<II", body)
        need(packed == len(body) - 8, f"compressed length {packed} of {len(body) - 8}")
        need(body[8:10] == b"\x78\xda", "zlib header of the best level")
        self.alert_log = zlib.decompress(body[8:])
        need(len(self.alert_log) == size == 4095, f"log of {size} bytes")
        self.requests.append("alert_log")

    def _worlds(self, body: bytes, now: float) -> None:
        need(body == b"", "the world list request has no body")
        need("alert_log" in self.requests, "worlds asked for before the alert log")
        if self.script.silent_from == "worlds":
            return
        version = self.script.version
        self.wire.send(8, messages.world_list(version, self.script.worlds), now)
        self.wire.send(4, messages.flags_reply(version), now)
        self._send_characters(now)
        for world_id, _ in self.script.worlds:
            self.push_status(world_id, now)

    def _send_characters(self, now: float) -> None:
        body = messages.character_list(self.script.version, self.script.characters)
        self.wire.send(10, body, now)

    def _create(self, body: bytes, now: float) -> None:
        version, code = self.script.version, self.script.create_code
        self.created = request = messages.read_create_request(version, body)
        if self.script.silent_from == "create":
            return
        self.wire.send(12, messages.create_reply(version, code, request.name), now)
        if code != 1:
            return
        char_id = 100 + len(self.script.characters)
        self.script.characters.append(
            ReferenceCharacter(char_id, request.world_id, request.name, 1, request.race)
        )
        self._send_characters(now)
        if version <= 561:
            self._answer_play(now)

    def _delete(self, body: bytes, now: float) -> None:
        char_id, world_id, unknown = struct.unpack_from("<III", body)
        (name,), end = messages.read_strings(body, 12, 1)
        need(end == len(body) and unknown == 0, "delete request of another length")
        if self.script.silent_from == "delete":
            return
        gone = ReferenceCharacter(char_id, world_id, name)
        known = [one for one in self.script.characters if one.char_id == char_id]
        code = self.script.delete_code if known and known[0].name == name else 0
        short = self.script.short_forms
        self.wire.send(
            17 if self.script.version < 60085 else 19,
            messages.delete_reply(code, gone, short=short),
            now,
        )
        if code == 1 and self.script.version <= 561:
            known[0].name, known[0].char_id, known[0].world_id = "(deleted)", 0xFFFFFFFF, 0xFFFFFFFF
        elif code == 1:
            self.script.characters.remove(known[0])
        self._send_characters(now)

    def _play(self, body: bytes, now: float) -> None:
        need(len(body) == 11, f"play request of {len(body)} bytes")
        self.play_requests.append(body)
        if self.script.silent_from != "play":
            self._answer_play(now)

    def _answer_play(self, now: float) -> None:
        script = self.script
        if script.play_code == 1:
            where, port, key = script.play_address, script.play_port, script.access_key
        else:
            where, port, key = "", 0, 0
        answer = messages.play_reply(script.version, script.play_code, where, port, key)
        if script.short_forms and script.play_code != 1:
            answer = answer[:1]
        self.wire.send(19 if script.version < 60085 else 21, answer, now)


class ReferenceEndpoint(DatagramProtocol):
    """The scripted server on UDP: one `ReferenceServer` for each client address."""

    def __init__(self, script: Script, drop_first: int = 0) -> None:
        self.script = script
        self.drop_first = drop_first
        """How many datagrams of each client are lost before one is heard."""
        self.sessions: dict[tuple[str, int], ReferenceServer] = {}
        self._dropped: dict[tuple[str, int], int] = {}
        self._clock: Any = installed_reactor
        self._resend = LoopingCall(self.tick)

    def startProtocol(self) -> None:
        self._resend.start(0.1, now=False)

    def stopProtocol(self) -> None:
        self._resend.stop()

    def datagramReceived(self, datagram: bytes, addr: tuple[str, int]) -> None:
        if self._dropped.get(addr, 0) < self.drop_first:
            self._dropped[addr] = self._dropped.get(addr, 0) + 1
            return
        server = self.sessions.setdefault(addr, ReferenceServer(self.script))
        server.receive(datagram, self._clock.seconds())
        self._flush(addr, server)

    def tick(self) -> None:
        """Resend what was lost."""
        for addr, server in self.sessions.items():
            self._flush(addr, server)

    def _flush(self, addr: tuple[str, int], server: ReferenceServer) -> None:
        transport: Any = self.transport
        for datagram in server.take(self._clock.seconds()):
            transport.write(datagram, addr)

    def only_session(self) -> ReferenceServer:
        """Return the session of the only client."""
        (server,) = self.sessions.values()
        return server


@asynccontextmanager
async def serving(
    script: Script | None = None, drop_first: int = 0
) -> AsyncIterator[tuple[ReferenceEndpoint, int]]:
    """Run the server on a loopback port; yields the endpoint and its port."""
    endpoint = ReferenceEndpoint(script or Script(), drop_first)
    clock: Any = installed_reactor
    port = clock.listenUDP(0, endpoint, interface="127.0.0.1")
    try:
        yield endpoint, port.getHost().port
    finally:
        await port.stopListening()
