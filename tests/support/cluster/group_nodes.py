"""Nodes with players and groups, over a broker in memory that may lose and delay messages."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Coroutine, Sequence
from functools import partial
from itertools import count
from typing import Any

from twisted.internet.defer import Deferred

from emu.errors import CommandError
from emu.model import Present
from emu.processes.exchange import BusTimes, Exchange
from emu.processes.ports import Bus
from emu.processes.presence import SharedPresence
from emu.processes.tables import DIGEST
from emu.times import Clock
from emu.world.groups.changes import GroupAction, GroupOutcome
from emu.world.groups.groups import GroupRow, Groups
from emu.world.groups.shared import SharedGroups
from tests.support.cluster.brokers import MemoryBroker, MemoryCluster, start
from tests.support.times import timetable

_runs = count(1)


class GroupNode:
    """The groups of one node, and what its players were shown."""

    def __init__(self, bus: Bus, name: str, clock: Clock) -> None:
        self.name = name
        self.run = next(_runs)
        self.counts: Counter[str] = Counter()
        self.inside: set[int] = set()
        self.shown: list[tuple[list[int], list[int]]] = []
        self.left: list[tuple[str, list[int]]] = []
        self.failed: list[str] = []
        self.reported: list[str] = []
        self.presence = SharedPresence(bus, name, clock.moment, spawn=start, run=self.run)
        self.groups = Groups()
        self.changes = SharedGroups(
            self.groups, self.presence, clock, timetable(), bus=bus, process=name, run=self.run,
            start=start, count=partial(_add, self.counts), report=self.reported.append,
        )  # fmt: skip
        self.changes.changed = lambda before, after: self.shown.append((list(before), list(after)))
        self.changes.left = lambda name, members: self.left.append((name, list(members)))

    @property
    def rows(self) -> list[GroupRow]:
        """All groups, without the numbers that raids have."""
        return sorted(group.row for group in self.groups)

    @property
    def members(self) -> list[list[int]]:
        return [list(row.members) for row in self.rows]

    def enters(self, char_id: int, zone_id: int = 12) -> None:
        """Let a player in, also one that comes from another node."""
        self.inside.add(char_id)
        one = Present(100 + char_id, char_id, zone_id, name=f"Name{char_id}", level=char_id)
        self.presence.entered(one, partial(self.inside.discard, char_id))

    def goes(self, char_id: int) -> None:
        """Send a player to another node."""
        self.inside.discard(char_id)
        self.presence.left(char_id)

    def leaves(self, char_id: int) -> None:
        """Let a player leave the world."""
        self.changes.forget(char_id, f"Name{char_id}")
        self.goes(char_id)

    def asks(self, action: GroupAction, by: int, to: int = 0) -> list[GroupOutcome]:
        """Make a change; the list has its outcome as soon as there is one."""
        found: list[GroupOutcome] = []

        async def ask() -> None:
            try:
                found.append(await self.changes.make(action, by, to))
            except CommandError as error:
                self.failed.append(str(error))

        run(ask())
        return found

    def joins(self, guest: int, leader: int) -> None:
        """Let a leader and a guest who are both here form a group, or make it larger."""
        self.asks(GroupAction.INVITE, leader, guest)
        self.asks(GroupAction.ACCEPT, guest)


def _add(counts: Counter[str], reason: str) -> None:
    counts[reason] += 1


def run(work: Coroutine[Any, Any, None]) -> None:
    Deferred.fromCoroutine(work)


class ShuffledBroker(MemoryBroker):
    """Delivers what several processes have sent in any order, and that of one in its order."""

    chance = random.Random(1)

    def deliver(self) -> None:
        if not self._is_delivering and not self.is_held and len(self.queue) > 1:
            waiting = list(self.queue)
            senders = [sender for sender, _, _ in waiting]
            self.chance.shuffle(senders)
            of = {sender: iter([one for one in waiting if one[0] is sender]) for sender in senders}
            self.queue.clear()
            self.queue.extend(next(of[sender]) for sender in senders)
        super().deliver()


class GroupNodes:
    """Several nodes; `cluster` has their buses and the time."""

    def __init__(self, names: Sequence[str], times: BusTimes | None = None) -> None:
        self.cluster = MemoryCluster(times)
        self.cluster.broker = ShuffledBroker()
        self.nodes: dict[str, GroupNode] = {}
        self.time = 0
        for name in names:
            self.add(name)

    def __getitem__(self, name: str) -> GroupNode:
        return self.nodes[name]

    @property
    def buses(self) -> dict[str, Exchange]:
        return self.cluster.buses

    def add(self, name: str) -> GroupNode:
        """Start a node, or start it again."""
        bus = self.cluster.add(name)
        made = self.nodes[name] = GroupNode(bus, name, self.cluster.clock)
        return made

    def kill(self, name: str) -> None:
        """End a node without a word."""
        self.cluster.kill(name)
        del self.nodes[name]

    def stop(self, name: str) -> None:
        """End a node in order."""
        self.nodes[name].changes.stop()
        self.buses[name].stop()
        self.kill(name)

    def pass_time(self, seconds: int) -> None:
        """Let whole seconds pass."""
        for _ in range(seconds):
            self.cluster.run(1.0)
            self.time += 1
            for node in list(self.nodes.values()):
                node.changes.tick()
                if self.time % round(DIGEST) == 0:
                    node.presence.tick()
                    node.changes.publish_digest()

    def lose(self, share: float, chance: random.Random) -> None:
        """Lose a share of all messages from now on."""
        for transport in self.cluster.transports.values():
            transport.lose = lambda _subject: chance.random() < share
