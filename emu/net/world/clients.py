"""Joins players' clients to UDP sessions of the world's port, and the world's events to the log.

Owns nothing but the wiring; order and meaning of messages are `emu.world`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from twisted.logger import Logger, LogLevel
from twisted.python.failure import Failure

from emu.measures import Histogram
from emu.net.login.clients import run
from emu.net.refusals import RefusalLog
from emu.net.scheduler import Scheduler
from emu.net.udp.dispatcher import SessionPort
from emu.session import Event, Message, SessionClosed, Writable
from emu.times import Monotonic
from emu.world.door.entry import Door, DoorEvent, Entered, TurnedAway
from emu.world.events import WorldEvent
from emu.world.service import WorldService


class VisitorHandler:
    """One session of the world port; also the `VisitorLink` of its visitor."""

    __slots__ = ("_log", "_port", "_visitor")

    def __init__(self, port: SessionPort, door: Door, log: Logger, now: Monotonic) -> None:
        self._log = log
        self._port = port
        self._visitor = door.connect(self, port.address[0], now)

    def handle_event(self, event: Event, now: Monotonic) -> None:
        """Take one event of the session."""
        if isinstance(event, Message):
            self._visitor.message(event.opcode, event.payload, now)
        elif isinstance(event, Writable):
            self._visitor.drained(now)
        elif isinstance(event, SessionClosed):
            self._visitor.closed(event.reason, now)
            del self._visitor  # it holds us, too: a flood would outrun the collector

    def get_timer(self) -> Monotonic | None:
        """Return when the visitor wants its timer handled."""
        return self._visitor.get_timer()

    def handle_timer(self, now: Monotonic) -> None:
        """Let the visitor do what is due."""
        self._visitor.handle_timer(now)

    def held_bytes(self) -> int:
        """Return how many bytes of messages wait for their turn."""
        return 0

    def send(self, opcode: int, payload: bytes) -> None:
        """Send one application message."""
        self._port.session.send(opcode, payload)
        self._port.touch()

    def trust(self) -> None:
        """Lift the limits of a stranger."""
        self._port.session.trust()

    def close(self) -> None:
        """Close the session after what was sent has left."""
        self._port.session.close()
        self._port.touch()

    def room(self) -> int:
        """Return how many bytes may usefully be sent now."""
        return self._port.room()

    def round_trip(self) -> float | None:
        """Return the seconds that a datagram takes there and back; None while not measured."""
        return self._port.session.statistics().smoothed_round_trip

    def wake(self) -> None:
        """Have the timer asked for again."""
        self._port.touch()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine of the visitor; the session ends with what it raises."""
        run(work, self._failed)

    def _failed(self, failure: Failure) -> None:
        self._log.failure("serving a player failed; its session is closed", failure)
        self.close()


class WorldTimer:
    """Has the world's time handled when it asks for it."""

    __slots__ = ("_scheduler", "_ticks", "_timer", "service")

    def __init__(self, scheduler: Scheduler, ticks: Histogram | None = None) -> None:
        """Use a scheduler, and note in `ticks` how many seconds each time took."""
        self._scheduler = scheduler
        self._ticks = ticks
        self._timer = scheduler.timer(self)
        self.service: WorldService | None = None

    def handle_timer(self, now: Monotonic) -> None:
        """Let the world do what is due; called by the scheduler."""
        if self.service is not None:
            begun = self._scheduler.now()
            self.service.handle_timer(now)
            if self._ticks is not None:
                self._ticks.observe(self._scheduler.now() - begun)
            self.wake()

    def wake(self) -> None:
        """Ask the world when it wants its time handled."""
        if self.service is not None:
            self._scheduler.arm(self._timer, self.service.get_timer())

    def stop(self) -> None:
        """Ask no more."""
        self._scheduler.drop(self._timer)
        self.service = None


def report_to(log: Logger, refusals: RefusalLog) -> Callable[[DoorEvent], None]:
    """Return the door's `report` port; who is refused again and again is summed up."""

    def write(event: DoorEvent) -> None:
        if isinstance(event, Entered):
            log.info(
                "{name} came in from {address}, client {version}",
                name=event.name, address=event.address, version=event.version,
                account_id=event.account_id,
            )  # fmt: skip
        elif isinstance(event, TurnedAway):
            if refusals.is_news("visitors turned away", "", event.address, event.reason):
                log.info(
                    "{address} was turned away: {reason}",
                    address=event.address, reason=event.reason,
                )  # fmt: skip
        else:
            log.info(
                "{name} from {address} left: {reason}",
                name=event.name, address=event.address, reason=event.reason,
            )  # fmt: skip

    return write


def report_world(log: Logger) -> Callable[[WorldEvent], None]:
    """Return the world's `report` port: one line an event."""

    def write(event: WorldEvent) -> None:
        log.emit(
            LogLevel.levelWithName(event.level), "{line}", line=event.line,
            event=type(event).__name__,
        )  # fmt: skip

    return write
