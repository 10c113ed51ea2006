"""The server's side of one RCON connection, and the users that may log in. Sans-IO.

Packets are handled in order, one at a time: the next packet waits until a command is answered, or
until the delay after a wrong password is over. Clients find the end of a long answer by an empty
RESPONSE_VALUE that they send after their command. If it has an id of its own, it is mirrored. If it
has the command's id, it is mirrored and followed by a packet that marks the end (Source).

Source: docs/protocol/administration/rcon.md#decisions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from hmac import compare_digest
from typing import Final

from emu.admin.console import CommandSession
from emu.admin.ports import CommandGiven, LoginFailed, UserAuthenticated
from emu.admin.rcon.packets import FAILED_ID, PacketReader, PacketType, RconPacket, divide
from emu.commands import Caller, Reply
from emu.commands.registry import ROLES, one_line
from emu.errors import PeerError
from emu.limits.rates import Failures
from emu.times import Monotonic


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
        for user in self._users:
            if compare_digest(user.password, password):
                found = user
        return found


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
        if role not in ROLES:
            raise ValueError(f"line {number}: {role!r} is none of {', '.join(ROLES)}")
        if name in users:
            raise ValueError(f"line {number}: {name!r} is there twice")
        if password in passwords:
            raise ValueError(f"line {number}: another user has this password")
        passwords.add(password)
        users[name] = RconUser(name, ROLES[role], password.encode())
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
        before = self._frame_by
        try:
            for packet in self._reader.receive(data):
                before = None
                self._waiting.append(packet)
                self._work(now)
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
        if self._held is not None:
            return self._held_until
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
        user = self._users.find(packet.body) if may_try else None
        if user is None:
            self._user = None
            self._wrong += 1
            self._reader.largest = min(UNTIL_LOGIN, self._rules.largest_request)
            self._events.append(LoginFailed())
            delay = self._failures.failed(self._address, now)
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
