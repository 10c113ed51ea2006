"""One session as its service uses it, and what its work costs.

A service gets a `SessionPort` for each session and gives it a `Handler`. The dispatcher measures
how long each session takes, and `Accounting` charges that to its account or address by the rules of
`emu.limits.rates`. Compiled along with the sessions where that is built.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, Final, Protocol

from twisted.python.failure import Failure

from emu.limits.addresses import address_key
from emu.limits.rates import TurnRules, WorkBudget
from emu.net.scheduler import Timed, Timer, run
from emu.session import DropReason, Event, Session, SessionStatistics
from emu.times import Monotonic

HostPort = tuple[str, int]

BUSY: Final = 1
"""The handler accepts no message until it says so."""
LATE: Final = 2
"""The session has used up its share of the processor."""
NEXT: Final = 4
"""The session continues in the next turn."""
LATER: Final = 0.1
"""Seconds for which a message may be held back: about a round of a zone."""
MOST_LATER: Final = 1024
"""Bytes of messages that are held back: a datagram of them gains nothing by waiting."""


class Handler(Protocol):
    """A service's handler of one session."""

    def handle_event(self, event: Event, now: Monotonic) -> None:
        """Take one event of the session; `SessionClosed` is the last."""

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` should be called, or None."""

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due."""

    def held_bytes(self) -> int:
        """Return how many bytes of messages wait for their turn."""


class ReleaseClock(Protocol):
    """The `Scheduler` as `Releases` uses it."""

    @property
    def now(self) -> Callable[[], Monotonic]:
        """Returns the time."""

    def arm(self, timer: Timer[Timed], deadline: Monotonic | None) -> None:
        """Set when a timer's owner gets `handle_timer`."""

    def drop(self, timer: Timer[Timed]) -> None:
        """Disarm a timer for good."""


class Releases:
    """The sessions that hold messages back, with one timer for all.

    What one event causes in many sessions leaves together.
    """

    __slots__ = ("_clock", "_ports", "_timer")

    def __init__(self, clock: ReleaseClock) -> None:
        self._clock = clock
        self._ports: list[SessionPort] = []
        self._timer: Timer[Timed] = Timer(self)

    def add(self, port: SessionPort) -> None:
        """Release what a session holds back, `LATER` seconds from now at the latest."""
        if not self._ports:
            self._clock.arm(self._timer, Monotonic(self._clock.now() + LATER))
        self._ports.append(port)

    def handle_timer(self, now: Monotonic) -> None:  # noqa: ARG002  # it is due
        """Release what sessions hold back; called by the scheduler."""
        ports, self._ports = self._ports, []
        for port in ports:
            port.has_release = False
            port.release()

    def end(self) -> None:
        """Release nothing any more."""
        self._clock.drop(self._timer)
        self._ports.clear()


class SessionServer(Protocol):
    """The dispatcher as the ports of its sessions use it."""

    @property
    def now(self) -> Callable[[], Monotonic]:
        """Returns the time."""

    def touch(self, port: SessionPort) -> None:
        """Serve a session in this turn of the reactor."""

    def release_later(self, port: SessionPort) -> None:
        """Release what a session holds back; see `Releases.add`."""

    def charge_to(self, port: SessionPort, account: object) -> None:
        """Charge the work for a session to an account."""

    def timed(self, port: SessionPort, work: Callable[[], object]) -> None:
        """Work for a session outside of its turn, and charge the time to it."""

    def handle_timers(self, port: SessionPort, now: Monotonic) -> None:
        """Do what is due for one session, and serve it."""

    def log_failure(self, failure: Failure) -> None:
        """Log what a coroutine of a session raised."""


def nothing() -> None:
    """Do nothing when a session closes."""


class SessionPort:
    """One session as its service uses it: to send, to end it, to run coroutines for it.

    It is the link of a client of the login service and of a player. `handler` is None until the
    peer's address is validated, so that forged addresses cost little. `closing` is called when our
    side closes the session, which may take seconds.

    The other attributes belong to the dispatcher: `weight` is how many bytes were held at the last
    check, `holds` says why no message is delivered now (`BUSY`, `LATE`, `NEXT`), `spent` is how
    many seconds of work are not charged yet, `reading` how many were charged for datagrams.
    `has_release` says whether it is about to release what the port holds back.
    """

    __slots__ = (
        "_dispatcher",
        "address",
        "budget",
        "closing",
        "events",
        "handler",
        "has_release",
        "holds",
        "later",
        "later_bytes",
        "reading",
        "resumes_at",
        "session",
        "spent",
        "timer",
        "touched",
        "weight",
    )

    def __init__(self, dispatcher: SessionServer, session: Session, address: HostPort) -> None:
        self._dispatcher = dispatcher
        self.session = session
        self.events = session.events
        self.address = address
        self.touched = False
        self.weight = 0
        self.holds = 0
        self.spent = 0.0
        self.reading = 0.0
        self.budget: WorkBudget | None = None  # most sessions never spend enough for one
        self.resumes_at: Monotonic | None = None
        self.timer: Timer[Timed] = Timer(self)
        self.later: list[tuple[int, bytes]] | None = None
        """The messages that are held back; None without any, as with most sessions."""
        self.later_bytes = 0
        self.has_release = False
        self.handler: Handler | None = None
        self.closing: Callable[[], object] = nothing

    # -- for the service --------------------------------------------------------------------------

    def send(self, opcode: int, payload: bytes) -> None:
        """Send one application message in this turn of the reactor."""
        if self.later:
            self._release()
        self.session.send(opcode, payload)
        self.touch()

    def send_later(self, opcode: int, payload: bytes) -> None:
        """Send one application message with the next one, at most `LATER` seconds from now.

        Several then share a datagram, and an acknowledgment. The order of all messages stays.
        """
        if self.later is None:
            self.later = []
        self.later.append((opcode, payload))
        self.later_bytes += len(payload)
        if self.later_bytes >= MOST_LATER:
            self.release()
        elif not self.has_release:
            self.has_release = True
            self._dispatcher.release_later(self)

    def release(self) -> None:
        """Send what is held back in this turn of the reactor."""
        if self.later:
            self._release()
            self.touch()

    def _release(self) -> None:
        later = self.later or ()
        self.later, self.later_bytes = None, 0
        for opcode, payload in later:
            self.session.send(opcode, payload)

    def close(self, reason: str = "") -> None:  # noqa: ARG002  # the service has logged it
        """Close the session after everything queued has left."""
        self.release()
        self.session.close()
        self.touch()
        self.closing()

    def trust(self) -> None:
        """Lift the limits for unauthenticated peers."""
        self.session.trust()

    def capacity(self) -> int:
        """Return how many bytes may usefully be sent now."""
        return self.session.capacity(self._dispatcher.now())

    def round_trip(self) -> float | None:
        """Return the smoothed round trip in seconds; None while it is not measured."""
        return self.session.statistics().smoothed_round_trip

    def statistics(self) -> SessionStatistics:
        """Return the counters of the session."""
        return self.session.statistics()

    def touch(self) -> None:
        """Serve the session in this turn of the reactor: something was queued or changed."""
        if not self.touched:
            self._dispatcher.touch(self)

    def wake(self) -> None:
        """Ask the handler for its timer again."""
        self.touch()

    def set_busy(self, *, busy: bool) -> None:
        """Set whether the handler accepts no message now; further ones wait in the session."""
        if busy:
            self.holds |= BUSY
        elif self.holds & BUSY:
            self.holds &= ~BUSY
            self.touch()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine of the service; if it raises, the session is closed.

        Its time is charged to the session, also after each wait.
        """
        run(work, self._failed, timed=self.timed)

    def _failed(self, failure: Failure) -> None:
        self._dispatcher.log_failure(failure)
        # The service's state of this session is unknown now, so it cannot continue.
        self.close()

    def timed(self, work: Callable[[], object]) -> None:
        """Work for the session outside of its turn, and charge the time to it."""
        self._dispatcher.timed(self, work)

    def charge_to(self, account: object) -> None:
        """Charge the session's work to an account from now on, not to its address.

        A new session of an account so has no more to spend than the previous one had left.
        """
        self._dispatcher.charge_to(self, account)

    def charge(self, seconds: float) -> None:
        """Charge work that another thread did for the session."""
        self.spent += seconds

    # -- for the scheduler ------------------------------------------------------------------------

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due for the session or its handler."""
        self._dispatcher.handle_timers(self, now)


ACCOUNTED: Final = 0.001
"""The seconds of work that are charged to a session at once; charging each message costs more."""
MOST_BUDGETS: Final = 20_000
"""Accounts and addresses whose work is remembered after their sessions have ended."""
SECONDS_OF_DATAGRAM: Final = 5e-6
SECONDS_OF_BYTE: Final = 0.3e-6
"""The most time that a datagram and each of its bytes take to read: many short messages in one."""
SECONDS_OF_SESSION: Final = 300e-6
"""The time that a session and its keys take to make."""


class Accounting:
    """The work budgets of one dispatcher.

    `clock` measures the work. It is a wall clock: reading the processor's time costs a tenth of a
    datagram. `processor` is read once in a turn: on a busy machine the system lets this process
    pause, and no session pays for that. By default there is none, and `clock` is right.

    `late_sessions` counts how often a session used up its share, `unread_datagrams` the
    datagrams dropped because reading them costs too much.
    """

    def __init__(
        self,
        rules: TurnRules,
        clock: Callable[[], float] = time.perf_counter,
        processor: Callable[[], float] | None = None,
        *,
        budget_limit: int = MOST_BUDGETS,
    ) -> None:
        self.rules = rules
        self.clock = clock
        self._processor = clock if processor is None else processor
        self._begun = self._used = 0.0
        self.late_sessions = 0
        self.unread_datagrams = 0
        self.unread: dict[HostPort, Monotonic] = {}
        """Until when datagrams of an address are dropped; mostly empty."""
        self._address_rules = replace(rules, reserve=rules.address_reserve)
        self._budget_limit = budget_limit
        self._budgets: dict[object, WorkBudget] = {}

    def begin(self) -> float:
        """Return the clock's reading before work for some sessions."""
        self._used = self._processor()
        self._begun = self.clock()
        return self._begun

    def work_between(self, before: float, after: float) -> float:
        """Return the seconds of work for one session between two readings since `begin`.

        The time without pauses, in which the system ran other programs on the processor.
        """
        seconds = after - before
        if seconds < ACCOUNTED:  # a pause takes longer than that
            return seconds
        used = self._processor()
        # What the sessions before this one needed had no pause in it, or was begun anew here.
        work = used - self._used - (before - self._begun)
        self._begun, self._used = after, used
        return min(max(work, 0.0), seconds)

    def is_unread(self, address: HostPort, now: Monotonic) -> bool:
        """Return whether datagrams of an address are dropped now: reading them costs too much."""
        until = self.unread.get(address)
        if until is None:
            return False
        if now >= until:
            del self.unread[address]
            return False
        self.unread_datagrams += 1
        return True

    def charge_to(self, port: SessionPort, account: object, now: Monotonic) -> None:
        """Charge the work for a session to an account from now on."""
        port.budget = self._budget(account, self.rules, now)

    def charge_to_address(self, port: SessionPort, now: Monotonic) -> bool:
        """Charge the work for a new session to its address; return True if it has to wait."""
        budget = self._budget(address_key(port.address[0]), self._address_rules, now)
        port.budget = budget
        # A client that reconnects again and again pays for each new session.
        port.spent += SECONDS_OF_SESSION
        # Only an address without any budget has to wait, so that many players behind one can enter.
        return budget.spent(now) >= self._address_rules.reserve and self.charge(port, now)

    def _budget(self, account: object, rules: TurnRules, now: Monotonic) -> WorkBudget:
        found = self._budgets.get(account)
        if found is None:
            if len(self._budgets) >= self._budget_limit:
                self._forget_some(now)
            found = self._budgets[account] = WorkBudget(rules, now)
        return found

    def _forget_some(self, now: Monotonic) -> None:
        """Forget the budgets that are full, then the oldest ones."""
        # A full budget is the same as a new one, so forgetting it changes nothing.
        kept = {
            account: budget for account, budget in self._budgets.items() if budget.spent(now) > 0
        }
        while len(kept) > self._budget_limit // 2:
            # The dict keeps the order of insertion, so the first is the oldest.
            del kept[next(iter(kept))]
        self._budgets = kept

    def charge(self, port: SessionPort, now: Monotonic) -> bool:
        """Charge the work for a session to its budget; return True if it has to wait now."""
        budget = port.budget
        if budget is None:
            return False
        # Charged after the work: its cost is not known before. A debt delays the session's next
        # turn; its messages wait in the session, and the closing window slows the peer down.
        budget.charge(port.spent + self._reading(port), now)
        port.spent = 0.0
        resumes_at = budget.resumes_at()
        if resumes_at is None:
            return False
        port.resumes_at = resumes_at
        # The first time the session only waits. Only if it is charged while it waits are its
        # datagrams dropped.
        if not port.holds & LATE:
            port.holds |= LATE
            self.late_sessions += 1
            return True
        reads_at = budget.reads_at()
        if reads_at is not None:  # it is not served, so its datagrams alone cost this
            self.unread[port.address] = reads_at
        return True

    def forget(self, port: SessionPort, now: Monotonic) -> None:
        """Charge the remaining work of a session that has ended."""
        if port.budget is not None:
            port.budget.charge(port.spent + self._reading(port), now)
            port.spent = 0.0
        # Without this the table would grow with every address that was ever in debt.
        if self.unread:
            self.unread.pop(port.address, None)

    def _reading(self, port: SessionPort) -> float:
        """Return about how many seconds a session's datagrams took to read since the last call."""
        # Measuring each datagram would cost too much. Those with a wrong check do not count:
        # anybody can send them from the session's address.
        session = port.session
        counts = session.counts()
        forged = session.drops.get(DropReason.BAD_CHECK, 0)
        datagrams = counts.datagrams_received - forged
        seconds = datagrams * SECONDS_OF_DATAGRAM
        if datagrams:
            real = datagrams / counts.datagrams_received
            seconds += counts.bytes_received * real * SECONDS_OF_BYTE
        # The share of forged datagrams may have grown since, which lowers the sum.
        since, port.reading = max(0.0, seconds - port.reading), seconds
        return since
