"""Source RCON: commands over TCP, for operators' tools. Packets, a client, the server's side.

Packets are ``size, id, type`` as signed 32-bit little-endian, a text, and two NULs. `size` counts
what follows it. A client that sends only one NUL is understood. A long answer is divided: all
packets but the last have exactly `LONGEST_TEXT` bytes of text, which is how clients know that more
follows. `RconClient` sends an empty RESPONSE_VALUE with its own id after every command. Servers
answer in order; so when that one is answered, the command's answer is complete.

The server handles packets in order, one at a time: the next packet waits until a command is
answered, or until the delay after a wrong password is over. Clients find the end of a long answer
by an empty RESPONSE_VALUE that they send after their command. If it has an id of its own, it is
mirrored. If it has the command's id, it is mirrored and followed by a packet that marks the end
(Source). Sans-IO.

Source: docs/protocol/administration/rcon.md#decisions.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from hmac import compare_digest
from itertools import count
from typing import Final

from emu.admin.console import CommandSession
from emu.admin.ports import CommandGiven, LoginFailed, UserAuthenticated
from emu.binary import I32, LITTLE, RecordLayout
from emu.commands import Caller, Reply
from emu.commands.registry import FORMER_NAMES, RANKS, one_line
from emu.errors import CommandError, LimitExceeded, MalformedMessage, PeerError
from emu.limits.rates import Failures
from emu.times import Monotonic

_SIZE: Final = RecordLayout("RconPacket.size", LITTLE, size=I32)
_HEADER: Final = RecordLayout("RconPacket", LITTLE, size=I32, id=I32, type=I32)
_REST: Final = 8
"""Bytes of id and type, which `size` counts."""
LEAST_SIZE: Final = 9
"""Id, type and one NUL."""
LONGEST_TEXT: Final = 4096
FAILED_ID: Final = -1
"""Id of the answer to a wrong password."""


class PacketType(enum.IntEnum):
    """The types of packets; 2 has a different meaning in each direction."""

    RESPONSE_VALUE = 0
    EXECCOMMAND = 2
    AUTH_RESPONSE = 2
    AUTH = 3


@dataclass(frozen=True, slots=True)
class RconPacket:
    """One packet; `body` is without the NULs."""

    id: int
    type: int
    body: bytes = b""

    def encode(self) -> bytes:
        """Return the packet's bytes. The body must not contain a NUL."""
        return _HEADER.pack(_REST + len(self.body) + 2, self.id, self.type) + self.body + b"\0\0"


class PacketReader:
    """Cuts a stream of bytes into packets."""

    __slots__ = ("_data", "largest")

    def __init__(self, largest: int) -> None:
        """Accept packets whose `size` is at most `largest`, which may be changed at any time."""
        self._data = bytearray()
        self.largest = largest

    @property
    def unfinished(self) -> bool:
        """Whether an incomplete packet is waiting for more bytes."""
        return bool(self._data)

    def receive(self, data: bytes) -> Iterator[RconPacket]:
        """Handle bytes; yield the complete packets.

        Raises `LimitExceeded` for a packet that is too large, `MalformedMessage` for an impossible
        one; the stream cannot be read any further.
        """
        self._data += data
        while len(self._data) >= _SIZE.size:
            (size,) = _SIZE.unpack(self._data)
            # Before the length of the data is compared: the bytes of a packet that is too large are
            # never awaited.
            if size > self.largest:
                raise LimitExceeded("packet too large")
            if size < LEAST_SIZE:
                raise MalformedMessage("packet too small")
            end = _SIZE.size + size
            if len(self._data) < end:
                return
            _, number, kind = _HEADER.unpack(self._data)
            text = bytes(self._data[_HEADER.size : end])
            del self._data[:end]
            # The text ends at its first NUL; a second one may be missing.
            yield RconPacket(number, kind, text.partition(b"\0")[0])


def divide(text: bytes) -> list[bytes]:
    """Return the bodies of an answer: at least one, empty for an empty answer.

    A character is never cut: it moves to the next body, and blanks fill this one up, before its
    last line feed if it has one, where they are invisible. NULs are removed.
    """
    rest = text.replace(b"\0", b"")
    bodies = []
    while len(rest) > LONGEST_TEXT:
        cut = LONGEST_TEXT
        # Bytes 10xxxxxx continue a letter of UTF-8.
        while rest[cut] & 0xC0 == 0x80:
            cut -= 1
        piece, rest = rest[:cut], rest[cut:]
        at = piece.rfind(b"\n")
        at = len(piece) if at < 0 else at
        bodies.append(piece[:at] + b" " * (LONGEST_TEXT - cut) + piece[at:])
    return [*bodies, rest]


