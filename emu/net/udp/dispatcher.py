"""Gives datagrams to sessions, their events to handlers, and the resulting datagrams to an outbox.

All datagrams of one read are received first; then each session that got one is served once. So one
datagram can answer many, and no timer delays an answer. Work is divided fairly: a session with more
messages than fit its slice continues in the next turn of the reactor, behind the others. A session
that has used up its share of the processor continues when it has some again (`emu.limits.rates`);
its acknowledgments leave meanwhile. A fault in one session does not affect the others.

The dispatcher knows neither sockets nor the reactor. Compiled along with the sessions where that is
built.
"""

from __future__ import annotations

import math
import socket
from collections.abc import Callable, Iterable
from typing import Any, Final, Protocol, cast

from twisted.logger import Logger
from twisted.python.failure import Failure

from emu.limits.addresses import socket_host
from emu.limits.rates import TurnRules
from emu.net.logs import current_failure, log_fault
from emu.net.scheduler import PlannedCall, Timed, Timer
from emu.net.udp.session_port import (
    ACCOUNTED,
    LATE,
    NEXT,
    Accounting,
    Handler,
    HostPort,
    Releases,
    SessionPort,
    nothing,
)
from emu.session import (
    CloseReason,
    Endpoint,
    Event,
    KeyEstablished,
    Message,
    Session,
    SessionClosed,
    SessionEstablished,
)
from emu.times import Clock, Moment, Monotonic

try:
    from emu.net.udp import _datagrams as _compiled  # type: ignore[attr-defined,unused-ignore]
except ImportError:
    _compiled = None

TURN_SLICES: Final = 2
"""The slices of work in one turn of the reactor; then the sockets are read again."""
MOST_TURNS_OF_REST: Final = 4
"""The turns for touched sessions after which those that wait for their next slice have one."""
MOST_KEPT: Final = 16
"""The datagrams that are sent together: more would delay the first ones."""


class Outbox:
    """The datagrams to send from one socket.

    `put` keeps them until `flush`. A datagram that cannot be sent (a full buffer, an unreachable
    network) is lost and counted in `lost`; the protocol retransmits what matters.
    """

    __slots__ = ("_handle", "_is_ipv6", "_send", "_waiting", "lost")

    def __init__(
        self,
        handle: socket.socket | None,
        write: Callable[[bytes, Any], object],
        *,
        is_ipv6: bool = False,
    ) -> None:
        """Send through a socket, or by `write` without one.

        An `is_ipv6` socket needs IPv4 hosts in the IPv6 notation.
        """
        self._handle = handle
        self._is_ipv6 = is_ipv6
        self._waiting: list[tuple[bytes, HostPort]] = []
        self.lost = 0
        # Twisted's transport validates the address of every datagram. Ours come from the socket.
        self._send = write if handle is None else handle.sendto

    def put(self, data: bytes, address: HostPort) -> None:
        """Add one datagram and its address."""
        self._waiting.append((data, address))
        if len(self._waiting) >= MOST_KEPT:
            self.flush()

    def flush(self) -> None:
        """Send all kept datagrams."""
        # Together, even if each takes a system call of its own: the processor's caches hold either
        # the kernel's code or Python's, and filling them takes half of a datagram's time.
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        if self._is_ipv6:
            waiting = [(data, (socket_host(host), port)) for data, (host, port) in waiting]
        # One call of the C module sends all of them and returns how many were lost.
        if self._handle is not None and _compiled is not None:
            self.lost += _compiled.send(self._handle.fileno(), waiting)
            return
        send = self._send
        for data, address in waiting:
            try:
                send(data, address)
            except OSError:
                self.lost += 1


class Tracer(Protocol):
    """Records every datagram and key of a port; see `emu.net.trace`."""

    def datagram(
        self, moment: Moment, source: HostPort, destination: HostPort, data: bytes
    ) -> None:
        """Record one datagram as it is on the wire."""

    def key(self, session_id: int, check_key: int, rc4_key: bytes) -> None:
        """Record the keys of a session."""


