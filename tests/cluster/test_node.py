"""One node: beats, being away, leases, and what it holds."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from emu.cluster.memory import NodesInMemory
from emu.cluster.node import (
    UNUSED,
    ClockChanged,
    LeaseMoved,
    Node,
    NodeAway,
    NodeEvent,
    NodeReturned,
    OtherNode,
    StateChanged,
)
from emu.cluster.ports import Beat, NodeAbout, NodeState, ZonePlace
from emu.errors import StoreError
from emu.times import Monotonic


class Store(NodesInMemory):
    """A store that may be out of reach; nodes may be cut off from it one by one."""

    def __init__(self) -> None:
        self.now = Monotonic(1000.0)
        super().__init__(lambda: self.now + 1_700_000_000)
        self.cut_off: set[str] = set()
        self.lost_beats = 0
        """Beats that the store still refuses: the term has ended meanwhile."""
        self.lost_claims = 0

    async def beat(self, name: str, term: int, players: int, lease: float) -> Beat | None:
        if name in self.cut_off:
            raise StoreError("the database does not answer")
        if self.lost_beats:
            self.lost_beats -= 1
            return None
        return await super().beat(name, term, players, lease)

    async def claim(self, place: ZonePlace, instead_of: ZonePlace | None) -> bool:
        if self.lost_claims:
            self.lost_claims -= 1
            raise StoreError("the answer was lost")
        return await super().claim(place, instead_of)


class Process:
    """A node with the zones that its process would run."""

    def __init__(self, store: Store, name: str, *, capacity: int = 100) -> None:
        self.store = store
        self.events: list[NodeEvent] = []
        self.players = 0
        self.running: set[tuple[int, int]] = set()
        self.full: set[tuple[int, int]] = set()
        self.gone: list[ZonePlace] = []
        self.is_stopped = False
        self.works: list[str] = []
        self.node = Node(
            name, store, about=lambda: NodeAbout(f"{name}.example", 9001, "1.0", capacity),
            zones=self, report=self.events.append,
        )  # fmt: skip

    def runs(self, place: ZonePlace) -> bool:
        return (place.zone_id, place.instance) in self.running

    def is_full(self, place: ZonePlace) -> bool:
        return (place.zone_id, place.instance) in self.full

    def moved(self, places: Sequence[ZonePlace]) -> None:
        self.gone += places

    def want(self, name: str) -> None:
        self.node.want(
            name, lambda: self.works.append(f"begin {name}"), lambda: self.works.append("end")
        )

    async def holds(self, zone_id: int, instance: int = 0) -> None:
        place = ZonePlace(zone_id, instance, self.node.name, self.node.term)
        assert await self.store.claim(place, None)
        self.node.hold(place, self.store.now)
        self.running.add((zone_id, instance))


class Cluster:
    """Several nodes in virtual time."""

    def __init__(self) -> None:
        self.store = Store()
        self.processes: dict[str, Process] = {}

    async def add(self, name: str) -> Process:
        process = self.processes[name] = Process(self.store, name)
        await process.node.start(self.store.now)
        return process

    async def run(self, seconds: float) -> None:
        """Let time pass; stopped processes do nothing in it."""
        end = self.store.now + seconds
        while self.store.now < end:
            self.store.now = Monotonic(self.store.now + 0.1)
            for process in self.processes.values():
                due = process.node.get_timer()
                if not process.is_stopped and due is not None and due <= self.store.now:
                    await process.node.beat(self.store.now)


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


async def test_nodes_learn_of_each_other(cluster: Cluster) -> None:
    east, west = await cluster.add("east"), await cluster.add("west")
    await cluster.run(3.0)
    assert [row.name for row in east.node.alive] == ["east", "west"]
    assert west.events == [OtherNode("east", is_alive=True)]
    await west.node.stop()
    await cluster.run(3.0)
    assert [row.name for row in east.node.alive] == ["east"]
    assert east.events == [OtherNode("west", is_alive=True), OtherNode("west", is_alive=False)]
    assert west.node.get_timer() is None


async def test_a_node_that_is_in_time_is_never_away(cluster: Cluster) -> None:
    east = await cluster.add("east")
    for _ in range(50):
        await cluster.run(0.5)
        assert not east.node.is_away(cluster.store.now)
    assert east.events == []


async def test_a_short_loss_of_the_database_changes_nothing(cluster: Cluster) -> None:
    east = await cluster.add("east")
    await cluster.run(1.0)
    await east.holds(12)
    term = east.node.term
    cluster.store.cut_off = {"east"}
    await cluster.run(3.5)
    assert not east.node.is_away(cluster.store.now)
    cluster.store.cut_off.clear()
    await cluster.run(3.0)
    assert (east.events, east.node.term) == ([], term)
    assert [place.zone_id for place in east.node.held_places] == [12]


async def test_a_node_without_an_answer_saves_nothing_before_its_lease_ends(
    cluster: Cluster,
) -> None:
    east = await cluster.add("east")
    cluster.store.cut_off = {"east"}
    await cluster.run(5.9)
    assert east.node.is_away(cluster.store.now)
    assert isinstance(east.events[-1], NodeAway)
    assert east.events[-1].why == "the database does not answer"


async def test_a_node_that_was_stopped_gives_up_what_was_placed_elsewhere(
    cluster: Cluster,
) -> None:
    east, west = await cluster.add("east"), await cluster.add("west")
    await cluster.run(1.0)
    for zone_id in (12, 33):
        await east.holds(zone_id)
    term = east.node.term
    east.is_stopped = True
    await cluster.run(30.0)
    found = (await cluster.store.placement(12)).places[0]
    assert await cluster.store.claim(ZonePlace(12, 0, "west", west.node.term), found)
    east.is_stopped = False
    assert east.node.is_away(cluster.store.now), "known before anything is saved"
    await cluster.run(0.2)
    assert east.node.term > term
    assert not east.node.is_away(cluster.store.now)
    assert [place.zone_id for place in east.gone] == [12]
    assert [place.zone_id for place in east.node.held_places] == [33]
    assert [type(event) for event in east.events[-3:]] == [NodeAway, NodeReturned, OtherNode][
        :3
    ] or (NodeReturned(east.node.term, 1) in east.events)
    assert [(one.zone_id, one.node) for one in await cluster.store.places(6.0)] == [
        (12, "west"), (33, "east"),
    ]  # fmt: skip


@pytest.mark.parametrize(("beats", "claims"), [(2, 0), (4, 0), (1, 1), (1, 2), (3, 3)])
async def test_trouble_while_it_comes_back_hides_nothing_that_was_placed_elsewhere(
    cluster: Cluster, beats: int, claims: int
) -> None:
    east, west = await cluster.add("east"), await cluster.add("west")
    await cluster.run(1.0)
    for zone_id in (12, 33):
        await east.holds(zone_id)
    east.is_stopped = True
    await cluster.run(30.0)
    found = (await cluster.store.placement(12)).places[0]
    assert await cluster.store.claim(ZonePlace(12, 0, "west", west.node.term), found)
    west.is_stopped, east.is_stopped = True, False
    cluster.store.lost_beats, cluster.store.lost_claims = beats, claims
    await cluster.run(6.0)
    assert [place.zone_id for place in east.gone] == [12]
    assert [place.zone_id for place in east.node.held_places] == [33]
    assert not east.node.is_away(cluster.store.now)


async def test_a_node_whose_term_was_taken_takes_another(cluster: Cluster) -> None:
    east = await cluster.add("east")
    east.want("link")
    await cluster.run(1.0)
    await cluster.store.take_term("east", NodeAbout())
    await cluster.run(2.5)
    assert NodeReturned(east.node.term) in east.events
    assert east.works == ["begin link"], "nobody has taken it meanwhile"


async def test_a_lease_goes_to_another_node_when_its_holder_is_lost(cluster: Cluster) -> None:
    east, west = await cluster.add("east"), await cluster.add("west")
    east.want("link")
    await cluster.run(1.0)
    west.want("link")
    await cluster.run(5.0)
    assert (east.works, west.works) == (["begin link"], [])
    east.is_stopped = True
    await cluster.run(8.5)
    assert west.works == ["begin link"]
    east.is_stopped = False
    await cluster.run(5.0)
    assert LeaseMoved("link", is_held=False) in east.events
    assert east.works == ["begin link", "end"]
    west.node.give_up_lease("link")
    assert west.works == ["begin link", "end"]


async def test_a_node_that_stops_ends_the_work_of_its_leases(cluster: Cluster) -> None:
    east = await cluster.add("east")
    east.want("link")
    await cluster.run(1.0)
    await east.node.stop()
    assert east.works == ["begin link", "end"]
    assert [one for one in east.events if type(one) is LeaseMoved] == [
        LeaseMoved("link", is_held=True), LeaseMoved("link", is_held=False),
    ]  # fmt: skip


async def test_a_drained_node_leaves_leases_to_others(cluster: Cluster) -> None:
    east, west = await cluster.add("east"), await cluster.add("west")
    for process in (east, west):
        process.want("link")
    await cluster.run(1.0)
    assert east.works == ["begin link"]
    await cluster.store.set_state("east", NodeState.DRAINING)
    await cluster.run(4.5)
    assert StateChanged(NodeState.DRAINING) in east.events
    assert (east.works, west.works) == (["begin link", "end"], ["begin link"])


async def test_a_full_instance_is_stored_as_full_and_free_again(cluster: Cluster) -> None:
    east = await cluster.add("east")
    await east.holds(12)
    assert (await east.node.free_instance(12)) is not None
    east.full.add((12, 0))
    assert (await east.node.free_instance(12)) is None
    assert (await cluster.store.places(6.0))[0].full
    east.full.clear()
    await cluster.run(2.5)
    assert not (await cluster.store.places(6.0))[0].full


async def test_an_instance_that_nobody_entered_or_that_ended_is_released(
    cluster: Cluster,
) -> None:
    east = await cluster.add("east")
    await east.holds(12)
    await cluster.run(UNUSED + 10)
    assert [place.zone_id for place in east.node.held_places] == [12]
    east.running.clear()
    await cluster.run(3.0)
    assert east.node.held_places == []
    assert list(await cluster.store.places(6.0)) == []


async def test_what_others_place_on_a_node_is_known_at_its_next_beat(cluster: Cluster) -> None:
    east = await cluster.add("east")
    await cluster.store.claim(ZonePlace(12, 0, "east", east.node.term), None)
    assert east.node.held(12) == []
    await cluster.run(2.5)
    assert [place.instance for place in east.node.held(12)] == [0]


async def test_an_instance_that_an_operator_moves_takes_its_players_along(
    cluster: Cluster,
) -> None:
    east, west = await cluster.add("east"), await cluster.add("west")
    await cluster.run(1.0)
    for zone_id in (12, 33):
        await east.holds(zone_id)
    await cluster.run(2.5)
    (found,) = (await cluster.store.placement(12)).places
    assert await cluster.store.claim(ZonePlace(12, 0, "west", west.node.term), found)
    await cluster.run(2.5)
    assert [place.zone_id for place in east.gone] == [12]
    assert [place.zone_id for place in east.node.held_places] == [33]
    assert [place.zone_id for place in west.node.held_places] == [12]


async def test_a_wrong_clock_is_reported_once_and_published_to_the_others(cluster: Cluster) -> None:
    east = await cluster.add("east")
    ahead = [0.0]
    east.node.moment = lambda: cluster.store.now + 1_700_000_000 + ahead[0]
    await cluster.run(6)
    assert east.events == []
    for ahead[0], found in ((-3600.0, -3600.0), (4.0, 0.0)):
        await cluster.run(6)
        assert east.node.clock_ahead == pytest.approx(found)
        assert (await cluster.store.nodes())[0].about.clock_ahead == east.node.clock_ahead
    assert east.events == [ClockChanged(pytest.approx(-3600.0)), ClockChanged(0.0)]  # type: ignore[arg-type]


async def test_clocks_are_not_compared_by_an_answer_that_came_late(cluster: Cluster) -> None:
    node = (await cluster.add("east")).node
    assert not node.compare_clocks(1000.0, 1060.0, 1003.0)
    assert not node.compare_clocks(1000.0, 1060.0, 900.0), "the clock was set meanwhile"
    assert not node.compare_clocks(1000.0, 1006.0, 1001.9), "6 seconds, or 5 and a slow way"
    assert node.compare_clocks(1000.0, 1007.0, 1001.0)
    assert node.clock_ahead == -6.5


async def test_what_was_moved_away_is_reported_until_it_has_ended(cluster: Cluster) -> None:
    east, west = await cluster.add("east"), await cluster.add("west")
    await east.holds(12)
    await cluster.run(3.0)
    there = ZonePlace(12, 0, "west", west.node.term)
    assert await cluster.store.claim(there, ZonePlace(12, 0, "east", east.node.term))
    await cluster.run(3.0)
    assert east.gone == [ZonePlace(12, 0, "east", east.node.term)]
    assert [row.leaving for row in await cluster.store.nodes()] == [((12, 0),), ()]
    east.running.clear()
    await cluster.run(3.0)
    assert [row.leaving for row in await cluster.store.nodes()] == [(), ()]


async def test_a_note_of_a_zone_that_does_not_run_is_corrected(cluster: Cluster) -> None:
    await cluster.add("east")
    await cluster.store.set_leaving("east", [(12, 0)])
    await cluster.run(3.0)
    assert (await cluster.store.nodes())[0].leaving == ()
