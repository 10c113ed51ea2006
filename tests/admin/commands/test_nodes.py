"""What operators type about the nodes of a cluster."""

from __future__ import annotations

import pytest

from emu.admin.commands import nodes
from emu.cluster.memory import NodesInMemory
from emu.cluster.ports import LEASE, NodeAbout
from emu.commands import Caller, Registry, Reply
from emu.commands.registry import ADMINISTRATOR, GUIDE
from emu.times import Monotonic
from tests.support.coroutines import finish


class Bench:
    now = 1000.0

    def __init__(self) -> None:
        self.store = NodesInMemory(lambda: self.now)
        for name in ("east", "west"):
            finish(self.store.take_term(name, NodeAbout("192.0.2.1", 9001, "1.0", 100)))
        context = nodes.Nodes(self.store, "east", LEASE, lambda: ["east", "west"])
        self.registry = Registry(lambda _use: None)
        self.registry.extend(nodes.COMMANDS.commands(context))

    def types(self, line: str, rank: int = ADMINISTRATOR) -> Reply:
        return finish(self.registry.run(Caller("console", rank, "console"), line, Monotonic(0.0)))


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_nodes_are_listed_with_their_state(bench: Bench) -> None:
    bench.now += LEASE + 1
    finish(bench.store.take_term("west", NodeAbout("192.0.2.1", 9002, "1.0", 100)))
    reply = bench.types("nodes", GUIDE)
    assert [(row["node"], row["state"]) for row in reply.data] == [("east", "lost"), ("west", "up")]
    assert reply.lines[1].split() == ["west", "up", "0", "players", "of", "100,", "0", "zones"]


def test_a_node_is_drained_and_resumed(bench: Bench) -> None:
    assert "east sends its players" in bench.types("drain").text
    assert "west sends its players" in bench.types("drain west").text
    assert [row["state"] for row in bench.types("nodes").data] == ["draining", "draining"]
    assert "west gets zones and players again" in bench.types("resume west").text
    assert [row["state"] for row in bench.types("nodes").data] == ["draining", "up"]
    refused = bench.types("drain north")
    assert not refused.ok
    assert "there is no node north that lives" in refused.text


def test_a_guide_may_not_drain(bench: Bench) -> None:
    assert not bench.types("drain", GUIDE).ok
