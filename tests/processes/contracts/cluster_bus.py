"""What every bus of several processes must do when connections break and notes are lost.

An implementation's test class gives a fixture `nodes`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine
from typing import Any, Protocol

import pytest
from twisted.internet.defer import Deferred

from emu.errors import Unanswered
from emu.processes.exchange import Exchange
from emu.processes.ports import CAME, GONE, LOST, Bus, Note
from emu.processes.tables import SharedTable


class Nodes(Protocol):
    """Processes on one broker, each with a connection of its own."""

    def add(self, name: str) -> Exchange:
        """Return the bus of one more process; it connects."""

    def settle(self) -> Awaitable[None]:
        """Wait until every connected process has what was sent."""

    def cut(self, name: str) -> Awaitable[None]:
        """Break the connection of a process, and wait until it has noticed."""

    def restore(self, name: str) -> Awaitable[None]:
        """Let a process connect again, and wait until it has."""

    def leave(self, name: str) -> Awaitable[None]:
        """End a process in order."""

    def kill(self, name: str) -> Awaitable[None]:
        """End a process without a word."""

    def pass_silence(self) -> Awaitable[None]:
        """Wait for as long as a process may be silent."""


def spawn(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine whose result nobody awaits."""
    Deferred.fromCoroutine(work)


class Words:
    """A state of which each process has a copy: words, as the simplest one."""

    def __init__(self, bus: Exchange) -> None:
        self.bus = bus
        self.of: dict[str, list[str]] = {}
        self.asked = 0
        self.table: SharedTable[str] = SharedTable(
            bus, "words", bus.process, run=id(self), read=lambda values: str(values["word"]),
            changed=self._changed, spawn=self._spawn,
        )  # fmt: skip

    def add(self, word: str) -> None:
        self.table.put(len(self.table.own.rows) + 1, {"word": word})

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self.asked += 1
        spawn(work)

    def _changed(self, process: str, key: int, word: str | None) -> None:
        words = self.of.setdefault(process, [])
        if word is None:
            del words[-1]
        elif key > len(words):
            words.append(word)


def noted(bus: Bus) -> list[tuple[str, object]]:
    """Return a list that gets every process that comes and goes."""
    found: list[tuple[str, object]] = []
    bus.subscribe(CAME, lambda note: found.append(("came", note["process"])))
    bus.subscribe(GONE, lambda note: found.append(("gone", note["process"])))
    return found


