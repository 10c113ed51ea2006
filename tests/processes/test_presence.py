from __future__ import annotations

import random
from functools import partial
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.model import SEES_HIDDEN, Present
from emu.processes.presence import SharedPresence
from emu.processes.tables import run_now
from emu.times import Moment
from tests.processes.contracts.presence import PresenceContract, Presences, nothing
from tests.support.cluster.brokers import MemoryCluster, start
from tests.support.examples import tries
from tests.support.running.lossy_bus import Network
from tests.support.running.processes import bus, presence, present


class TestSharedPresence(PresenceContract):
    @pytest.fixture
    def presences(self) -> Presences:
        shared, numbers = bus(), count()
        return lambda: SharedPresence(shared, f"process{next(numbers)}", spawn=run_now)


class TestPresenceOfACluster(PresenceContract):
    """The same over the bus of several processes."""

    @pytest.fixture
    def presences(self) -> Presences:
        self.cluster = MemoryCluster()

        def begin() -> SharedPresence:
            bus = self.cluster.add()
            return SharedPresence(bus, bus.process, spawn=start)

        return begin

    async def settle(self) -> None:
        self.cluster.run(1.0)


def test_a_broker_that_stands_still_leaves_neither_ghosts_nor_doubles() -> None:
    cluster = MemoryCluster()
    nodes = {}
    for name in ("east", "south", "west"):
        nodes[name] = SharedPresence(cluster.add(name), name, spawn=start, run=1)
    nodes["east"].entered(present(101, 5, 12), nothing)
    nodes["south"].entered(present(102, 6, 12), nothing)
    cluster.run(5.0)
    cluster.hold()
    for name in nodes:
        cluster.cut(name)
    cluster.broker.queue.clear()
    nodes["east"].left(5)
    nodes["west"].entered(present(101, 5, 13), nothing)
    nodes["west"].entered(present(103, 7, 13), nothing)
    cluster.run(10.0)
    cluster.kill("south")
    cluster.release()
    for name in ("east", "west"):
        cluster.restore(name)
    cluster.run(5.0)
    for name in ("east", "west"):
        nodes[name].tick()
    cluster.run(5.0)
    lists = [{one.char_id: one.process for one in nodes[name]} for name in ("east", "west")]
    assert lists == [{5: "west", 7: "west"}] * 2
    assert cluster.errors == []


def test_a_process_that_is_forgotten_here_goes_elsewhere_with_the_next_digest() -> None:
    shared = bus()
    here, there = (SharedPresence(shared, name, spawn=run_now) for name in ("here", "there"))
    here.entered(present(101, 5, 12), nothing)
    here.forget(5)
    here.forget(6)
    assert (here.players, there.players) == (0, 1)
    here.tick()
    assert there.players == 0


def test_the_later_entry_wins_even_if_its_clock_is_behind() -> None:
    shared, away = bus(), list[str]()
    times = {"here": 1000.0, "there": 10.0}
    here, there = (
        SharedPresence(shared, name, partial(Moment, now), spawn=run_now)
        for name, now in times.items()
    )
    here.entered(present(101, 5, 12), lambda: away.append("here"))
    there.entered(present(101, 5, 13), lambda: away.append("there"))
    assert away == ["here"]
    assert [one.find(5).process for one in (here, there)] == ["there", "there"]  # type: ignore[union-attr]


def test_who_leaves_before_the_earlier_process_has_noticed_is_shown_there_again() -> None:
    network = Network(random.Random(1))
    here, there = (
        SharedPresence(network.bus(name), name, spawn=run_now, run=1) for name in ("here", "there")
    )
    here.entered(present(101, 5, 12), nothing)
    network.deliver()
    network.cut.add("there")
    there.entered(present(101, 5, 13), nothing)
    there.left(5)
    network.cut.clear()
    for one in (here, there):
        one.tick()
    network.deliver()
    assert [one.find(5).process for one in (here, there)] == ["here", "here"]  # type: ignore[union-attr]


def test_of_entries_at_the_same_moment_all_choose_the_same() -> None:
    network = Network(random.Random(1))
    nodes = {name: SharedPresence(network.bus(name), name, spawn=run_now, run=1) for name in NAMES}
    away: list[str] = []
    nodes["west"].entered(present(101, 5, 12), partial(away.append, "west"))
    nodes["east"].entered(present(101, 5, 13), partial(away.append, "east"))
    network.deliver()
    assert away == ["east"]
    assert {one.find(5).process for one in nodes.values()} == {"west"}  # type: ignore[union-attr]