LARGEST = 1 << 16
"""Maximum size of a server's packet; some servers exceed the specified 4096 bytes."""


@dataclass(frozen=True, slots=True)
class LoginAnswered:
    """The server has answered the login."""

    ok: bool


@dataclass(frozen=True, slots=True)
class Answered:
    """A command's whole answer."""

    line: str
    text: str


class RconClient:
    """The client's side of one connection."""

    def __init__(self) -> None:
        self._reader = PacketReader(LARGEST)
        self._ids = count(1)
        self._pending: deque[tuple[int, int, str]] = deque()
        """Unanswered commands: id, id of the packet after it, line."""
        self._bodies: list[bytes] = []

    def log_in(self, password: str) -> bytes:
        """Return the login request. Raises `CommandError` if the password contains a NUL."""
        return self._packet(next(self._ids), PacketType.AUTH, password, "a password")

    def command(self, line: str) -> bytes:
        """Return the request for a line. Raises `CommandError` as `log_in` does."""
        # Two ids: the answer to the second packet marks the end of the first one's answer.
        number, behind = next(self._ids), next(self._ids)
        data = self._packet(number, PacketType.EXECCOMMAND, line, "a command")
        self._pending.append((number, behind, line))
        return data + RconPacket(behind, PacketType.RESPONSE_VALUE).encode()

    def receive_data(self, data: bytes) -> list[LoginAnswered | Answered]:
        """Handle bytes from the server; return completed answers. Raises `PeerError`."""
        events: list[LoginAnswered | Answered] = []
        for packet in self._reader.receive(data):
            if packet.type == PacketType.AUTH_RESPONSE:
                events.append(LoginAnswered(packet.id != FAILED_ID))
            elif self._pending:
                # Packets before the first command, such as the junk packet of a login, belong to
                # nothing.
                number, behind, _ = self._pending[0]
                if packet.id == number:
                    self._bodies.append(packet.body)
                elif packet.id == behind:
                    events.append(self.take_unfinished())
        return events

    @property
    def has_unfinished(self) -> bool:
        """Whether some of the oldest command's answer is here."""
        return bool(self._bodies)

    def take_unfinished(self) -> Answered:
        """Return what is here of the oldest command's answer as all of it.

        For servers that say nothing to the packet behind a command; one has to be pending.
        """
        _, _, line = self._pending.popleft()
        text = b"".join(self._bodies).decode("utf-8", "replace")
        self._bodies.clear()
        return Answered(line, text)

    def _packet(self, number: int, kind: PacketType, text: str, what: str) -> bytes:
        body = text.encode("utf-8", "surrogateescape")
        if b"\0" in body:
            raise CommandError(f"{what} cannot hold a NUL character")
        return RconPacket(number, kind, body).encode()


@dataclass(frozen=True, slots=True)
class UserCame:
    """A user has logged in."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class WrongPassword:
    """A password was wrong."""

    address: str


RconEvent = UserCame | WrongPassword


@dataclass(frozen=True, slots=True)
class RconUser:
    """One user; `rank` is on the scale of `admin_status`."""

    name: str
    rank: int
    password: bytes


class RconUsers:
    """All users. Without users nobody can log in."""

    def __init__(self, users: Iterable[RconUser]) -> None:
        self._users = tuple(users)

    def __len__(self) -> int:
        return len(self._users)

    def __iter__(self) -> Iterator[RconUser]:
        return iter(self._users)

    def find(self, password: bytes) -> RconUser | None:
        """Return the user of a password, or None.

        The time is the same for right and wrong passwords.
        """
        found = None
        # No early end: the time must not show which user it is.
        for user in self._users:
            if compare_digest(user.password, password):
                found = user
        return found


ROLES: Final = tuple(name for name, rank in RANKS.items() if rank)
"""The ranks that RCON users can have."""


def read_users(text: str) -> list[RconUser]:
    """Read a users' file: on each line a name, a role and a password; ``#`` begins a comment.

    Raises `ValueError` that names the line and the correct form.
    """
    users: dict[str, RconUser] = {}
    passwords: set[str] = set()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        words = line.split(maxsplit=2)
        if len(words) != 3:
            raise ValueError(f"line {number}: must be a name, a role and a password")
        name, role, password = words[0], words[1], words[2].strip()
        rank = RANKS.get(role) or FORMER_NAMES.get(role)
        if not rank:
            raise ValueError(f"line {number}: {role!r} is none of {', '.join(ROLES)}")
        if name in users:
            raise ValueError(f"line {number}: {name!r} is there twice")
        # The password alone finds the user, so two users cannot share one.
        if password in passwords:
            raise ValueError(f"line {number}: another user has this password")
        passwords.add(password)
        users[name] = RconUser(name, rank, password.encode())
    return list(users.values())


ORIGIN: Final = "rcon"
TRAILER: Final = b"\0\1\0\0"
"""Body of the packet after a mirrored one. The NUL inside it is part of Source's format."""
MINECRAFT_UNKNOWN: Final = b"Unknown request 0"
JUNK_AHEAD: Final = 0.04
"""Seconds between the junk packet and the AUTH_RESPONSE.

Clients that expect the junk packet read the two separately: in one segment they lose the second.
"""
UNTIL_LOGIN: Final = 512
"""Largest `size` of a packet before the login. A longer one could hold memory without a password.
"""


