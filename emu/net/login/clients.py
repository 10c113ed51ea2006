"""Joins the login service's clients to UDP sessions: events one way, messages the other.

Owns nothing but the wiring. Order and meaning of messages are `emu.login`'s; this module's one
rule is that whatever a coroutine of the service raises ends that one session and is logged.
"""

from __future__ import annotations

from collections.abc import Callable

from twisted.logger import Logger, LogLevel

from emu.config import Address
from emu.login.client import Client
from emu.login.events import LoginEvent, event_values, format_event
from emu.login.server import LoginServer
from emu.net.logs import is_written, write_line
from emu.net.refusals import RefusalLog
from emu.net.udp.dispatcher import SessionPort
from emu.net.udp.session_link import SessionLink
from emu.session import (
    DatagramDropped,
    Event,
    KeyEstablished,
    Message,
    SessionClosed,
    SessionEstablished,
)
from emu.times import Monotonic


class LoginHandler:
    """One session of the login port, as the dispatcher knows it."""

    __slots__ = ("_log", "_port", "client")

    def __init__(self, port: SessionPort, server: LoginServer, log: Logger, now: Monotonic) -> None:
        self._port = port
        self._log = log
        link = SessionLink(port, log, "serving a client failed; its session is closed")
        self.client: Client = server.connect(link, port.address[0], now)

    def handle_event(self, event: Event, now: Monotonic) -> None:
        """Take one event of the session."""
        kind = type(event)
        if kind is Message:
            self.client.message(event.opcode, event.payload, now)  # type: ignore[union-attr]
        elif kind is SessionClosed:
            self.client.closed(event.reason)  # type: ignore[union-attr]
            del self.client  # its link holds us: a flood would outrun the collector
        elif not is_written(LogLevel.debug):
            return
        elif kind is DatagramDropped:
            reason = event.reason  # type: ignore[union-attr]
            self._log.debug(
                "datagram of {address} dropped: {reason}", address=self._peer(), reason=reason
            )
        elif kind is SessionEstablished or kind is KeyEstablished:
            self._log.debug("{event} with {address}", event=kind.__name__, address=self._peer())

    def get_timer(self) -> Monotonic | None:
        """Return when the client wants its timer handled."""
        return self.client.get_timer()

    def handle_timer(self, now: Monotonic) -> None:
        """Let the client do what is due."""
        self.client.handle_timer(now)

    def held_bytes(self) -> int:
        """Return how many bytes of messages wait for their turn."""
        return self.client.mailbox.held_bytes

    def _peer(self) -> Address:
        host, port = self._port.address[:2]
        return Address(host, port)


def log_event(log: Logger, refusals: RefusalLog) -> Callable[[LoginEvent], None]:
    """Return the service's `log` port: one line an event, its fields along for JSON.

    Those that strangers can repeat at will are left to `refusals` from the second on.
    """
    levels = {name: LogLevel.levelWithName(name) for name in ("debug", "info", "warn")}

    def write(event: LoginEvent) -> None:
        level = levels[event.level]
        if not is_written(level):
            return
        values = event_values(event)
        if event.repeats:
            account, reason = (str(values.get(name, "")) for name in ("account", "reason"))
            if not refusals.is_news(event.repeats, account, event.address, reason or "refused"):
                return
        write_line(log, level, format_event(event, values), type(event).__name__, values)

    return write
