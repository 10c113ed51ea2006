"""Hands datagrams to sessions, their events to handlers, and what comes of it to an outbox.

Owns the order of work: datagrams of one wake-up are all taken in first, then each session that was
touched is served once, so that one datagram answers many and nothing waits for a clock. One
session's trouble stays its own. What a datagram means is the business of `emu.session`; what a
message means, of the handler that `make_handler` returns for each session. Knows no socket (that is
the shell's) and no reactor. Compiled along with the sessions where that is built.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Protocol, cast

from emu.net.timers import Timed, Timer
from emu.net.udp.datagrams import HostPort, Outbox
from emu.session import Endpoint, Event, KeyEstablished, Message, Session, SessionEstablished
from emu.times import Clock, Moment, Monotonic


class Handler(Protocol):
    """What a service does with one session."""

    def handle_event(self, event: Event, now: Monotonic) -> None:
        """Take one event of the session; `SessionClosed` is the last."""

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` wants to be called, or None."""

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due."""

    def held_bytes(self) -> int:
        """Return how many bytes of messages wait for their turn."""


class Tracer(Protocol):
    """Sees every datagram and key of a port; see `emu.net.trace`."""

    def datagram(
        self, moment: Moment, source: HostPort, destination: HostPort, data: bytes
    ) -> None:
        """One datagram, as it is on the wire."""

    def key(self, session_id: int, check_key: int, rc4_key: bytes) -> None:
        """A session's keys became known."""


class PlannedCall(Protocol):
    """Something that is to be called."""

    def cancel(self) -> None:
        """Have it not be called."""


class Agenda(Clock, Protocol):
    """What a dispatcher wants of the `Scheduler`: both times, deadlines, and a next turn."""

    def arm(self, timer: Timer[Timed], deadline: Monotonic | None) -> None:
        """Set when a timer's owner gets `handle_timer`; None is never."""

    def drop(self, timer: Timer[Timed]) -> None:
        """Disarm a timer for good."""

    def soon(self, function: Callable[[], object]) -> PlannedCall:
        """Call once what is being done now is done."""


class Log(Protocol):
    """Where mistakes of ours are told."""

    def failure(self, format: str) -> None:  # noqa: A002  # as Twisted's loggers call it
        """Tell of the exception that is being handled."""


