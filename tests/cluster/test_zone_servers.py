"""Which node a player is sent to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import pytest

from emu.cluster.ports import NodeState, ZonePlace, ZonePlacement
from emu.cluster.zone_servers import TRIES, ClusterZones
from emu.errors import Unanswered
from emu.processes.bus import LocalBus
from emu.processes.ports import Note, ZoneAddress, ZoneServers
from emu.times import Moment, Monotonic
from tests.cluster.test_node import Cluster, Process


class Clock:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def now(self) -> Monotonic:
        return self._cluster.store.now

    def moment(self) -> Moment:
        return Moment(0.0)


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def zones_of(cluster: Cluster, process: Process) -> ZoneServers:
    return ClusterZones(process.node, Clock(cluster))


async def test_all_nodes_agree_where_a_zone_is(cluster: Cluster) -> None:
    processes = [await cluster.add(name) for name in ("east", "north", "west")]
    zones = [zones_of(cluster, one) for one in processes]
    for zone_id in (12, 33, 325):
        found = [await one.elsewhere(zone_id) for one in zones]
        (here,) = [index for index, address in enumerate(found) if address is None]
        name = processes[here].node.name
        assert found.count(ZoneAddress(name, f"{name}.example", 9001, 0)) == 2
        assert [one.serves(zone_id) for one in zones] == [n == here for n in range(3)]
        assert list(zones[here].instances(zone_id) or ()) == [0]
    servers = await zones[0].servers()
    assert sorted(servers) == [12, 33, 325]
    assert all(len(names) == 1 for names in servers.values())


async def test_a_lost_node_s_zones_go_to_another_after_its_lease(cluster: Cluster) -> None:
    east, west = await cluster.add("east"), await cluster.add("west")
    zones = zones_of(cluster, west)
    await east.holds(12)
    east.is_stopped = True
    await cluster.run(4.0)
    assert await zones.elsewhere(12) == ZoneAddress("east", "east.example", 9001)
    await cluster.run(3.0)
    assert await zones.elsewhere(12) is None
    assert zones.serves(12)


async def test_a_full_zone_has_its_next_instance_where_the_load_is_least(
    cluster: Cluster,
) -> None:
    east, west = await cluster.add("east"), await cluster.add("west")
    await cluster.run(0.5)
    await east.holds(12)
    east.full.add((12, 0))
    east.players = 50
    await cluster.run(2.5)
    assert await zones_of(cluster, east).elsewhere(12) == ZoneAddress(
        "west", "west.example", 9001, 1
    )
    assert await zones_of(cluster, west).elsewhere(12) is None
    assert zones_of(cluster, west).instances(12) == [1]


async def test_players_of_a_drained_node_are_sent_elsewhere(cluster: Cluster) -> None:
    east, west = await cluster.add("east"), await cluster.add("west")
    await cluster.run(0.5)
    await east.holds(12)
    await cluster.store.set_state("east", NodeState.DRAINING)
    await cluster.run(2.5)
    assert await zones_of(cluster, east).elsewhere(12) == ZoneAddress("west", "west.example", 9001)
    assert await zones_of(cluster, west).elsewhere(12) is None


async def test_a_drained_node_without_another_keeps_its_zones(cluster: Cluster) -> None:
    east = await cluster.add("east")
    await cluster.run(0.5)
    await east.holds(12)
    await cluster.store.set_state("east", NodeState.DRAINING)
    await cluster.run(2.5)
    assert await zones_of(cluster, east).elsewhere(12) is None


async def test_without_a_node_for_zones_the_reason_is_one_line(cluster: Cluster) -> None:
    login = cluster.processes["login"] = Process(cluster.store, "login", capacity=0)
    await login.node.start(cluster.store.now)
    with pytest.raises(Unanswered, match="no node of this world can run that zone"):
        await zones_of(cluster, login).elsewhere(12)


async def test_nodes_that_place_the_same_zone_forever_give_up(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    east = await cluster.add("east")
    tries: list[ZonePlace] = []

    async def claim(place: ZonePlace, instead_of: ZonePlace | None) -> bool:
        assert instead_of is None
        tries.append(place)
        return False

    monkeypatch.setattr(cluster.store, "claim", claim)
    with pytest.raises(Unanswered, match="try again"):
        await zones_of(cluster, east).elsewhere(12)
    assert len(tries) == TRIES


async def test_what_a_node_certainly_holds_needs_no_question(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    east = await cluster.add("east")
    await east.holds(12)

    async def placement(_zone_id: int) -> ZonePlacement:
        raise AssertionError("the database was asked")

    monkeypatch.setattr(cluster.store, "placement", placement)
    assert await zones_of(cluster, east).elsewhere(12) is None


async def test_players_of_a_moved_instance_follow_it_while_another_one_stays(
    cluster: Cluster,
) -> None:
    east, west = await cluster.add("east"), await cluster.add("west")
    await cluster.run(1.0)
    await east.holds(12)
    await east.holds(12, 1)
    before = (await cluster.store.placement(12)).places[1]
    assert await cluster.store.claim(ZonePlace(12, 1, "west", west.node.term), before)
    here, there = zones_of(cluster, east), zones_of(cluster, west)
    assert await here.elsewhere(12, 1) == ZoneAddress("west", "west.example", 9001, 1)
    assert await here.elsewhere(12) is None, "instance 0 is here"
    # Also before the beat by which it learns that.
    assert await there.elsewhere(12) is None
    assert list(there.instances(12) or ()) == [1]


async def test_an_instance_that_nobody_holds_is_any_one(cluster: Cluster) -> None:
    east, west = await cluster.add("east"), await cluster.add("west")
    await east.holds(12)
    assert await zones_of(cluster, west).elsewhere(12, 7) == ZoneAddress(
        "east", "east.example", 9001
    )


def joined(
    cluster: Cluster, process: Process, bus: LocalBus, reached: Collection[str] = ("east", "west")
) -> ClusterZones:
    """Return the zones of a node that is on a bus; its pauses let time pass."""
    zones = ClusterZones(process.node, Clock(cluster))
    zones.join(bus, reached, cluster.run)
    return zones


def raised(error: Exception) -> None:
    raise error


async def test_the_address_of_a_node_that_answers_is_given_at_once(cluster: Cluster) -> None:
    bus = LocalBus(raised)
    east, west = await cluster.add("east"), await cluster.add("west")
    joined(cluster, east, bus)
    zones = joined(cluster, west, bus)
    await east.holds(12)
    before = cluster.store.now
    assert await zones.elsewhere(12) == ZoneAddress("east", "east.example", 9001)
    assert cluster.store.now == before


async def test_a_dead_node_s_address_is_not_given(cluster: Cluster) -> None:
    east, west = await cluster.add("east"), await cluster.add("west")
    zones = joined(cluster, west, LocalBus(raised))
    await cluster.run(2.1)
    await east.holds(12)
    east.is_stopped = True
    before = cluster.store.now
    # The player is held until the lease has ended; then the zone has its home here.
    assert await zones.elsewhere(12) is None
    assert zones.serves(12)
    assert 4.0 < cluster.store.now - before < 7.0


async def test_a_question_that_takes_seconds_proves_no_life(cluster: Cluster) -> None:
    class SlowBus(LocalBus):
        async def request(self, topic: str, note: Note) -> Note:
            await cluster.run(4.0)
            return await super().request(topic, note)

    east, west = await cluster.add("east"), await cluster.add("west")
    bus = SlowBus(raised)
    joined(cluster, east, bus)
    zones = joined(cluster, west, bus)
    await cluster.run(2.1)
    await east.holds(12)
    assert await zones.elsewhere(12) is not None, "the node that is asked first from now on"
    bus._answers.clear()
    east.is_stopped = True
    before = cluster.store.now
    assert await zones.elsewhere(12) is None
    assert cluster.store.now - before < 7.0, "asked once"


async def test_a_node_that_lives_and_does_not_answer_is_refused_to_nobody(cluster: Cluster) -> None:
    east, west = await cluster.add("east"), await cluster.add("west")
    zones = joined(cluster, west, LocalBus(raised))
    await east.holds(12)
    for _ in range(5):
        before = cluster.store.now
        assert await zones.elsewhere(12) == ZoneAddress("east", "east.example", 9001)
        # Its next beat proves that it lives.
        assert cluster.store.now - before < 3.0
        await cluster.run(0.4)


@pytest.mark.parametrize("why", ["on another bus", "of another version", "without the bus"])
async def test_a_node_that_cannot_be_asked_is_judged_by_its_beats(
    cluster: Cluster, why: str
) -> None:
    bus = LocalBus(raised)
    east, west = await cluster.add("east"), await cluster.add("west")
    zones = joined(cluster, west, bus, reached=() if why == "on another bus" else ("east",))
    if why == "without the bus":
        bus.is_connected = False
    if why == "of another version":
        about = replace(east.node.about(), version="0.9")
        east.node.term = await cluster.store.take_term("east", about)
    await east.holds(12)
    await cluster.run(2.1)
    before = cluster.store.now
    assert await zones.elsewhere(12) == ZoneAddress("east", "east.example", 9001)
    assert cluster.store.now == before, "its beats are in time"
    east.is_stopped = True
    await cluster.run(3.5)
    assert await zones.elsewhere(12) is None, "held until the lease has ended"
    assert cluster.store.now - before > 4.0


async def test_a_node_that_is_started_again_ends_the_wait(cluster: Cluster) -> None:
    east, west = await cluster.add("east"), await cluster.add("west")
    zones = ClusterZones(west.node, Clock(cluster))
    await east.holds(12)
    east.is_stopped = True

    async def restart(seconds: float) -> None:
        await cluster.run(seconds)
        if east.is_stopped:
            east.is_stopped = False
            await east.node.start(cluster.store.now)

    zones.join(LocalBus(raised), ("east",), restart)
    before = cluster.store.now
    await zones.elsewhere(12)
    assert cluster.store.now - before < 2.0, "its new term holds nothing, so the zone is placed"


async def test_the_node_of_a_zone_is_asked_while_the_database_is(cluster: Cluster) -> None:
    order: list[str] = []

    class NotingBus(LocalBus):
        async def request(self, topic: str, note: Note) -> Note:
            order.append(topic)
            return await super().request(topic, note)

    bus = NotingBus(raised)
    east, west = await cluster.add("east"), await cluster.add("west")
    joined(cluster, east, bus)
    zones = joined(cluster, west, bus)
    await east.holds(12)
    there, placement = ZoneAddress("east", "east.example", 9001), cluster.store.placement

    async def noted(zone_id: int) -> ZonePlacement:
        order.append("begin")
        found = await placement(zone_id)
        order.append("end")
        return found

    cluster.store.placement = noted
    assert await zones.elsewhere(12) == there
    assert order == ["begin", "end", "node.there.east"], "nobody knows which node to ask"
    order.clear()
    assert await zones.elsewhere(12) == there
    assert sorted(order) == ["begin", "end", "node.there.east"], "asked once"
