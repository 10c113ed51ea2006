"""A bus between simulated processes that loses notes; a test delivers them."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Awaitable, Callable
from typing import NoReturn

from emu.errors import Unanswered
from emu.processes.bus import LocalBus, LocalSubscription
from emu.processes.ports import Note


def _failed(error: Exception) -> NoReturn:
    raise error


class Network:
    """The buses of some processes. Notes wait until `deliver`; questions are answered at once."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.loses = 0.0
        """The share of notes, questions and answers that are lost."""
        self.cut: set[str] = set()
        """Processes that reach nobody."""
        self.buses: dict[str, LossyBus] = {}
        self._waiting: dict[tuple[str, str], deque[tuple[str, Note]]] = {}
        """Notes from one process to another, in their order."""

    def bus(self, name: str) -> LossyBus:
        """Return the bus of a process that begins; an earlier one of its name is gone."""
        made = self.buses[name] = LossyBus(self, name)
        for pair in list(self._waiting):
            if name in pair:
                del self._waiting[pair]
        return made

    def published(self, sender: str, topic: str, note: Note) -> None:
        """Keep a note for each other process that gets it."""
        for name in self.buses:
            if name != sender and not self.is_lost(sender, name):
                self._waiting.setdefault((sender, name), deque()).append((topic, dict(note)))

    def is_lost(self, sender: str, receiver: str) -> bool:
        """Return whether the next note between two processes is lost."""
        return bool({sender, receiver} & self.cut) or self.chance.random() < self.loses

    def deliver(self) -> None:
        """Deliver what waits, and what is published meanwhile: of each sender in its order."""
        while pairs := [pair for pair, notes in self._waiting.items() if notes]:
            pair = self.chance.choice(pairs)
            topic, note = self._waiting[pair].popleft()
            self.buses[pair[1]].local.publish(topic, note)


class LossyBus:
    """`Bus` of one process of a `Network`."""

    def __init__(self, network: Network, name: str) -> None:
        self.local = LocalBus(_failed)
        self._network = network
        self._name = name

    @property
    def is_connected(self) -> bool:
        """Whether other processes can be reached."""
        return self._name not in self._network.cut

    def publish(self, topic: str, note: Note) -> None:
        """Deliver a note here at once, and to the others later unless it is lost."""
        self._network.published(self._name, topic, note)
        self.local.publish(topic, note)

    def subscribe(self, topic: str, hear: Callable[[Note], None]) -> LocalSubscription:
        """Call `hear` with each note of a topic."""
        return self.local.subscribe(topic, hear)

    def answer(self, topic: str, answer: Callable[[Note], Awaitable[Note]]) -> LocalSubscription:
        """Answer the questions of a topic."""
        return self.local.answer(topic, answer)

    async def request(self, topic: str, note: Note) -> Note:
        """Send a question to the process that answers it. Raises `Unanswered`."""
        for name, other in self._network.buses.items():
            if other.local.answers(topic) and not self._network.is_lost(self._name, name):
                answer = await other.local.request(topic, note)
                # The answer may be lost, too.
                if not self._network.is_lost(name, self._name):
                    return answer
        raise Unanswered(f"no process answers {topic}")