class SessionPort:
    """One session as its handler sees it: the session, its address, and a way to be served.

    `handler` is None until the peer's address is validated, so that strangers cost little. `weight`
    is how many bytes were held when that was looked at last.
    """

    __slots__ = ("_dispatcher", "address", "handler", "session", "timer", "touched", "weight")

    def __init__(self, dispatcher: Dispatcher, session: Session, address: HostPort) -> None:
        self._dispatcher = dispatcher
        self.session = session
        self.address = address
        self.touched = False
        self.weight = 0
        self.timer: Timer[Timed] = Timer(self)
        self.handler: Handler | None = None

    def room(self) -> int:
        """Return how many bytes may usefully be queued in the session now."""
        return self.session.room(self._dispatcher.now())

    def touch(self) -> None:
        """Have the session served in this turn of the reactor: something was queued or changed."""
        if not self.touched:
            self._dispatcher.touch(self)

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due for the session or its handler; called by the scheduler."""
        self._dispatcher.handle_timers(self, now)


class Dispatcher:
    """Serves the sessions of one `Endpoint`.

    `own` is the address that a trace shows for this side, `tracer` sees every datagram and key once
    somebody sets it.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        agenda: Agenda,
        make_handler: Callable[[SessionPort, Monotonic], Handler],
        log: Log,
    ) -> None:
        self.endpoint = endpoint
        self.now: Callable[[], Monotonic] = agenda.now
        self.own: HostPort = ("0.0.0.0", 0)  # noqa: S104  # until the port is bound
        self.outbox = Outbox(None, _nowhere)
        self.tracer: Tracer | None = None
        self._agenda = agenda
        self._make_handler = make_handler
        self._log = log
        self._ports: dict[Session, SessionPort] = {}
        self._touched: list[SessionPort] = []
        self._serving: PlannedCall | None = None
        self._abandoned = False

    @property
    def session_count(self) -> int:
        """How many sessions there are, in whatever state."""
        return len(self._ports)

    # -- in ---------------------------------------------------------------------------------------

    def take(self, datagrams: Iterable[tuple[bytes, HostPort]]) -> None:
        """Take in what has come, each with its address; `serve_touched` does what it asks for.

        A mistake of ours with one datagram is logged: it must not cost the others their turn.
        """
        if self._abandoned:
            return
        now = self.now()
        endpoint = self.endpoint
        tracer = self.tracer
        for datagram, address in datagrams:
            if tracer is not None:
                tracer.datagram(self._agenda.moment(), address, self.own, datagram)
            try:
                session = endpoint.receive_datagram(datagram, address, now)
            except Exception:  # noqa: BLE001  # whatever it is
                self._log.failure("taking a datagram failed")
                continue
            if session is None:
                for data, to in endpoint.datagrams_to_send():
                    self._write(data, cast("HostPort", to))
                continue
            port = self._ports.get(session)
            if port is None:
                port = self._ports[session] = SessionPort(self, session, address)
            if not port.touched:
                port.touched = True
                self._touched.append(port)

    def touch(self, port: SessionPort) -> None:
        """Serve a session in this turn of the reactor that is not to be served already."""
        port.touched = True
        self._touched.append(port)
        self.serve_soon()

    def serve_soon(self) -> None:
        """Have what was touched served before the reactor sleeps again."""
        if not self._touched:
            self.outbox.flush()
        elif self._serving is None and not self._abandoned:
            self._serving = self._agenda.soon(self._serve_later)

    def _serve_later(self) -> None:
        self._serving = None
        self.serve_touched()

    # -- out --------------------------------------------------------------------------------------

    def serve_touched(self) -> None:
        """Serve every session that was touched, and send what is to leave."""
        if self._touched:
            now = self.now()
            touched, self._touched = self._touched, []
            for port in touched:
                try:
                    self._serve(port, now)
                except Exception:  # noqa: BLE001  # it would close the port for everybody
                    self._give_up(port, now)
            if self.endpoint.ended:
                self._touch_ended()
        self.outbox.flush()

    def handle_timers(self, port: SessionPort, now: Monotonic) -> None:
        """Do what is due for one session, and serve it."""
        try:
            self._handle_timers(port, now)
            self._serve(port, now)
        except Exception:  # noqa: BLE001  # one session's trouble must stay its own
            self._give_up(port, now)
        if self.endpoint.ended:
            self._touch_ended()
        self.outbox.flush()

    def _handle_timers(self, port: SessionPort, now: Monotonic) -> None:
        deadline = port.session.get_timer()
        if deadline is not None and deadline <= now:
            port.session.handle_timer(now)
        if port.handler is not None:
            deadline = port.handler.get_timer()
            if deadline is not None and deadline <= now:
                port.handler.handle_timer(now)

    def _serve(self, port: SessionPort, now: Monotonic) -> None:
        """Hand out events, send what is ready, rearm the timer."""
        session = port.session
        port.touched = True  # what its own handler says to all this leaves below
        while (event := session.next_event()) is not None:
            if type(event) is not Message:
                self._note(event, port, now)
            if port.handler is not None:
                self._hand_out(event, port, now)
        port.touched = False
        ack = session.take_ack(now)
        if ack is not None:
            if self.tracer is None:
                self.outbox.put(ack, port.address)
            else:
                self._write(ack, port.address)
            if not self._is_settled(port):
                self._settle(port)
            return
        for data in session.datagrams_to_send(now):
            self._write(data, port.address)
        if session.ended:
            self._forget(port)
        else:
            self._settle(port)

    def _note(self, event: Event, port: SessionPort, now: Monotonic) -> None:
        """Do what an event asks of the shell itself."""
        session = port.session
        if type(event) is SessionEstablished:
            port.handler = self._make_handler(port, now)
        elif type(event) is KeyEstablished and self.tracer is not None:
            self.tracer.key(session.session_id, session.check_key, event.key)

    def _is_settled(self, port: SessionPort) -> bool:
        """Whether `_settle` would change nothing, when a session had but an Ack to say.

        The session holds nothing then, and may be woken when it was to be woken before: to look
        once too early costs less than to move the timer with every datagram.
        """
        handler = port.handler
        armed = port.timer.deadline
        if handler is None or armed == math.inf or handler.held_bytes() != port.weight:
            return False
        deadline = handler.get_timer()
        return deadline is None or deadline >= armed

    def _settle(self, port: SessionPort) -> None:
        """Take note of what a session and its handler hold, and of when they want to be woken."""
        session = port.session
        handler = port.handler
        deadline = session.get_timer()
        if handler is None:
            port.weight = self.endpoint.weigh(session)
        else:
            port.weight = self.endpoint.weigh(session, handler.held_bytes())
            theirs = handler.get_timer()
            if deadline is None or (theirs is not None and theirs < deadline):
                deadline = theirs
        self._agenda.arm(port.timer, deadline)

    def _hand_out(self, event: Event, port: SessionPort, now: Monotonic) -> None:
        assert port.handler is not None  # noqa: S101
        try:
            port.handler.handle_event(event, now)
        except Exception:  # noqa: BLE001  # one session's trouble must stay its own
            self._log.failure("a handler failed; its session is closed")
            port.session.close()

    def _write(self, data: bytes, address: HostPort) -> None:
        if self.tracer is not None:
            self.tracer.datagram(self._agenda.moment(), self.own, address, data)
        self.outbox.put(data, address)

    # -- ending -----------------------------------------------------------------------------------

    def close(self, now: Monotonic) -> None:
        """Begin an orderly close of every session; `session_count` tells when all are over."""
        for port in list(self._ports.values()):
            port.session.close()
            self._serve(port, now)
        self.outbox.flush()

    def abandon(self) -> None:
        """Stop all timers, for good; what is still queued or comes in now is let be."""
        self._abandoned = True
        if self._serving is not None:
            self._serving.cancel()
            self._serving = None
        for port in self._ports.values():
            self._agenda.drop(port.timer)
        self._ports.clear()

    def _touch_ended(self) -> None:
        """Have the sessions served, for the last time, that the endpoint has ended."""
        while (ended := self.endpoint.next_ended()) is not None:
            if ended in self._ports:
                self._ports[ended].touch()

    def _forget(self, port: SessionPort) -> None:
        """Let go of a session. Nothing may hold it in a circle: floods outrun the collector."""
        self._ports.pop(port.session, None)
        self._agenda.drop(port.timer)
        port.handler = None
        self.endpoint.forget(port.session)

    def _give_up(self, port: SessionPort, now: Monotonic) -> None:
        """End a session that cannot be served because of a mistake of ours."""
        self._log.failure("serving a session failed; it is over")
        port.session.replace("a fault of the server")
        while port.handler is not None and (event := port.session.next_event()) is not None:
            self._hand_out(event, port, now)
        self._forget(port)


def _nowhere(_data: bytes, _address: HostPort) -> None:
    """Send nothing: the port is not open yet."""
