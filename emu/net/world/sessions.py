"""Connects the world to the shell: UDP sessions, the scheduler, and the log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from twisted.logger import Logger, LogLevel
from twisted.python.failure import Failure

from emu.metrics import Histogram
from emu.net.refusals import RefusalLog
from emu.net.scheduler import Scheduler
from emu.net.udp.session_port import SessionPort, nothing
from emu.session import Event, Message, SessionClosed, Writable
from emu.times import Monotonic
from emu.world.entry.zone_entry import Entered, ZoneEntry, ZoneEntryEvent, ZoneEntryRefused
from emu.world.events import (
    EntryRefused,
    Fault,
    PlayerEntered,
    PlayerLeft,
    PlayerRefused,
    WorldEvent,
)
from emu.world.service import WorldService

RETRY: Final = 0.1
"""Seconds until a world whose timer raised is called again."""
_FAULTS: Final = "faults"


class WorldClientHandler:
    """The handler of one session of the world's port."""

    __slots__ = ("_client", "_port")

    def __init__(self, port: SessionPort, entry: ZoneEntry, now: Monotonic) -> None:
        self._port = port
        self._client = entry.connect(port, port.address[0], now)
        port.closing = self._client.closing

    def handle_event(self, event: Event, now: Monotonic) -> None:
        """Handle one event of the session."""
        if isinstance(event, Message):
            try:
                self._client.message(event.opcode, event.payload, now)
            except Exception:
                self._client.closing()  # the dispatcher ends the session
                raise
        elif isinstance(event, Writable):
            self._client.drained(now)
        elif isinstance(event, SessionClosed):
            self._client.closed(event.reason, now)
            # Cut the reference cycle: under a flood the garbage collector is too slow.
            self._port.closing = nothing
            del self._client

    def get_timer(self) -> Monotonic | None:
        """Return when to call `handle_timer`."""
        return self._client.get_timer()

    def handle_timer(self, now: Monotonic) -> None:
        """Handle the client's deadline."""
        self._client.handle_timer(now)

    def held_bytes(self) -> int:
        """Return how many bytes of messages wait: none, the world handles them at once."""
        return 0


class WorldTimer:
    """Calls the world's timer when it is due."""

    __slots__ = ("_is_stopped", "_scheduler", "_service", "_ticks", "_timer")

    def __init__(
        self,
        scheduler: Scheduler,
        service: Callable[[], WorldService],
        ticks: Histogram | None = None,
    ) -> None:
        """Call a service by a scheduler; record in `ticks` how many seconds each call took.

        `service` returns the service. It is made after its timer, because it needs `wake`.
        """
        self._scheduler = scheduler
        self._service = service
        self._ticks = ticks
        self._timer = scheduler.timer(self)
        self._is_stopped = False

    def handle_timer(self, now: Monotonic) -> None:
        """Call the world; called by the scheduler.

        If the world raises, it is called again after a moment, whatever its own timer says.
        """
        if self._is_stopped:
            return
        service = self._service()
        self._scheduler.arm(self._timer, Monotonic(now + RETRY))
        begun = self._scheduler.now()
        service.handle_timer(now)
        if self._ticks is not None:
            self._ticks.observe(self._scheduler.now() - begun)
        self._scheduler.arm(self._timer, service.get_timer())

    def wake(self, due: Monotonic) -> None:
        """Call the world at a time at the latest.

        This is called for every step of a player, so it compares times instead of asking the
        world for its earliest deadline.
        """
        if due < self._timer.deadline and not self._is_stopped:
            self._scheduler.arm(self._timer, due)

    def late(self, now: Monotonic) -> float:
        """Return how many seconds ago the world should have been called; 0 if it is in time."""
        due = None if self._is_stopped else self._service().get_timer()
        return 0.0 if due is None else max(0.0, now - due)

    def stop(self) -> None:
        """Call the world no more."""
        self._scheduler.drop(self._timer)
        self._is_stopped = True


def report_to(log: Logger, refusals: RefusalLog) -> Callable[[ZoneEntryEvent], None]:
    """Return the zone entry's `report` port; repeated events are summed up."""

    def write(event: ZoneEntryEvent) -> None:
        if isinstance(event, Entered):
            if not refusals.is_within_rate("arrivals", event.name, event.address, "came in"):
                return
            log.info(
                "{name} entered from {address}, client {version}",
                name=event.name, address=event.address, version=event.version,
                account_id=event.account_id,
            )  # fmt: skip
        elif isinstance(event, ZoneEntryRefused):
            if refusals.is_news("clients refused", "", event.address, event.reason):
                log.info(
                    "{address} was refused: {reason}",
                    address=event.address, reason=event.reason,
                )  # fmt: skip
        elif refusals.is_within_rate("departures", event.name, event.address, event.reason):
            log.info(
                "{name} from {address} left: {reason}",
                name=event.name, address=event.address, reason=event.reason,
            )  # fmt: skip

    return write


def report_world(log: Logger, refusals: RefusalLog) -> Callable[[WorldEvent], None]:
    """Return the world's `report` port: one line an event; repeated events are summed up."""

    def write(event: WorldEvent) -> None:
        if isinstance(event, PlayerRefused) and not refusals.is_news(
            "refusals", event.name, event.address, event.reason
        ):
            return
        if isinstance(event, EntryRefused) and not refusals.is_news(
            "entries refused", f"account {event.account_id}", event.address, event.reason
        ):
            return
        if isinstance(event, Fault):
            if refusals.is_news(_FAULTS, "", event.task, type(event.error).__name__):
                _write_fault(log, event)
            return
        if isinstance(event, PlayerEntered):
            if not refusals.is_within_rate("entries", event.name, event.address, event.zone):
                return
        elif isinstance(event, PlayerLeft) and not refusals.is_within_rate(
            "exits", event.name, "", event.reason
        ):
            return
        log.emit(
            LogLevel.levelWithName(event.level), "{line}", line=event.line,
            event=type(event).__name__,
        )  # fmt: skip

    return write


def _write_fault(log: Logger, event: Fault) -> None:
    """Log a fault of the server with its traceback."""
    failure = Failure(event.error)  # type: ignore[no-untyped-call]
    log.failure("{line}", failure, line=event.line, event=type(event).__name__)
