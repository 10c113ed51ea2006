"""Joins players' clients to UDP sessions of the world's port, and the world's events to the log.

Owns nothing but the wiring; order and meaning of messages are `emu.world`'s.
"""

from __future__ import annotations

from collections.abc import Callable

from twisted.logger import Logger, LogLevel

from emu.measures import Histogram
from emu.net.refusals import RefusalLog
from emu.net.scheduler import Scheduler
from emu.net.udp.dispatcher import SessionPort
from emu.net.udp.session_link import SessionLink
from emu.session import Event, Message, SessionClosed, Writable
from emu.times import Monotonic
from emu.world.door.entry import Door, DoorEvent, Entered, TurnedAway
from emu.world.events import PlayerRefused, WorldEvent
from emu.world.service import WorldService


class VisitorHandler:
    """One session of the world port, as the dispatcher knows it."""

    __slots__ = ("_visitor",)

    def __init__(self, port: SessionPort, door: Door, log: Logger, now: Monotonic) -> None:
        link = SessionLink(port, log, "serving a player failed; its session is closed")
        self._visitor = door.connect(link, port.address[0], now)

    def handle_event(self, event: Event, now: Monotonic) -> None:
        """Take one event of the session."""
        if isinstance(event, Message):
            self._visitor.message(event.opcode, event.payload, now)
        elif isinstance(event, Writable):
            self._visitor.drained(now)
        elif isinstance(event, SessionClosed):
            self._visitor.closed(event.reason, now)
            del self._visitor  # its link holds us: a flood would outrun the collector

    def get_timer(self) -> Monotonic | None:
        """Return when the visitor wants its timer handled."""
        return self._visitor.get_timer()

    def handle_timer(self, now: Monotonic) -> None:
        """Let the visitor do what is due."""
        self._visitor.handle_timer(now)

    def held_bytes(self) -> int:
        """Return how many bytes of messages wait for their turn."""
        return 0


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


def report_world(log: Logger, refusals: RefusalLog) -> Callable[[WorldEvent], None]:
    """Return the world's `report` port: one line an event; what is refused again is summed up."""

    def write(event: WorldEvent) -> None:
        if isinstance(event, PlayerRefused) and not refusals.is_news(
            "refusals", event.name, event.address, event.reason
        ):
            return
        log.emit(
            LogLevel.levelWithName(event.level), "{line}", line=event.line,
            event=type(event).__name__,
        )  # fmt: skip

    return write
