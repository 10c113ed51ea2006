"""The node of a process: its term, its beats, its drain, and what it logs."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from emu.cluster.memory import NodesInMemory
from emu.cluster.ports import NodeAbout, NodeState, ZonePlace
from emu.config import parse
from emu.errors import ConfigError, StoreError, Unanswered
from emu.metrics import MetricRegistry
from emu.model import SpawnMemory
from emu.net.cluster.node import (
    NodeMemories,
    NodePlacementFacts,
    NodeService,
    NoZones,
    machine_name,
    node_of,
)
from emu.net.scheduler import Scheduler
from emu.times import Moment
from emu.world.population.atlas import read_atlas
from emu.world.population.deaths import DeadSpawn
from tests.support.coroutines import finish
from tests.support.running.whole_server import captured_log
from tests.support.world.world_fakes import PlacementFactsInMemory


class Zones(NoZones):
    """The zones of a process with some players."""

    def __init__(self, players: int = 0) -> None:
        self.players = players
        self.drains: list[bool] = []

    def drain(self, *, is_draining: bool) -> None:
        self.drains.append(is_draining)


class Bench:
    """Nodes over one store, on one clock."""

    def __init__(self) -> None:
        self.clock: Any = Clock()
        self.clock.advance(1000.0)
        self.moment_ahead = 0.0
        self.scheduler = Scheduler(self.clock, moment=self.moment)
        self.store = NodesInMemory(self.clock.seconds)
        self.direct: Any = SimpleNamespace(world=SimpleNamespace(nodes=Blocking(self.store)))

    def moment(self) -> Moment:
        return Moment(self.clock.seconds() + self.moment_ahead)

    def node(
        self, *settings: str, port: int = 9001, world: bool = True, opened: bool = True
    ) -> NodeService:
        storage: Any = SimpleNamespace(nodes=self.store)
        atlas = read_atlas() if world else None
        made = NodeService(
            parse({}, [*settings]), storage, self.scheduler,
            address=lambda: ("192.0.2.1", port), atlas=lambda: atlas,
        )  # fmt: skip
        if opened:
            made.open(self.direct)
            made.start()
        return made

    def pass_time(self, seconds: float) -> None:
        for _ in range(round(seconds * 10)):
            self.clock.advance(0.1)

    def rows(self) -> dict[str, tuple[NodeAbout, str]]:
        return {row.name: (row.about, row.state.value) for row in finish(self.store.nodes())}


class Blocking:
    """The repository of nodes, as a start without a reactor uses it."""

    def __init__(self, store: NodesInMemory) -> None:
        self._store = store

    def nodes(self) -> Any:
        return finish(self._store.nodes())

    def moment(self) -> float:
        return finish(self._store.moment())

    def take_term(self, *values: Any) -> int:
        return finish(self._store.take_term(*values))


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_server_with_a_file_is_no_node() -> None:
    nothing: Any = None
    made = node_of(
        parse({}, []), nothing, nothing, nothing, nothing,
        address=lambda: None, atlas=lambda: None,
    )  # fmt: skip
    assert made is None


def test_a_node_reports_its_address_capacity_and_pinned_zones(bench: Bench) -> None:
    bench.node("node.name=east", "node.capacity=70", "node.zones=antonica")
    bench.node("node.name=login", world=False, port=9100)
    rows = bench.rows()
    east, login = rows["east"][0], rows["login"][0]
    assert (east.host, east.port, east.capacity, east.pinned) == ("192.0.2.1", 9001, 70, (12,))
    assert (login.port, login.capacity, login.pinned) == (9100, 0, ())


def test_an_unknown_pinned_zone_ends_the_start(bench: Bench) -> None:
    with pytest.raises(ConfigError, match=r"node\.zones: there is no zone atlantis"):
        bench.node("node.zones=atlantis")


def test_a_name_that_is_taken_ends_the_start(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.node("node.name=east")
    monkeypatch.setattr("emu.net.cluster.node.time.sleep", bench.pass_time)
    with pytest.raises(ConfigError, match=r"node\.name: a node east runs at 192\.0\.2\.1:9001"):
        bench.node("node.name=east", port=9002)


def test_a_killed_node_is_waited_for_unless_it_had_the_same_address(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        bench.pass_time(seconds)

    monkeypatch.setattr("emu.net.cluster.node.time.sleep", sleep)
    finish(bench.store.take_term("east", NodeAbout("192.0.2.1", 9001)))
    bench.node("node.name=east")
    assert waits == []
    finish(bench.store.take_term("west", NodeAbout("192.0.2.1", 9001)))
    bench.node("node.name=west", port=9002)
    assert 5.5 < sum(waits) < 6.5


def test_the_machine_s_name_is_the_default(bench: Bench) -> None:
    assert bench.node().name == machine_name()
    assert parse({}, [f"node.name={machine_name()}"]).node.name == machine_name()


def test_nodes_know_the_others_and_say_when_one_is_lost(bench: Bench) -> None:
    with captured_log("text") as log:
        east, west = bench.node("node.name=east"), bench.node("node.name=west", port=9002)
        bench.pass_time(3.0)
        assert east.others == {"west": {"host": "192.0.2.1", "port": 9002}}
        finish(west.stop())
        bench.pass_time(3.0)
        assert east.others == {}
        assert bench.rows()["west"][1] == "stopped"
        assert "node: west came" in log.text
        assert "node: west is gone" in log.text
    finish(east.stop())


def test_a_node_without_its_database_says_so_and_comes_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def beat(*_values: Any) -> None:
        raise StoreError("the database does not answer")

    with captured_log("text") as log:
        east = bench.node("node.name=east")
        bench.pass_time(1.0)
        with monkeypatch.context() as patch:
            patch.setattr(bench.store, "beat", beat)
            bench.pass_time(8.0)
        assert "(the database does not answer): other nodes may take" in log.text
        bench.pass_time(3.0)
        assert "node: back, term" in log.text
    finish(east.stop())


def test_a_stop_waits_until_its_players_have_gone(bench: Bench) -> None:
    east = bench.node("node.name=east", "node.drain_wait=60")
    bench.node("node.name=west", port=9002)
    zones = Zones(players=2)
    east.running = zones
    bench.pass_time(3.0)
    drain = Deferred.fromCoroutine(east.drain())
    bench.pass_time(1.0)
    assert zones.drains == [True]
    assert bench.rows()["east"][1] == "draining"
    assert not drain.called
    zones.players = 0
    bench.pass_time(0.2)
    assert drain.called


def test_a_drain_ends_after_its_time(bench: Bench) -> None:
    with captured_log("text") as log:
        east = bench.node("node.name=east", "node.drain_wait=2")
        bench.node("node.name=west", port=9002)
        east.running = Zones(players=2)
        bench.pass_time(3.0)
        drain = Deferred.fromCoroutine(east.drain())
        bench.pass_time(2.2)
        assert drain.called
        assert "2 players could not be sent in time" in log.text


@pytest.mark.parametrize("settings", [(), ("node.drain_wait=60",)])
def test_without_a_wait_or_another_node_a_stop_does_not_drain(
    bench: Bench, settings: tuple[str, ...]
) -> None:
    east = bench.node("node.name=east", *settings)
    bench.node("node.name=login", world=False, port=9100)
    east.running = zones = Zones(players=2)
    bench.pass_time(3.0)
    finish(east.drain())
    assert zones.drains == []


def test_a_drain_by_an_operator_is_learned_from_the_database(bench: Bench) -> None:
    east = bench.node("node.name=east")
    east.running = zones = Zones(players=2)
    bench.pass_time(1.0)
    finish(bench.store.set_state("east", NodeState.DRAINING))
    bench.pass_time(2.5)
    finish(bench.store.set_state("east", NodeState.UP))
    bench.pass_time(2.5)
    assert zones.drains == [True, False]


def memory(zone_id: int) -> SpawnMemory:
    return SpawnMemory(zone_id, "inn", 0, '{"a":1}', Moment(1.0))


def test_memories_are_stored_for_the_zones_that_the_node_holds(bench: Bench) -> None:
    stored: list[int] = []

    class Memories:
        async def of_zone(self, zone_id: int, _first: int, _most: int) -> Sequence[SpawnMemory]:
            return [memory(zone_id)]

        async def save_memories(self, memories: Sequence[SpawnMemory]) -> None:
            stored.extend(one.zone_id for one in memories)

    east = bench.node("node.name=east")
    memories = NodeMemories(Memories(), east.node, bench.scheduler)
    place = ZonePlace(12, 0, "east", east.node.term)
    assert finish(bench.store.claim(place, None))
    bench.pass_time(2.5)
    finish(memories.save_memories([memory(12), memory(33)]))
    finish(memories.save_memories([memory(33)]))
    assert stored == [12]
    assert finish(memories.of_zone(33, 0, 9)) == [memory(33)]
    finish(east.stop())
    bench.pass_time(6.0)
    with pytest.raises(StoreError, match="the database does not answer"):
        finish(memories.save_memories([memory(12)]))


def test_nodes_with_different_content_files_are_shown(bench: Bench) -> None:
    measures = MetricRegistry()
    east = bench.node("node.name=east", "node.capacity=100")
    east.measure(measures)
    west = bench.node("node.name=west", "node.capacity=100", port=9002)
    west.note_content("bbbb")
    east.note_content("bbbb")
    bench.pass_time(3.0)
    assert east.troubles() == []
    east.note_content("aaaa")
    bench.pass_time(3.0)
    assert east.troubles() == ["nodes serve different content files: aaaa (east), bbbb (west)"]
    found = {one.family.name: dict(one.values) for one in measures.read_samples()}
    assert next(value for name, value in found.items() if "node_contents" in name) == {(): 2}


def test_deaths_are_stored_for_the_zones_that_the_node_holds(bench: Bench) -> None:
    east, store = bench.node("node.name=east"), PlacementFactsInMemory()
    dead_spawns = NodePlacementFacts(store, east.node, bench.scheduler)
    assert finish(bench.store.claim(ZonePlace(12, 0, "east", east.node.term), None))
    bench.pass_time(2.5)
    here, there = DeadSpawn(12, 0, 1, None), DeadSpawn(33, 0, 1, None)
    finish(dead_spawns.save(DeadSpawn, [here, there], Moment(1.0)))
    finish(dead_spawns.save(DeadSpawn, [there], Moment(1.0)))
    assert finish(dead_spawns.of_zone(DeadSpawn, 12, 0, Moment(1.0))) == [here]
    assert store.saves == 1
    finish(dead_spawns.forget(DeadSpawn, 12, 0))
    assert store.rows == {}
    finish(east.stop())
    bench.pass_time(6.0)
    with pytest.raises(StoreError, match="the database does not answer"):
        finish(dead_spawns.save(DeadSpawn, [here], Moment(1.0)))


def test_a_node_is_measured(bench: Bench) -> None:
    measures = MetricRegistry()
    east = bench.node("node.name=east")
    east.measure(measures)
    bench.node("node.name=west", port=9002)
    bench.pass_time(3.0)
    finish(bench.store.set_state("west", NodeState.DRAINING))
    bench.pass_time(3.0)
    assert east.troubles() == ["node west is draining"]
    found = {one.family.name: dict(one.values) for one in measures.read_samples()}
    assert found["nodes"] == {("up",): 1, ("draining",): 1}
    assert (found["node_zones"], found["node_away"]) == ({(): 0}, {(): 0})
    assert [command.name for command in east.commands()] == ["nodes", "drain", "resume"]


def test_a_node_with_a_wrong_clock_takes_no_zones_and_says_so(bench: Bench) -> None:
    bench.moment_ahead = 3600.0
    measures = MetricRegistry()
    with captured_log("text") as log:
        east = bench.node("node.name=east", "node.capacity=100")
        east.measure(measures)
        assert "error node: this node takes no zones: its clock is 3600 s ahead" in log.text
        assert east.troubles() == [
            "node east takes no zones: its clock is 3600 s ahead of the database's"
        ]
        assert finish(bench.store.nodes())[0].about.clock_ahead == 3600.0
        found = {one.family.name: dict(one.values) for one in measures.read_samples()}
        assert found["node_clock_ahead_seconds"] == {(): 3600.0}
        with pytest.raises(Unanswered, match="no node of this world can run that zone"):
            finish(east.zone_servers.elsewhere(12))
        bench.moment_ahead = 0.0
        bench.pass_time(3.0)
        assert "this machine's clock is right again" in log.text
    assert east.troubles() == []
    assert finish(east.zone_servers.elsewhere(12)) is None
