"""One session as its handler sees it, and what a dispatcher remembers of it.

Compiled along with the sessions where that is built.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from emu.limits.turns import WorkBudget
from emu.net.timers import Timed, Timer
from emu.net.udp.sockets import HostPort
from emu.session import Event, Session
from emu.times import Monotonic

BUSY: Final = 1
"""The handler takes nothing more before it says so."""
LATE: Final = 2
"""The session has used up its share of the processor."""
NEXT: Final = 4
"""The session goes on in the next turn."""


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


class Server(Protocol):
    """What a port asks of the dispatcher that serves it."""

    def read_clock(self) -> Monotonic:
        """Return the time."""

    def touch(self, port: SessionPort) -> None:
        """Serve a session in this turn of the reactor that is not to be served already."""

    def charge_to(self, port: SessionPort, account: object) -> None:
        """Have the work for a session charged to an account."""

    def timed(self, port: SessionPort, work: Callable[[], object]) -> None:
        """Do something for a session outside of its turn, and charge the time to it."""

    def handle_timers(self, port: SessionPort, now: Monotonic) -> None:
        """Do what is due for one session, and serve it."""


class SessionPort:
    """One session as its handler sees it: the session, its address, and a way to be served.

    `handler` is None until the peer's address is validated, so that strangers cost little. `weight`
    is how many bytes were held when that was looked at last. `holds` says why no message is handed
    out now (`BUSY`, `LATE`, `NEXT`), `spent` how many seconds of work are not charged yet,
    `reading` how many seconds are charged for its datagrams.
    """

    __slots__ = (
        "_dispatcher",
        "address",
        "budget",
        "events",
        "handler",
        "holds",
        "reading",
        "resumes_at",
        "session",
        "spent",
        "timer",
        "touched",
        "weight",
    )

    def __init__(self, dispatcher: Server, session: Session, address: HostPort) -> None:
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
        self.handler: Handler | None = None

    def room(self) -> int:
        """Return how many bytes may usefully be queued in the session now."""
        return self.session.capacity(self._dispatcher.read_clock())

    def touch(self) -> None:
        """Have the session served in this turn of the reactor: something was queued or changed."""
        if not self.touched:
            self._dispatcher.touch(self)

    def set_busy(self, *, busy: bool) -> None:
        """Say whether the handler takes no message now; further ones wait in the session."""
        if busy:
            self.holds |= BUSY
        elif self.holds & BUSY:
            self.holds &= ~BUSY
            self.touch()

    def charge_to(self, account: object) -> None:
        """Charge the session's work to an account from now on, no longer to its address.

        So a new session of an account has no more to spend than the one before had left.
        """
        self._dispatcher.charge_to(self, account)

    def charge(self, seconds: float) -> None:
        """Charge work to the session that was done for it elsewhere, in another thread."""
        self.spent += seconds

    def timed(self, work: Callable[[], object]) -> None:
        """Do something for the session outside of its turn, and charge the time to it."""
        self._dispatcher.timed(self, work)

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due for the session or its handler; called by the scheduler."""
        self._dispatcher.handle_timers(self, now)