class RconDialect(StrEnum):
    """The answers to a RESPONSE_VALUE: for most tools, as Valve's servers, or as Minecraft."""

    SOURCE = "source"
    SRCDS = "srcds"
    MINECRAFT = "minecraft"


@dataclass(frozen=True, slots=True)
class RconRules:
    """The settings of a session; times in seconds."""

    auth_junk_packet: bool = False
    """Send an empty RESPONSE_VALUE before a positive AUTH_RESPONSE, as Source servers do."""
    dialect: RconDialect = RconDialect.SOURCE
    largest_request: int = 4110
    login_timeout: float = 10.0
    frame_timeout: float = 30.0
    idle_timeout: float = 1800.0
    wrong_passwords: int = 3
    """Wrong passwords after which the session closes its connection."""
    early_packets: int = 16
    """Packets that are answered before a login; one more closes the connection."""


class RconSession(CommandSession[RconPacket]):
    """One connection. Its events are those of `emu.admin.ports`."""

    def __init__(
        self,
        rules: RconRules,
        users: RconUsers,
        failures: Failures,
        address: str,
        now: Monotonic,
    ) -> None:
        """`failures` is shared by all sessions; `address` is the peer's."""
        super().__init__()
        self._rules = rules
        self._users = users
        self._failures = failures
        self._address = address
        # Larger packets are allowed only after the login.
        self._reader = PacketReader(min(UNTIL_LOGIN, rules.largest_request))
        self._user: RconUser | None = None
        self._wrong = 0
        self._early = 0
        self._held: RconPacket | None = None
        """An AUTH_RESPONSE that is sent at `_held_until`."""
        self._held_until = now
        self._last_command: int | None = None
        self._silent_at = Monotonic(now + rules.login_timeout)
        self._frame_by: Monotonic | None = None

    def receive_data(self, data: bytes, now: Monotonic) -> None:
        """Handle bytes from the peer."""
        if self.closed:
            return
        # The time for a packet starts with its first byte and is not extended by more bytes.
        before = self._frame_by
        try:
            for packet in self._reader.receive(data):
                before = None
                self._waiting.append(packet)
                self._work(now)
                # Packets behind the one that closed the session must have no effect.
                if self.closed:
                    return
        except PeerError as error:
            self.close(error.reason, now)
            return
        if not self._reader.unfinished:
            self._frame_by = None
        elif before is None:
            self._frame_by = Monotonic(now + self._rules.frame_timeout)

    def get_timer(self) -> Monotonic | None:
        """Return the time at which `handle_timer` must be called, or None."""
        if self.closed:
            return None
        # While an answer is held back, no other deadline counts.
        if self._held is not None:
            return self._held_until
        # A command may take longer than the idle time.
        deadlines = [] if self._running is not None else [self._silent_at]
        if self._frame_by is not None:
            deadlines.append(self._frame_by)
        return min(deadlines, default=None)

    def handle_timer(self, now: Monotonic) -> None:
        """Send what is due, or close an idle connection."""
        if self.closed:
            return
        if self._held is not None:
            if now >= self._held_until:
                self._release(self._held, now)
        elif self._frame_by is not None and now >= self._frame_by:
            self.close("packet not finished in time", now)
        elif self._running is None and now >= self._silent_at:
            self.close("not logged in in time" if self._user is None else "idle", now)

    def _answer(self, asked: RconPacket, reply: Reply, now: Monotonic) -> None:
        self._say(asked.id, reply.text)
        self._quiet_from(now)

    def _work(self, now: Monotonic) -> None:
        while self._waiting and self._running is None and self._held is None and not self.closed:
            packet = self._waiting.popleft()
            if packet.type == PacketType.AUTH:
                self._log_in(packet, now)
            elif self._user is None:
                # Bounded, because each answer before the login costs the peer nothing.
                self._early += 1
                if self._early > self._rules.early_packets:
                    self.close("not logged in", now)
                    return
                self._send(RconPacket(FAILED_ID, PacketType.AUTH_RESPONSE))
            else:
                self._quiet_from(now)
                self._serve(packet, self._user)

    def _serve(self, packet: RconPacket, user: RconUser) -> None:
        """Handle a packet of a user."""
        if packet.type == PacketType.EXECCOMMAND:
            self._last_command = packet.id
            line = one_line(packet.body.decode("utf-8", "replace"))
            if line:
                self._running = packet
                caller = Caller(user.name, user.rank, f"{ORIGIN} {self._address}")
                self._events.append(CommandGiven(caller, line))
            else:
                self._send(RconPacket(packet.id, PacketType.RESPONSE_VALUE))
        elif packet.type == PacketType.RESPONSE_VALUE:
            self._end_of_answer(packet)
        else:
            self._say(packet.id, f"Unknown request {packet.type & 0xFFFFFFFF:x}")

    def _end_of_answer(self, packet: RconPacket) -> None:
        if self._rules.dialect is RconDialect.MINECRAFT:
            self._send(RconPacket(packet.id, PacketType.RESPONSE_VALUE, MINECRAFT_UNKNOWN))
            return
        self._send(RconPacket(packet.id, PacketType.RESPONSE_VALUE))
        if packet.id == self._last_command or self._rules.dialect is RconDialect.SRCDS:
            self._send(RconPacket(packet.id, PacketType.RESPONSE_VALUE, TRAILER))

    def _log_in(self, packet: RconPacket, now: Monotonic) -> None:
        may_try = self._failures.may_try(self._address, now)
        # An address that may not try gets the answer of a wrong password, without a comparison.
        user = self._users.find(packet.body) if may_try else None
        if user is None:
            # A wrong password ends an earlier login of the same connection.
            self._user = None
            self._wrong += 1
            self._reader.largest = min(UNTIL_LOGIN, self._rules.largest_request)
            self._events.append(LoginFailed())
            delay = self._failures.failed(self._address, now)
            # The answer waits, and so do all packets behind it: that slows guessing down.
            self._hold(RconPacket(FAILED_ID, PacketType.AUTH_RESPONSE), delay, now)
            return
        self._user = user
        self._reader.largest = self._rules.largest_request
        self._failures.succeeded(self._address)
        self._events.append(UserAuthenticated(user.name))
        self._quiet_from(now)
        response = RconPacket(packet.id, PacketType.AUTH_RESPONSE)
        if self._rules.auth_junk_packet:
            self._send(RconPacket(packet.id, PacketType.RESPONSE_VALUE))
            self._hold(response, JUNK_AHEAD, now)
        else:
            self._send(response)

    def _hold(self, packet: RconPacket, delay: float, now: Monotonic) -> None:
        """Send a packet later; handle no other until then."""
        self._held = packet
        self._held_until = Monotonic(now + delay)

    def _release(self, packet: RconPacket, now: Monotonic) -> None:
        self._held = None
        self._send(packet)
        # Only after the answer was sent, so that the client knows why.
        if self._user is None and self._wrong >= self._rules.wrong_passwords:
            self.close("too many wrong passwords", now)
            return
        self._quiet_from(now)
        self._work(now)

    def _quiet_from(self, now: Monotonic) -> None:
        """Restart the idle timer."""
        patience = self._rules.login_timeout if self._user is None else self._rules.idle_timeout
        self._silent_at = Monotonic(now + patience)

    def _say(self, number: int, text: str) -> None:
        bodies = divide(text.encode("utf-8", "replace"))
        packets = [RconPacket(number, PacketType.RESPONSE_VALUE, body) for body in bodies]
        self._output.append(b"".join(packet.encode() for packet in packets))

    def _send(self, packet: RconPacket) -> None:
        self._output.append(packet.encode())
