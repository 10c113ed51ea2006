"""Hands datagrams to sessions, their events to handlers, and what comes of it to an outbox.

Owns the order of work: datagrams of one wake-up are all taken in first, then each session that was
touched is served once, so that one datagram answers many and nothing waits for a clock. A session
with more messages than fit its slice goes on in the next turn of the reactor, behind the others.
One that has used up its share of the processor goes on when it has some again
(`emu.limits.turns`); its acknowledgments leave meanwhile. One session's trouble stays its own. What
a datagram means is the business of `emu.session`; what a message means, of the handler that
`make_handler` returns for each session. Knows no socket (that is the shell's) and no reactor.
Compiled along with the sessions where that is built.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Final, Protocol, cast

from emu.limits.turns import TurnRules
from emu.net.timers import Timed, Timer
from emu.net.udp.accounting import Accounting
from emu.net.udp.session_port import LATE, NEXT, Handler, SessionPort
from emu.net.udp.sockets import HostPort, Outbox
from emu.session import (
    Endpoint,
    Event,
    KeyEstablished,
    Message,
    Session,
    SessionClosed,
    SessionEstablished,
)
from emu.times import Clock, Moment, Monotonic

TURN_SLICES: Final = 2
"""Slices of work in one turn of the reactor; then the sockets are read again."""
MOST_TURNS_OF_REST: Final = 4
"""Turns in which touched sessions go before those that wait, when there are too many for one."""
ACCOUNTED: Final = 0.001
"""Seconds of work of a session that are charged at once: to charge each message costs more."""


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


class Dispatcher:
    """Serves the sessions of one `Endpoint`.

    `own` is the address that a trace shows for this side, `tracer` sees every datagram and key once
    somebody sets it. `accounting` says how much work each session may cause.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        agenda: Agenda,
        make_handler: Callable[[SessionPort, Monotonic], Handler],
        log: Log,
        *,
        accounting: Accounting | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.accounting = accounting or Accounting(TurnRules())
        self._clock = self.accounting.clock
        self._slice = self.accounting.rules.slice
        self._turn = TURN_SLICES * self._slice
        self.now: Callable[[], Monotonic] = agenda.now
        self.own: HostPort = ("0.0.0.0", 0)  # noqa: S104  # until the port is bound
        self.outbox = Outbox(None, _nowhere)
        self.tracer: Tracer | None = None
        self._agenda = agenda
        self._make_handler = make_handler
        self._log = log
        self._ports: dict[Session, SessionPort] = {}
        self._touched: list[SessionPort] = []
        self._waiting: list[SessionPort] = []
        self._rest: list[SessionPort] = []
        self._turns_of_rest = 0
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
        accounting = self.accounting
        unread = accounting.unread
        for datagram, address in datagrams:
            if unread and accounting.is_unread(address, now):
                continue
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
        if not self._touched and not self._rest and not self._waiting:
            self.outbox.flush()
        elif self._serving is None and not self._abandoned:
            self._serving = self._agenda.soon(self._serve_later)

    def _serve_later(self) -> None:
        self._serving = None
        if self._waiting and (not self._rest or self._turns_of_rest >= MOST_TURNS_OF_REST):
            self._turns_of_rest = 0
            self._serve_waiting()
        self.serve_touched()

    # -- out --------------------------------------------------------------------------------------

    def serve_touched(self) -> None:
        """Serve every session that was touched, and send what is to leave."""
        if self._touched or self._rest:
            now = self.now()
            touched, self._touched = self._touched, []
            if self._rest:  # behind those who have come since
                touched += self._rest
                self._rest = []
            clock = self._clock
            before = clock()
            end = before + self._turn
            for served, port in enumerate(touched, 1):
                try:
                    self._serve(port, now)
                except Exception:  # noqa: BLE001  # it would close the port for everybody
                    self._give_up(port, now)
                after = clock()
                port.spent += after - before
                before = after
                if port.spent >= ACCOUNTED:
                    self._charge(port, now)
                if after >= end and served < len(touched):
                    self._rest = touched[served:]
                    self._turns_of_rest += 1
                    break
            if self.endpoint.ended:
                self._touch_ended()
            if self._waiting or self._rest:
                self.serve_soon()
        self.outbox.flush()

    def _serve_waiting(self) -> None:
        """Go on with sessions that have more messages than they had time for, in turn."""
        now = self.now()
        before = self._clock()
        end = before + self._turn
        for _ in range(len(self._waiting)):
            port = self._waiting.pop(0)
            port.holds &= ~NEXT
            try:
                self._serve(port, now)
            except Exception:  # noqa: BLE001  # it would close the port for everybody
                self._give_up(port, now)
            after = self._clock()
            self._account(port, after - before, now)
            before = after
            if after >= end:
                break
        if self.endpoint.ended:
            self._touch_ended()
        if self._waiting:
            self.serve_soon()

    def read_clock(self) -> Monotonic:
        """Return the time."""
        return self.now()

    def charge_to(self, port: SessionPort, account: object) -> None:
        """Have the work for a session charged to an account, no longer to its address."""
        self.accounting.charge_to(port, account, self.now())

    def timed(self, port: SessionPort, work: Callable[[], object]) -> None:
        """Do something for a session outside of its turn, and charge the time to it."""
        begun = self._clock()
        try:
            work()
        finally:
            self._account(port, self._clock() - begun, self.now())

    def handle_timers(self, port: SessionPort, now: Monotonic) -> None:
        """Do what is due for one session, and serve it."""
        begun = self._clock()
        try:
            self._handle_timers(port, now)
            self._serve(port, now)
        except Exception:  # noqa: BLE001  # one session's trouble must stay its own
            self._give_up(port, now)
        self._account(port, self._clock() - begun, now)
        if self.endpoint.ended:
            self._touch_ended()
        if self._waiting:
            self.serve_soon()
        self.outbox.flush()

    def _handle_timers(self, port: SessionPort, now: Monotonic) -> None:
        deadline = port.session.get_timer()
        if deadline is not None and deadline <= now:
            port.session.handle_timer(now)
        if port.handler is not None:
            deadline = port.handler.get_timer()
            if deadline is not None and deadline <= now:
                port.handler.handle_timer(now)
        if port.resumes_at is not None and port.resumes_at <= now:
            port.resumes_at = None
            port.holds &= ~LATE

    def _serve(self, port: SessionPort, now: Monotonic) -> None:
        """Hand out events, send what is ready, rearm the timer."""
        session = port.session
        port.touched = True  # what its own handler says to all this leaves below
        events = port.events
        if events:
            if not port.holds:
                event = events.pop(0)
                if type(event) is not Message:
                    self._note(event, port, now)
                if port.handler is not None:
                    self._hand_out(event, port, now)
                if events:
                    self._deliver_more(port, now)
            elif session.ended:
                self._deliver_end(port, now)
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

    def _deliver_more(self, port: SessionPort, now: Monotonic) -> None:
        """Hand out the events behind the first one as long as the slice lasts."""
        session = port.session
        events = port.events
        clock = self._clock
        end = clock() + self._slice
        while not port.holds:
            event = session.next_event()
            if event is None:
                return
            if type(event) is not Message:
                self._note(event, port, now)
            if port.handler is not None:
                self._hand_out(event, port, now)
            if events and clock() >= end:
                port.holds |= NEXT
                self._waiting.append(port)
        session.refill()  # whoever goes on looks at the list of events
        if session.ended:
            self._deliver_end(port, now)

    def _deliver_end(self, port: SessionPort, now: Monotonic) -> None:
        """Tell the handler that the session is over; messages that still wait are let go of."""
        while (event := port.session.next_event()) is not None:
            if type(event) is not Message and port.handler is not None:
                self._hand_out(event, port, now)

    def _charge(self, port: SessionPort, now: Monotonic) -> None:
        """Charge the work for a session; one that has to wait for it is woken when it may go on."""
        if self.accounting.charge(port, now) and port.session in self._ports:
            self._settle(port)

    def _account(self, port: SessionPort, seconds: float, now: Monotonic) -> None:
        """Take note of work for a session, and charge it when that is worth the while."""
        port.spent += seconds
        if port.spent >= ACCOUNTED:
            self._charge(port, now)

    def _note(self, event: Event, port: SessionPort, now: Monotonic) -> None:
        """Do what an event asks of the shell itself."""
        session = port.session
        if type(event) is SessionEstablished:
            port.handler = self._make_handler(port, now)
            self.accounting.charge_to_address(port, now)
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
            port.weight = self.endpoint.note_memory(session)
        else:
            port.weight = self.endpoint.note_memory(session, handler.held_bytes())
            theirs = handler.get_timer()
            if deadline is None or (theirs is not None and theirs < deadline):
                deadline = theirs
        resumes_at = port.resumes_at
        if resumes_at is not None and (deadline is None or resumes_at < deadline):
            deadline = resumes_at
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
            try:
                port.session.close()
                self._serve(port, now)
            except Exception:  # noqa: BLE001  # the others are to be closed in order
                self._give_up(port, now)
        self.outbox.flush()

    def abandon(self) -> None:
        """Stop all timers, for good; what is still queued or comes in now is let be."""
        self._abandoned = True
        if self._serving is not None:
            self._serving.cancel()
            self._serving = None
        for port in self._ports.values():
            self._agenda.drop(port.timer)
        self._waiting.clear()
        self._rest.clear()
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
        if port.holds & NEXT:
            port.holds &= ~NEXT
            self._waiting.remove(port)
        if port.handler is not None:
            self.accounting.forget(port, self.now())
        port.handler = None
        self.endpoint.forget(port.session)

    def _give_up(self, port: SessionPort, now: Monotonic) -> None:
        """End a session that cannot be served because of a mistake of ours."""
        self._log.failure("serving a session failed; it is over")
        try:
            port.session.discard("a fault of the server")
            self._deliver_end(port, now)
        except Exception:  # noqa: BLE001  # the session is forgotten in every case
            self._log.failure("ending a session failed")
            if port.handler is not None:
                self._hand_out(SessionClosed("a fault of the server"), port, now)
        finally:
            self._forget(port)


def _nowhere(_data: bytes, _address: HostPort) -> None:
    """Send nothing: the port is not open yet."""
