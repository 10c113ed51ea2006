"""Many players of one login server in one thread, as cheap as honest clients can be.

Each player has a socket and a session that behaves as a real client's. The answers of the server
are not decoded, only recognized by opcode, so the server has a core to itself, and the wall clock
measures mostly the server. Each player has its own loopback address, since the server limits what
one address may have.
"""

from __future__ import annotations

import resource
import select
import socket
import time
from collections.abc import Callable, Iterable, Sequence

from emu.client.messages import shipped_messages
from emu.net.scheduler import Timer, TimerHeap
from emu.opcodes import shipped_tables
from emu.session import (
    Event,
    KeyEstablished,
    Message,
    Session,
    SessionClosed,
    SessionConfig,
)
from emu.times import Monotonic

VERSION = 546
PASSWORD = "a password of the usual length"

_TABLE = shipped_tables().for_version(VERSION)
_LOGIN_REPLY = _TABLE.number("OP_LoginReplyMsg")
_CHARACTERS = _TABLE.number("OP_AllCharactersDescReplyMsg")
_MESSAGES = shipped_messages(VERSION)
PLAIN_MESSAGE = (_TABLE.number("OP_KeymapLoadMsg"), b"")
"""A message that the server takes note of and does not answer."""
_CONFIG = SessionConfig()


def account_name(number: int) -> str:
    """Return the account of one player."""
    return f"player{number:05}"


class Player:
    """One player: connects, logs in, gets worlds and characters, stays."""

    __slots__ = ("began", "ended", "seconds", "session", "socket", "timer", "trouble", "user")

    def __init__(self, number: int, port: int) -> None:
        self.user = account_name(number)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((f"127.1.{number >> 8}.{number & 255}", 0))
        self.socket.connect(("127.0.0.1", port))
        self.socket.setblocking(False)
        self.session = Session.client(_CONFIG)
        self.timer: Timer[Player] = Timer(self)
        self.began = 0.0
        self.seconds: float | None = None
        """From the first datagram to the character list."""
        self.trouble = ""
        """Why there will be no character list."""
        self.ended = False

    @property
    def is_done(self) -> bool:
        """Whether the login came to its end, good or bad."""
        return self.seconds is not None or bool(self.trouble)

    def take(self, event: Event, now: Monotonic) -> None:
        """Do what a client does at one event."""
        kind = type(event)
        if kind is KeyEstablished:
            self.session.send(*_MESSAGES.login(self.user, PASSWORD))
        elif kind is Message:
            self._message(event, now)  # type: ignore[arg-type]
        elif kind is SessionClosed:
            self.ended = True
            self.trouble = self.trouble or str(event.reason)  # type: ignore[union-attr]

    def _message(self, event: Message, now: Monotonic) -> None:
        if event.opcode == _CHARACTERS:
            self.seconds = now - self.began
        elif event.opcode == _LOGIN_REPLY and event.payload[0] == 0:
            self.session.send(*_MESSAGES.alert_log())
            self.session.send(*_MESSAGES.worlds())
        elif event.opcode == _LOGIN_REPLY and event.payload[0] == 1:
            self.trouble = "denied"


class LoginPlayers:
    """Drives any number of players; the clock is the system's monotonic one."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._players: dict[int, Player] = {}
        self._poll = select.epoll()
        self._timers: TimerHeap[Player] = TimerHeap()
        _allow_many_files()

    @property
    def players(self) -> Sequence[Player]:
        """Everybody there is."""
        return list(self._players.values())

    def add(self, numbers: Iterable[int]) -> list[Player]:
        """Make players that have not begun."""
        made = [Player(number, self._port) for number in numbers]
        for player in made:
            self._players[player.socket.fileno()] = player
            self._poll.register(player.socket.fileno(), select.EPOLLIN)
        return made

    def begin(self, players: Iterable[Player]) -> None:
        """Let players send their first datagram, one right behind the other."""
        for player in players:
            now = player.began = Monotonic(time.monotonic())
            player.session.connect(now)
            self._serve(player, now)

    def run(self, until: Callable[[], bool], patience: float) -> None:
        """Serve everybody until something is so, or patience is at an end."""
        deadline = time.monotonic() + patience
        while not until():
            now = Monotonic(time.monotonic())
            if now >= deadline:
                return
            wake = min(deadline, self._timers.next() or deadline)
            for number, _ in self._poll.poll(max(0.0, wake - now), 256):
                self._read(self._players[number])
            now = Monotonic(time.monotonic())
            for player in list(self._timers.due(now)):
                player.session.handle_timer(now)
                self._serve(player, now)

    def log_in(self, players: Sequence[Player], patience: float = 60.0) -> None:
        """Let all of them log in at once, and wait for the last."""
        self.begin(players)
        left = list(players)

        def all_done() -> bool:
            while left and left[-1].is_done:
                left.pop()
            return not left

        self.run(all_done, patience)

    def say(self, players: Iterable[Player], opcode: int, payload: bytes) -> None:
        """Let players send one message."""
        now = Monotonic(time.monotonic())
        for player in players:
            player.session.send(opcode, payload)
            self._serve(player, now)

    def settle(self) -> None:
        """Wait until what was said is acknowledged."""
        self.run(lambda: False, 0.3)

    def leave(self, patience: float = 5.0) -> None:
        """End all sessions in order and close the sockets."""
        now = Monotonic(time.monotonic())
        for player in self.players:
            player.session.close()
            self._serve(player, now)
        self.run(lambda: all(player.ended for player in self._players.values()), patience)
        for player in self.players:
            self._poll.unregister(player.socket.fileno())
            del self._players[player.socket.fileno()]
            player.socket.close()
            self._timers.arm(player.timer, None)

    def _read(self, player: Player) -> None:
        now = Monotonic(time.monotonic())
        while True:
            try:
                data = player.socket.recv(2048)
            except BlockingIOError:
                break
            except OSError as error:
                player.trouble = player.trouble or str(error)
                break
            player.session.receive_datagram(data, now)
        self._serve(player, now)

    def _serve(self, player: Player, now: Monotonic) -> None:
        session = player.session
        while (event := session.next_event()) is not None:
            player.take(event, now)
        for data in session.datagrams_to_send(now):
            player.socket.send(data)
        self._timers.arm(player.timer, session.get_timer())


def _allow_many_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
