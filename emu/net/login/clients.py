"""Joins the login service's clients to UDP sessions: events one way, messages the other.

Owns nothing but the wiring. Order and meaning of messages are `emu.login`'s; this module's one
rule is that whatever a coroutine of the service raises ends that one session and is logged.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from twisted.logger import Logger, LogLevel
from twisted.python.failure import Failure

from emu.config import Address
from emu.login.client import Client
from emu.login.events import LoginEvent, event_values, format_event
from emu.login.server import LoginServer
from emu.net.logs import is_written, write_line
from emu.net.refusals import RefusalLog
from emu.net.udp.dispatcher import SessionPort
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
    """One session of the login port; also the `ClientLink` its client sends through."""

    __slots__ = ("_log", "_port", "client")

    def __init__(self, port: SessionPort, server: LoginServer, log: Logger, now: Monotonic) -> None:
        self._port = port
        self._log = log
        self.client: Client = server.connect(self, port.address[0], now)

    # what the dispatcher calls

    def handle_event(self, event: Event, now: Monotonic) -> None:
        """Take one event of the session."""
        kind = type(event)
        if kind is Message:
            self.client.message(event.opcode, event.payload, now)  # type: ignore[union-attr]
        elif kind is SessionClosed:
            self.client.closed(event.reason)  # type: ignore[union-attr]
            del self.client  # it holds us, too: a flood would outrun the collector
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
        return self.client.held_bytes

    # what the client calls (ClientLink)

    def send(self, opcode: int, payload: bytes) -> None:
        """Send one application message in this turn of the reactor."""
        self._port.session.send(opcode, payload)
        self._port.touch()

    def trust(self) -> None:
        """Lift the limits of a stranger."""
        self._port.session.trust()

    def close(self, reason: str) -> None:  # noqa: ARG002  # the service has logged it
        """Close the session after what was sent has left."""
        self._port.session.close()
        self._port.touch()

    def wake(self) -> None:
        """Have the timer asked for again."""
        self._port.touch()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine of the client; the session ends with what it raises."""
        run(work, self._failed)

    def _peer(self) -> Address:
        host, port = self._port.address[:2]
        return Address(host, port)

    def _failed(self, failure: Failure) -> None:
        self._log.failure("serving a client failed; its session is closed", failure)
        self._port.session.close()
        self._port.touch()


def run(work: Coroutine[Any, Any, Any], failed: Callable[[Failure], Any]) -> None:
    """Run a coroutine of a service to its end; `failed` gets what it raises.

    What they await in the end are Deferreds, and those alone are made: Twisted's own way would
    make two more for each of them.
    """
    _step(work, failed, work.send, None)


def _step(
    work: Coroutine[Any, Any, Any],
    failed: Callable[[Failure], Any],
    advance: Callable[[Any], Any],
    value: object,
) -> None:
    """Advance a coroutine up to the next Deferred that has not fired."""
    try:
        waiting = advance(value)
    except StopIteration:
        return
    except Exception:  # noqa: BLE001  # whatever it is, it must not leave the shell
        failed(Failure())  # type: ignore[no-untyped-call]
        return
    waiting.addBoth(_go_on, work, failed)


def _go_on(
    result: object, work: Coroutine[Any, Any, Any], failed: Callable[[Failure], Any]
) -> None:
    """Go on with a coroutine whose Deferred has fired."""
    if isinstance(result, Failure):
        _step(work, failed, work.throw, result.value)
    else:
        _step(work, failed, work.send, None)  # the Deferred itself hands its result over


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
