"""What every bus of several processes must do when its broker or the wire to it fails.

An implementation's test class gives the fixtures `broker` and `nodes`.
"""

from __future__ import annotations

from typing import Protocol

import pytest
from twisted.internet.defer import Deferred

from emu.errors import Unanswered
from emu.processes.ports import Note
from tests.processes.contracts.cluster_bus import Words
from tests.support.cluster.joined import TIMES, Joined
from tests.support.patience import within
from tests.support.running.whole_server import until

REFUSED = 5.0
"""Seconds within which somebody learns that a message cannot be delivered."""
EQUAL = 5.0
"""Seconds after the broker's return within which all processes have the same state."""
SLOW = 0.2
"""Seconds by which a slow wire delays everything, in each direction."""


class Broker(Protocol):
    """A broker of the test's own."""

    def pause(self) -> None:
        """Let it stand still."""

    def resume(self) -> None:
        """Let it go on."""

    def kill(self) -> None:
        """Kill it."""

    def start(self) -> None:
        """Start it again."""


class _Pair:
    """Two processes, each with words, of which one answers questions."""

    def __init__(self, nodes: Joined) -> None:
        self.nodes = nodes
        self.west, self.east = Words(nodes.add("west")), Words(nodes.add("east"))
        self.asked: list[object] = []
        self.words = 0
        self.east.bus.answer("private", self._answer)

    async def _answer(self, note: Note) -> Note:
        self.asked.append(note["text"])
        return {"ok": True}

    @property
    def is_up(self) -> bool:
        """Whether both have a connection."""
        return self.west.bus.is_connected and self.east.bus.is_connected

    @property
    def is_down(self) -> bool:
        """Whether both know that they have none."""
        return not (self.west.bus.is_connected or self.east.bus.is_connected)

    def change(self) -> None:
        """Change the state of both."""
        self.words += 1
        self.west.add(f"w{self.words}")
        self.east.add(f"e{self.words}")

    def is_equal(self) -> bool:
        """Return whether each has what the other one has said."""
        numbers = range(1, self.words + 1)
        return self.west.of.get("east") == [f"e{n}" for n in numbers] and self.east.of.get(
            "west"
        ) == [f"w{n}" for n in numbers]

    async def begin(self) -> None:
        """Join both, and check that messages arrive."""
        await self.nodes.settle()
        self.change()
        await self.nodes.settle()
        assert self.is_equal()
        assert await self.west.bus.request("private", {"text": "before"}) == {"ok": True}

    async def is_refused(self, text: str) -> None:
        """Check that a question is refused in time."""
        with within(REFUSED), pytest.raises(Unanswered):
            await self.west.bus.request("private", {"text": text})

    async def comes_back(self) -> None:
        """Check that the state is repaired in time, and that messages arrive again."""
        await until(lambda: self.is_up and self.is_equal(), "equal states", EQUAL)
        await until(lambda: "private" in _topics(self), "an answerer", EQUAL)
        assert await self.west.bus.request("private", {"text": "after"}) == {"ok": True}
        assert self.asked == ["before", "after"], "what was refused is not carried out later"
        self.change()
        await self.nodes.settle()
        assert self.is_equal()
        assert self.nodes.errors == []


def _topics(pair: _Pair) -> set[str]:
    return {topic for peer in pair.west.bus._peers.values() for topic in peer.topics}


class BusFaultsContract:
    """Subclass it, with fixtures `broker` and `nodes`."""

    async def test_a_broker_that_stands_still(self, nodes: Joined, broker: Broker) -> None:
        pair = _Pair(nodes)
        await pair.begin()
        broker.pause()
        try:
            pair.change()
            await pair.is_refused("sent")
            await until(lambda: pair.is_down, "both have noticed", REFUSED)
            await pair.is_refused("not sent")
            pair.change()
            # The broker may still deliver what it was sent; by then nobody may act on it.
            await nodes.scheduler.pause(TIMES.patience)
        finally:
            broker.resume()
        await pair.comes_back()

    async def test_a_broker_that_is_killed_and_restarted(
        self, nodes: Joined, broker: Broker
    ) -> None:
        pair = _Pair(nodes)
        await pair.begin()
        broker.kill()
        question = Deferred.fromCoroutine(pair.is_refused("sent"))
        pair.change()
        await question
        await until(lambda: pair.is_down, "both have noticed", REFUSED)
        pair.change()
        await pair.is_refused("not sent")
        broker.start()
        await pair.comes_back()
        states = [node.transport.state for node in nodes.nodes.values()]
        assert all(state.counters["reconnects"] for state in states)
        assert all(state.counters["dropped"] for state in states)

    async def test_a_wire_that_loses_everything(self, nodes: Joined) -> None:
        pair = _Pair(nodes)
        await pair.begin()
        wire = nodes.relays["west"]
        wire.is_silent = True
        pair.change()
        await pair.is_refused("sent")
        await until(lambda: not pair.west.bus.is_connected, "it is noticed", REFUSED)
        assert pair.east.bus.is_connected
        pair.change()
        wire.is_silent = False
        await pair.comes_back()

    async def test_a_slow_wire(self, nodes: Joined) -> None:
        pair = _Pair(nodes)
        await pair.begin()
        for wire in nodes.relays.values():
            wire.delay = SLOW
        assert await pair.west.bus.request("private", {"text": "slow"}) == {"ok": True}
        states = [node.transport.state for node in nodes.nodes.values()]
        await until(lambda: all(one.delay >= SLOW for one in states), "the delay is measured", 6.0)
        pair.change()
        await until(pair.is_equal, "equal states", EQUAL)
        assert not any(one.counters["reconnects"] for one in states)
        assert not pair.east.bus.counters["gaps"]
