"""The broker of a simulated cluster: it loses, doubles and delays notes as its contract permits.

Messages of one subject to one process keep their order. A process that does not answer the
heartbeat, or whose broker is away, learns that it is disconnected, as NATS and PostgreSQL do.
"""

from __future__ import annotations

import random

from emu.net.bus.transport import BusReceiver, TransportState
from emu.net.scheduler import DelayedCall, Scheduler
from tests.simulation.virtual_time import SimulatedProcess, Timeline

LATEST = 0.05
"""Seconds that a message takes at most, without a fault."""


class Broker:
    """All transports of one cluster."""

    def __init__(self, timeline: Timeline, chance: random.Random) -> None:
        self.timeline = timeline
        self.chance = chance
        self.transports: list[SimulatedTransport] = []
        self.is_away = False
        self.cut_off: set[str] = set()
        """Processes that do not reach the broker."""
        self.loss = self.doubled = self.late = 0.0
        self.lost = 0

    def reaches(self, process: SimulatedProcess) -> bool:
        """Return whether a process reaches the broker."""
        return not self.is_away and process.name not in self.cut_off and not process.is_dead

    def carry(self, sender: SimulatedTransport, subject: str, data: bytes) -> None:
        """Bring a message to all who listen."""
        chance = self.chance.random
        for one in self.transports:
            if one is sender or not one.is_up or subject not in one.subjects:
                continue
            # A broker loses notes of a reader that is too slow, never questions without a notice.
            if self.loss and subject.startswith("note.") and chance() < self.loss:
                self.lost += 1
                continue
            copies = 2 if self.doubled and chance() < self.doubled else 1
            for _ in range(copies):
                delay = LATEST * chance() + (chance() * 2.0 if chance() < self.late else 0.0)
                # One connection keeps the order of what it carries.
                one.last_at = max(one.last_at, self.timeline.now + delay)
                self.timeline.note_bytes(b"b", data)
                self.timeline.call(
                    one.process, one.last_at - self.timeline.now, one.deliver, one.connection,
                    subject, data,
                )  # fmt: skip


class SimulatedTransport:
    """The connection of one process; a `BrokerTransport`."""

    def __init__(self, broker: Broker, process: SimulatedProcess, scheduler: Scheduler) -> None:
        self.receiver: BusReceiver
        self.state = TransportState("simulated")
        self.broker = broker
        self.process = process
        self.subjects: set[str] = set()
        self.is_up = False
        self.connection = 0
        self.last_at = 0.0
        self._scheduler = scheduler
        self._again: DelayedCall | None = None
        self._is_over = False
        broker.transports.append(self)

    def start(self) -> None:
        """Begin to connect; see `BrokerTransport`."""
        self._again = self._scheduler.later(0.0, self._look)

    async def stop(self) -> None:
        """Close the connection."""
        self._is_over = True
        self.is_up = False
        if self._again is not None:
            self._again.cancel()
        if self in self.broker.transports:
            self.broker.transports.remove(self)

    def send(self, subject: str, data: bytes) -> None:
        """Send a message, or drop it."""
        if self.is_up and self.broker.reaches(self.process):
            self.broker.carry(self, subject, data)
        else:
            self.state.dropped()

    def listen(self, subject: str) -> None:
        """Receive the messages of a subject."""
        self.subjects.add(subject)

    def ignore(self, subject: str) -> None:
        """Receive them no longer."""
        self.subjects.discard(subject)

    def deliver(self, connection: int, subject: str, data: bytes) -> None:
        """Pass on a message of the present connection."""
        if self.is_up and connection == self.connection:
            self.receiver.received(subject, data)

    def _look(self) -> None:
        if self._is_over:
            return
        reaches = self.broker.reaches(self.process)
        pause = 1.0
        if reaches and not self.is_up:
            self.is_up = True
            self.connection += 1
            self.state.connected()
            self.receiver.connected()
        elif not reaches and self.is_up:
            self.is_up = False
            pause = self.state.lost("the broker does not answer")
            self.receiver.disconnected()
        self._again = self._scheduler.later(pause, self._look)