class ClusterBusContract:
    """Subclass it, with a fixture `nodes`."""

    async def test_processes_know_each_other(self, nodes: Nodes) -> None:
        west, east = nodes.add("west"), nodes.add("east")
        late = nodes.add("north")
        await nodes.settle()
        assert west.others.keys() == {"east", "north"}
        assert east.others.keys() == {"west", "north"}
        assert late.others.keys() == {"west", "east"}
        assert late.others["west"]["host"] == "west.test"
        before = noted(west)
        await nodes.leave("north")
        await nodes.settle()
        assert before == [("gone", "north")]
        assert west.others.keys() == {"east"}

    async def test_a_channel_is_heard_while_it_is_subscribed_to(self, nodes: Nodes) -> None:
        west, east = nodes.add("west"), nodes.add("east")
        await nodes.settle()
        topic = "channel.0123456789abcdef0123456789abcdef"
        found: list[Note] = []
        lost: list[Note] = []
        east.subscribe(LOST, lost.append)
        for number in range(2):
            subscription = east.subscribe(topic, found.append)
            await nodes.settle()
            west.publish(topic, {"number": number})
            await nodes.settle()
            subscription.cancel()
            await nodes.settle()
            west.publish(topic, {"number": -1})
            await nodes.settle()
        assert found == [{"number": 0}, {"number": 1}]
        assert lost == [], "what was not subscribed to is not missed"

    async def test_a_process_that_begins_late_gets_the_state(self, nodes: Nodes) -> None:
        west, east = (Words(nodes.add(name)) for name in ("west", "east"))
        await nodes.settle()
        for word in ("rain", "wind"):
            west.add(word)
        await nodes.settle()
        assert east.of == {"west": ["rain", "wind"]}
        late = Words(nodes.add("north"))
        await nodes.settle()
        assert late.of == {"west": ["rain", "wind"]}

    async def test_what_was_lost_without_a_connection_is_repaired(self, nodes: Nodes) -> None:
        west, east, north = (Words(nodes.add(name)) for name in ("west", "east", "north"))
        await nodes.settle()
        west.add("rain")
        await nodes.settle()
        await nodes.cut("east")
        west.add("wind")
        east.add("snow")
        await nodes.settle()
        assert east.of["west"] == ["rain"], "nothing reaches it"
        await nodes.restore("east")
        # A repair asks again when an answer is late, as on a loaded machine.
        for _ in range(5):
            await nodes.settle()
            if east.of["west"] == ["rain", "wind"]:
                break
        for words in (east, north):
            assert words.of["west"] == ["rain", "wind"]
        for words in (west, north):
            assert words.of["east"] == ["snow"]
        asked = east.asked
        west.add("hail")
        await nodes.settle()
        assert east.of["west"] == ["rain", "wind", "hail"]
        assert east.asked == asked

    async def test_a_digest_shows_what_was_lost_without_a_trace(self, nodes: Nodes) -> None:
        west, east = (Words(nodes.add(name)) for name in ("west", "east"))
        await nodes.settle()
        west.table.own.change(1, {"word": "rain"})
        await nodes.settle()
        assert east.of.get("west", []) == []
        west.table.tick()
        await nodes.settle()
        assert east.of["west"] == ["rain"]

    async def test_a_question_whose_connection_is_lost_fails_at_once(self, nodes: Nodes) -> None:
        west, east = nodes.add("west"), nodes.add("east")

        async def never(_note: Note) -> Note:
            waiting: Deferred[Note] = Deferred()
            return await waiting

        east.answer("secret", never)
        await nodes.settle()
        question = Deferred.fromCoroutine(west.request("secret", {}))
        await nodes.cut("west")
        with pytest.raises(Unanswered, match="the connection to the bus is lost"):
            await question
        with pytest.raises(Unanswered, match="the bus cannot be reached now"):
            await west.request("secret", {})
        await nodes.restore("west")
        await nodes.settle()
        question = Deferred.fromCoroutine(west.request("secret", {}))
        await nodes.kill("east")
        with pytest.raises(Unanswered, match=r"east is gone|no answer about secret"):
            await question

    async def test_a_process_that_dies_is_gone_and_comes_again(self, nodes: Nodes) -> None:
        west, east = Words(nodes.add("west")), Words(nodes.add("east"))
        await nodes.settle()
        east.add("rain")
        await nodes.settle()
        seen = noted(west.bus)
        await nodes.kill("east")
        await nodes.pass_silence()
        assert seen == [("gone", "east")]
        assert west.of == {"east": []}
        again = Words(nodes.add("east"))
        await nodes.settle()
        assert seen == [("gone", "east"), ("came", "east")]
        again.add("snow")
        await nodes.settle()
        assert west.of["east"] == ["snow"]

    async def test_only_those_without_a_connection_keep_the_dead(self, nodes: Nodes) -> None:
        west = nodes.add("west")
        nodes.add("east")
        await nodes.settle()
        seen = noted(west)
        await nodes.cut("west")
        await nodes.kill("east")
        assert west.others.keys() == {"east"}, "it cannot know"
        await nodes.restore("west")
        await nodes.pass_silence()
        assert seen == [("gone", "east")]
        assert west.others == {}

    async def test_a_large_note_arrives(self, nodes: Nodes) -> None:
        west, east = nodes.add("west"), nodes.add("east")
        heard: list[Note] = []
        east.subscribe("large", heard.append)
        await nodes.settle()
        text = "\N{SNOWMAN}'\\\"\n" * 12_000
        west.publish("large", {"text": text, "raw": bytes(range(256)) * 40})
        west.publish("large", {"text": "last"})
        await nodes.settle()
        assert [note["text"] for note in heard] == [text, "last"]
        assert heard[0]["raw"] == bytes(range(256)) * 40

    async def test_many_notes_arrive_in_order(self, nodes: Nodes) -> None:
        west, east = nodes.add("west"), nodes.add("east")
        heard: list[object] = []
        for topic in ("odd", "even"):
            east.subscribe(topic, lambda note: heard.append(note["n"]))
        await nodes.settle()
        for n in range(2000):
            west.publish("odd" if n % 2 else "even", {"n": n, "same": "x" * (n % 300)})
        await nodes.settle()
        assert heard == list(range(2000))
        assert not east.counters["gaps"]