class DispatcherClock(Clock, Protocol):
    """The `Scheduler` as a dispatcher uses it: both clocks, timers, and the next turn."""

    def arm(self, timer: Timer[Timed], deadline: Monotonic | None) -> None:
        """Set when a timer's owner gets `handle_timer`; None for never."""

    def drop(self, timer: Timer[Timed]) -> None:
        """Disarm a timer for good."""

    def soon(self, function: Callable[[], object]) -> PlannedCall:
        """Call once in the next turn of the reactor."""


class Dispatcher:
    """Serves the sessions of one `Endpoint`.

    `own` is the address of this side in a trace. `tracer`, if set, records every datagram and key.
    `accounting` limits the work of each session.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        scheduler: DispatcherClock,
        make_handler: Callable[[SessionPort, Monotonic], Handler],
        log: Logger,
        *,
        accounting: Accounting | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.accounting = accounting or Accounting(TurnRules())
        self._clock = self.accounting.clock
        self._slice = self.accounting.rules.slice
        self._turn = TURN_SLICES * self._slice
        self.now: Callable[[], Monotonic] = scheduler.now
        self.own: HostPort = ("0.0.0.0", 0)  # noqa: S104  # until the port is bound
        self.outbox = Outbox(None, _nowhere)
        self.tracer: Tracer | None = None
        self._scheduler = scheduler
        self._make_handler = make_handler
        self._log = log
        self._ports: dict[Session, SessionPort] = {}
        self._touched: list[SessionPort] = []
        self._waiting: list[SessionPort] = []
        self._rest: list[SessionPort] = []
        self._releases = Releases(scheduler)
        self._turns_of_rest = 0
        self._pauses = 0
        """Calls of `_serve_later`, that one included which serves, until reads are answered again.
        """
        self._serving: PlannedCall | None = None
        self._abandoned = False

    @property
    def session_count(self) -> int:
        """How many sessions there are, in any state."""
        return len(self._ports)

    # -- receiving --------------------------------------------------------------------------------

    def receive_datagrams(self, datagrams: Iterable[tuple[bytes, HostPort]]) -> None:
        """Receive datagrams, each with its address; `serve_touched` serves their sessions.

        A fault in one datagram is logged; the others are still handled.
        """
        if self._abandoned:
            return
        now = self.now()
        endpoint = self.endpoint
        tracer = self.tracer
        accounting = self.accounting
        unread = accounting.unread
        for datagram, address in datagrams:
            # Dropped before anything else: a source in debt pays with its own datagrams, not with
            # our time.
            if unread and accounting.is_unread(address, now):
                continue
            if tracer is not None:
                # Before it is handled: the trace then has a datagram that causes a fault, too.
                tracer.datagram(self._scheduler.moment(), address, self.own, datagram)
            try:
                session = endpoint.receive_datagram(datagram, address, now)
            except Exception:  # noqa: BLE001  # any fault
                self._log.failure("taking a datagram failed")
                continue
            if session is None:
                # Replies to peers without a session leave at once; there is no session that could
                # be served later.
                for data, to in endpoint.datagrams_to_send():
                    self._write(data, cast("HostPort", to))
                continue
            port = self._ports.get(session)
            # A port costs little: it has no handler until the address is validated.
            if port is None:
                port = self._ports[session] = SessionPort(self, session, address)
            # A session with many datagrams in one read is served once, with one answer for all of
            # them.
            if not port.touched:
                port.touched = True
                self._touched.append(port)

    def _follow_moves(self) -> None:
        """Send to the new addresses of sessions; the events report them to the services."""
        for session, before in self.endpoint.moved:
            port = self._ports.get(session)
            if port is not None:
                port.address = cast("HostPort", session.address)
                # The work of the session is charged to its account, wherever its client is.
                self.accounting.unread.pop(cast("HostPort", before), None)
        self.endpoint.moved.clear()

    def touch(self, port: SessionPort) -> None:
        """Serve a session in this turn of the reactor; it must not be touched already."""
        port.touched = True
        self._touched.append(port)
        self.serve_soon()

    def release_later(self, port: SessionPort) -> None:
        """Release what a session holds back; see `Releases.add`."""
        self._releases.add(port)

    def serve_soon(self) -> None:
        """Serve all touched sessions before the reactor waits again."""
        # Without a session to serve there may still be datagrams, such as a SessionResponse.
        if not self._touched and not self._rest and not self._waiting:
            self.outbox.flush()
        elif self._serving is None and not self._abandoned:
            self._serving = self._scheduler.soon(self._serve_later)

    def serve_read(self) -> None:
        """Serve the sessions of a read, unless the sessions have had their time of this turn.

        A turn of the reactor has many reads, and then the call that serves later.
        """
        if self._pauses:
            self.outbox.flush()
            return
        self.serve_touched()
        if self._rest:
            # The next call comes in this turn still, and the one after it in the next turn.
            self._pauses = 2

    def _serve_later(self) -> None:
        self._serving = None
        if self._pauses > 1:
            self._pauses -= 1
            self.serve_soon()
            return
        # Sessions with new datagrams come first, but a steady flood of them must not starve the
        # waiting ones.
        if self._waiting and (not self._rest or self._turns_of_rest >= MOST_TURNS_OF_REST):
            self._turns_of_rest = 0
            self._serve_waiting()
        self.serve_touched()
        # What is read before the rest is served waits behind it.
        self._pauses = 1 if self._rest else 0

    # -- serving ----------------------------------------------------------------------------------

    def serve_touched(self) -> None:
        """Serve every touched session, and send their datagrams."""
        if self.endpoint.moved:
            self._follow_moves()
        if self._touched or self._rest:
            now = self.now()
            touched, self._touched = self._touched, []
            if self._rest:  # behind the sessions touched since
                touched += self._rest
                self._rest = []
            clock, work_between = self._clock, self.accounting.work_between
            before = self.accounting.begin()
            end = before + self._turn
            for served, port in enumerate(touched, 1):
                try:
                    self._serve(port, now)
                except Exception:  # noqa: BLE001  # it would close the port for all
                    self._give_up(port, now)
                after = clock()
                port.spent += work_between(before, after)
                before = after
                if port.spent >= ACCOUNTED:
                    self._charge(port, now)
                if after >= end and served < len(touched):
                    # Too many for one turn: the sockets are read in between. Otherwise their
                    # buffers would overflow, and every lost datagram costs its sender a second.
                    self._rest = touched[served:]
                    self._turns_of_rest += 1
                    break
            # The endpoint may have ended other sessions than the one just served, for their memory.
            if self.endpoint.ended:
                self._touch_ended()
            if self._waiting or self._rest:
                self.serve_soon()
        self.outbox.flush()

    def _serve_waiting(self) -> None:
        """Continue with the sessions that had more messages than fit their slice, in turn."""
        now = self.now()
        before = self.accounting.begin()
        end = before + self._turn
        # Counted before the loop: a session that still has more goes to the end and is not served
        # twice in a turn.
        for _ in range(len(self._waiting)):
            port = self._waiting.pop(0)
            # Before it is served: with the hold no message would be delivered.
            port.holds &= ~NEXT
            try:
                self._serve(port, now)
            except Exception:  # noqa: BLE001  # it would close the port for all
                self._give_up(port, now)
            after = self._clock()
            self._account(port, before, after, now)
            before = after
            if after >= end:
                break
        if self.endpoint.ended:
            self._touch_ended()
        if self._waiting:
            self.serve_soon()

    def charge_to(self, port: SessionPort, account: object) -> None:
        """Charge the work for a session to an account, no longer to its address."""
        self.accounting.charge_to(port, account, self.now())

    def log_failure(self, failure: Failure) -> None:
        """Log what a coroutine of a session raised; the session is closed."""
        log_fault(self._log, "a task of a session failed; the session is closed", failure)

    def timed(self, port: SessionPort, work: Callable[[], object]) -> None:
        """Work for a session outside of its turn, and charge the time to it."""
        begun = self.accounting.begin()
        try:
            work()
        finally:
            self._account(port, begun, self._clock(), self.now())

    def handle_timers(self, port: SessionPort, now: Monotonic) -> None:
        """Do what is due for one session, and serve it."""
        begun = self.accounting.begin()
        try:
            self._handle_timers(port, now)
            if not port.events or port.holds:
                self._serve(port, now)
            # Messages that have waited for a share of the processor share the turn with others.
            elif not port.touched:
                self.touch(port)
        except Exception:  # noqa: BLE001  # a fault must affect only its session
            self._give_up(port, now)
        self._account(port, begun, self._clock(), now)
        if self.endpoint.ended:
            self._touch_ended()
        if self._waiting:
            self.serve_soon()
        self.outbox.flush()

    def _handle_timers(self, port: SessionPort, now: Monotonic) -> None:
        deadline = port.session.get_timer()
        # The timer is one for session, handler and share of the processor, so each is asked whether
        # it is due.
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
        """Deliver events, send the datagrams that are ready, and arm the timer."""
        session = port.session
        port.touched = True  # what the handler sends now leaves below
        if port.events:
            self._deliver_events(port, now)
        port.touched = False
        # The usual answer to a message is an Ack alone; it takes a short path past the send queue.
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

    def _deliver_events(self, port: SessionPort, now: Monotonic) -> None:
        """Deliver the events of a session that is not on hold, as many as fit its slice."""
        # A session on hold keeps its events, but its end is delivered, or its handler would wait
        # for ever.
        if port.holds:
            if port.session.ended:
                self._deliver_end(port, now)
            return
        # One event is the usual case and needs neither a clock nor a loop.
        event = port.events.pop(0)
        if type(event) is not Message:
            self._note(event, port, now)
        if port.handler is not None:
            self._deliver(event, port, now)
        if port.events:
            self._deliver_more(port, now)

    def _deliver_more(self, port: SessionPort, now: Monotonic) -> None:
        """Deliver the events after the first one until the slice is used up."""
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
                self._deliver(event, port, now)
            if events and clock() >= end:
                # A client that sends many messages at once may use one slice per turn. Its other
                # messages wait, so that no session delays the others by more than a slice.
                port.holds |= NEXT
                self._waiting.append(port)
        session.refill()  # the next turn reads only the list of events
        if session.ended:
            self._deliver_end(port, now)

    def _deliver_end(self, port: SessionPort, now: Monotonic) -> None:
        """Deliver the end of the session to the handler; messages that still wait are dropped."""
        while (event := port.session.next_event()) is not None:
            if type(event) is not Message and port.handler is not None:
                self._deliver(event, port, now)

    def _charge(self, port: SessionPort, now: Monotonic) -> None:
        """Charge the work for a session; if it has to wait, set the timer for its next turn."""
        # The session may have ended with the work that is charged; it has no timer any more.
        if self.accounting.charge(port, now) and port.session in self._ports:
            self._settle(port)

    def _account(self, port: SessionPort, before: float, after: float, now: Monotonic) -> None:
        """Note the work for a session between two readings; charge it once it is enough."""
        port.spent += self.accounting.work_between(before, after)
        if port.spent >= ACCOUNTED:
            self._charge(port, now)

    def _note(self, event: Event, port: SessionPort, now: Monotonic) -> None:
        """Do the dispatcher's own part of an event."""
        session = port.session
        if type(event) is SessionEstablished:
            port.handler = self._make_handler(port, now)
            # Until a service knows the account, all sessions of an address share one budget.
            self.accounting.charge_to_address(port, now)
        elif type(event) is KeyEstablished and self.tracer is not None:
            self.tracer.key(session.session_id, session.check_key, event.key)

    def _is_settled(self, port: SessionPort) -> bool:
        """Return whether `_settle` can be skipped for a session that has sent only an Ack."""
        # Such a session holds nothing, and its timer may stay: one call that is too early costs
        # less than moving the timer with every datagram.
        handler = port.handler
        armed = port.timer.deadline
        if handler is None or armed == math.inf or handler.held_bytes() != port.weight:
            return False
        deadline = handler.get_timer()
        return deadline is None or deadline >= armed

    def _settle(self, port: SessionPort) -> None:
        """Note the memory of a session and its handler, and set their timer."""
        session = port.session
        handler = port.handler
        held, theirs = 0, None
        if handler is not None:
            held, theirs = handler.held_bytes(), handler.get_timer()
        port.weight = self.endpoint.note_memory(session, held)
        # The earliest of three: the session's own, the handler's, and the end of a pause.
        deadline = session.get_timer()
        if deadline is None or (theirs is not None and theirs < deadline):
            deadline = theirs
        resumes_at = port.resumes_at
        if resumes_at is not None and (deadline is None or resumes_at < deadline):
            deadline = resumes_at
        self._scheduler.arm(port.timer, deadline)

    def _deliver(self, event: Event, port: SessionPort, now: Monotonic) -> None:
        assert port.handler is not None  # noqa: S101
        try:
            port.handler.handle_event(event, now)
        except Exception:  # noqa: BLE001  # a fault must affect only its session
            log_fault(self._log, "a handler failed; its session is closed", current_failure())
            # An orderly close: the fault is in the handler, so the session can still send.
            port.session.close()

    def _write(self, data: bytes, address: HostPort) -> None:
        if self.tracer is not None:
            self.tracer.datagram(self._scheduler.moment(), self.own, address, data)
        self.outbox.put(data, address)

    # -- ending -----------------------------------------------------------------------------------

    def close(self, now: Monotonic) -> None:
        """Begin an orderly close of every session; at the end `session_count` is 0."""
        # A copy: serving a session may end it and remove it.
        for port in list(self._ports.values()):
            try:
                port.session.close()
                self._serve(port, now)
            except Exception:  # noqa: BLE001  # the others must be closed in order
                self._give_up(port, now)
        self.outbox.flush()

    def abandon(self) -> None:
        """Stop all timers for good; ignore what is queued and what still arrives."""
        self._abandoned = True
        if self._serving is not None:
            self._serving.cancel()
            self._serving = None
        for port in self._ports.values():
            self._scheduler.drop(port.timer)
        self._releases.end()
        self._waiting.clear()
        self._rest.clear()
        self._ports.clear()

    def _touch_ended(self) -> None:
        """Serve the sessions that the endpoint has ended for the last time."""
        while (ended := self.endpoint.next_ended()) is not None:
            if ended in self._ports:
                self._ports[ended].touch()

    def _forget(self, port: SessionPort) -> None:
        """Remove a session."""
        # The handler refers to the port. Without this cut the two would form a reference cycle, and
        # under a flood of sessions the garbage collector is too slow for those.
        self._ports.pop(port.session, None)
        self._scheduler.drop(port.timer)
        if port.holds & NEXT:
            port.holds &= ~NEXT
            # A session without a handler must not be continued in a later turn.
            self._waiting.remove(port)
        if port.handler is not None:
            self.accounting.forget(port, self.now())
        port.handler = port.later = None
        port.closing = nothing
        # Last, because the handler may still have asked for the session's address.
        self.endpoint.forget(port.session)

    def _give_up(self, port: SessionPort, now: Monotonic) -> None:
        """End a session after a fault of this program."""
        log_fault(self._log, "serving a session failed; it is over", current_failure())
        try:
            # Without an orderly end: the fault may be in the code that would send it.
            port.session.discard(CloseReason.FAULT)
            self._deliver_end(port, now)
        except Exception:  # noqa: BLE001  # the session is removed in any case
            self._log.failure("ending a session failed")
            # The handler must learn of the end even if the session cannot report it.
            if port.handler is not None:
                self._deliver(SessionClosed(CloseReason.FAULT), port, now)
        finally:
            self._forget(port)


def _nowhere(_data: bytes, _address: HostPort) -> None:
    """Send nothing: the port is not open yet."""