def test_who_has_left_is_distinguished_from_who_was_lost_with_its_process() -> None:
    cluster = MemoryCluster()
    nodes = {
        name: SharedPresence(cluster.add(name), name, spawn=start, run=1)
        for name in ("here", "there")
    }
    here, there = nodes.values()
    for char_id in (5, 6):
        there.entered(present(101, char_id, 12), nothing)
    there.left(5)
    cluster.kill("there")
    cluster.run(10.0)
    assert here.find(6) is None
    assert (here.is_lost(5), here.is_lost(6)) == (False, True)


def test_counts_and_lists_follow_each_change() -> None:
    here = presence()
    changes: list[tuple[int, Present | None]] = []
    here.observe(lambda char_id, one: changes.append((char_id, one)))
    here.entered(present(101, 5, 12, "Aldana"), nothing)
    here.entered(present(102, 6, 12, "Alrik"), nothing)
    here.entered(present(103, 7, 13, "Borvik"), nothing)
    here.seen(6, hidden=True)
    here.lost_link(7)
    assert (here.players, here.zones, here.online(0), here.online(SEES_HIDDEN)) == (2, 2, 1, 2)
    assert here.processes == {"here": 3}
    assert [one.char_id for one in here.hidden] == [6]
    assert [one.char_id for one in here.in_zone(12)] == [5, 6]
    assert [one.char_id for one in here.of_account(103)] == [7]
    assert {one.name for one in here.starting_with("AL")} == {"Aldana", "Alrik"}
    here.seen(5, name="Cestra")
    assert {one.name for one in here.starting_with("al")} == {"Alrik"}
    for char_id in (5, 6, 7):
        here.left(char_id)
    assert (here.players, here.zones, here.online(SEES_HIDDEN)) == (0, 0, 0)
    assert (here.processes, here.hidden, here.in_zone(12), here.of_account(103)) == ({}, [], [], [])
    assert changes[0] == (5, here_at_first(12))
    assert [char_id for char_id, one in changes if one is None] == [5, 6, 7]


def here_at_first(zone_id: int) -> Present:
    """Return the first character as its process shows it."""
    return Present(101, 5, zone_id, name="Aldana", process="here", since=Moment(0.0))


NAMES = ("east", "south", "west")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ("enter", "enter", "leave", "leave", "link", "hide", "deliver", "tick", "restart")
        ),
        st.integers(0, 2),
        st.integers(1, 2),
    ),
    min_size=20,
    max_size=50,
)


class Cluster:
    """Some processes over a network that loses half of the notes, and who is in each of them."""

    def __init__(self, seed: int) -> None:
        self.network = Network(random.Random(seed))
        self.inside: dict[str, set[int]] = {}
        self.presences: dict[str, SharedPresence] = {}
        self._ticks = count(1)
        for name in NAMES:
            self.restart(name, 1)
        self.network.loses = 0.5

    def restart(self, name: str, run: int) -> None:
        self.inside[name] = set()
        self.presences[name] = SharedPresence(
            self.network.bus(name), name, self._moment, spawn=run_now, run=run
        )

    def _moment(self) -> Moment:
        # Some entries have the same time.
        return Moment(float(next(self._ticks) // 2))

    def act(self, act: str, name: str, char_id: int, number: int) -> None:
        here, inside = self.presences[name], self.inside[name]
        match act:
            case "enter":
                inside.add(char_id)
                here.entered(present(100, char_id, 12), partial(inside.remove, char_id))
            case "leave":
                inside.discard(char_id)
                here.left(char_id)
            case "link":
                here.lost_link(char_id)
            case "hide":
                here.seen(char_id, hidden=True)
            case "deliver":
                self.network.deliver()
            case "tick":
                here.tick()
            case _:
                self.restart(name, number + 2)

    def be_quiet(self) -> None:
        """Let five seconds pass in which nothing is lost: each publishes its digest once."""
        self.network.loses = 0.0
        for one in self.presences.values():
            one.tick()
        self.network.deliver()


@pytest.mark.slow
@tries(40)
@given(STEPS, st.integers(0, 2**32))
def test_whatever_is_lost_there_are_no_ghosts_and_no_doubles_after_a_quiet_time(
    steps: list[tuple[str, int, int]], seed: int
) -> None:
    cluster = Cluster(seed)
    for number, (act, which, char_id) in enumerate(steps):
        cluster.act(act, NAMES[which], char_id, number)
    cluster.be_quiet()
    lists = [{one.char_id: one for one in shared} for shared in cluster.presences.values()]
    assert lists[0] == lists[1] == lists[2]
    there: dict[str, set[int]] = {name: set() for name in NAMES}
    for one in lists[0].values():
        there[one.process].add(one.char_id)
    assert there == cluster.inside
    seen = sum(not one.hidden for one in lists[0].values())
    assert {shared.players for shared in cluster.presences.values()} == {seen}
