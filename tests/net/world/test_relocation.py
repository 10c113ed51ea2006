"""Players who are sent to other nodes, from where they stand to where they stood."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from emu.cluster.ports import ZonePlace
from emu.net.logs import logger
from emu.net.scheduler import Scheduler, Tasks
from emu.net.world.relocation import Relocation
from emu.world.actors.player import PlayerState
from emu.world.entry.leaving import LeaveReason
from emu.world.travel.instances import FIRST_COPY
from tests.support.world.worlds import WorldHarness

ISLE, ANTONICA = 325, 12
THERE = ("192.0.2.9", 9002)


class Bench:
    """A world, and the relocation of its players on a clock of its own."""

    def __init__(self) -> None:
        self.harness = WorldHarness()
        self.clock: Any = Clock()
        self.relocation = Relocation(
            self.harness.world, self.harness.departures, Scheduler(self.clock),
            Tasks(logger("world")), unsaved=lambda: self.unsaved,
        )  # fmt: skip
        self.unsaved: list[Any] = []

    def pass_time(self, seconds: float) -> None:
        for _ in range(round(seconds * 20)):
            self.clock.advance(0.05)


def place(zone_id: int) -> ZonePlace:
    return ZonePlace(zone_id, 0, "here", 1)


def test_what_runs_and_how_many_are_there() -> None:
    bench = Bench()
    bench.harness.stand(5)
    relocation = bench.relocation
    assert relocation.players == 1
    assert relocation.runs(place(ISLE))
    assert not relocation.runs(place(ANTONICA))
    assert not relocation.is_full(place(ISLE))
    assert not relocation.is_full(place(ANTONICA))


def test_a_drain_sends_everybody_to_where_they_stand() -> None:
    bench = Bench()
    clients = [bench.harness.stand(char_id) for char_id in (5, 6, 7)]
    clients[0].walk(3.0, 1.0, 244.0)
    bench.harness.zone_servers.table[ISLE] = THERE
    bench.relocation.drain(is_draining=True)
    bench.pass_time(1.0)
    for client in clients:
        (change,) = client.decoded("WS_ZoneChangeMsg")
        assert (change["ip_address"], change["port"]) == THERE
    assert bench.relocation.players == 0
    row = bench.harness.store.rows[5]
    assert (row.zone_id, row.place[0]) == (ISLE, 3.0)
    bench.relocation.stop()


def test_who_leaves_waits_until_what_died_is_stored() -> None:
    class Dead:
        def __init__(self) -> None:
            self.stored: Deferred[None] = Deferred()

        async def settled(self) -> None:
            await self.stored

    bench = Bench()
    bench.unsaved = [dead := Dead()]
    client = bench.harness.stand(5)
    bench.harness.zone_servers.table[ISLE] = THERE
    bench.relocation.drain(is_draining=True)
    bench.pass_time(0.3)
    assert client.decoded("WS_ZoneChangeMsg") == []
    dead.stored.callback(None)
    bench.pass_time(0.3)
    assert len(client.decoded("WS_ZoneChangeMsg")) == 1


def test_who_is_loading_is_sent_when_it_stands() -> None:
    bench = Bench()
    client = bench.harness.enter(5)
    bench.harness.zone_servers.table[ISLE] = THERE
    bench.relocation.drain(is_draining=True)
    bench.pass_time(2.0)
    assert client.decoded("WS_ZoneChangeMsg") == []
    client.load()
    bench.harness.run(0.2)
    bench.pass_time(2.0)
    assert len(client.decoded("WS_ZoneChangeMsg")) == 1


def test_without_another_node_nobody_is_sent() -> None:
    bench = Bench()
    client = bench.harness.stand(5)
    bench.relocation.drain(is_draining=True)
    bench.pass_time(10.0)
    assert client.decoded("WS_ZoneChangeMsg") == []
    bench.harness.zone_servers.lost = {ISLE}
    bench.pass_time(5.0)
    assert bench.relocation.players == 1
    bench.relocation.drain(is_draining=False)
    bench.harness.zone_servers.lost = set()
    bench.harness.zone_servers.table[ISLE] = THERE
    bench.pass_time(5.0)
    assert client.decoded("WS_ZoneChangeMsg") == []


def test_a_link_dead_player_leaves_the_world() -> None:
    bench = Bench()
    client = bench.harness.stand(5)
    assert client.player is not None
    bench.harness.service.closed(client.player, client, "gone", bench.harness.now)
    assert client.player.state is PlayerState.LINK_DEAD
    bench.harness.zone_servers.table[ISLE] = THERE
    bench.relocation.drain(is_draining=True)
    bench.pass_time(1.0)
    assert bench.relocation.players == 0


def test_only_players_of_zones_that_moved_are_sent() -> None:
    bench = Bench()
    gone, stays = bench.harness.stand(5), bench.harness.stand(6, zone_id=ANTONICA)
    bench.harness.zone_servers.table[ISLE] = THERE
    bench.relocation.moved([place(ISLE)])
    bench.pass_time(2.0)
    assert len(gone.decoded("WS_ZoneChangeMsg")) == 1
    assert stays.decoded("WS_ZoneChangeMsg") == []
    # Who enters there later stays: the zone may be this node's again.
    del bench.harness.zone_servers.table[ISLE]
    again = bench.harness.stand(7)
    bench.pass_time(2.0)
    assert again.decoded("WS_ZoneChangeMsg") == []


def test_the_place_of_a_zone_with_copies_stands_for_all_of_them() -> None:
    bench = Bench()
    gone = bench.harness.stand(5)
    assert gone.player is not None
    world = bench.harness.world
    shared, copy = gone.player.zone, world.zones.private(ISLE, FIRST_COPY + 7, bench.harness.now)
    gone.player.zone = copy
    world.zones.end(shared)
    assert bench.relocation.runs(place(ISLE)), "else its row is released while it runs"
    assert not bench.relocation.runs(place(ANTONICA))
    bench.harness.zone_servers.table[ISLE] = THERE
    bench.relocation.moved([place(ISLE)])
    bench.pass_time(2.0)
    assert len(gone.decoded("WS_ZoneChangeMsg")) == 1


def test_players_of_a_moved_instance_follow_it_while_another_one_stays() -> None:
    bench = Bench()
    world = bench.harness.world
    stays, gone = bench.harness.stand(5), bench.harness.stand(6)
    assert stays.player is not None
    assert gone.player is not None
    gone.player.zone = world.zones.private(ISLE, 1, bench.harness.now)
    bench.harness.zone_servers.moved[ISLE, 1] = THERE
    bench.relocation.moved([ZonePlace(ISLE, 1, "here", 1)])
    bench.pass_time(2.0)
    (change,) = gone.decoded("WS_ZoneChangeMsg")
    assert (change["ip_address"], change["port"]) == THERE
    assert stays.decoded("WS_ZoneChangeMsg") == []


def test_an_instance_that_all_have_left_ends_at_once() -> None:
    # Found by a simulation (seed 15): it came back to its node with a creature that was dead.
    bench = Bench()
    bench.harness.stand(5)
    bench.harness.stand(6, zone_id=ANTONICA)
    bench.harness.zone_servers.table[ISLE] = THERE
    bench.relocation.drain(is_draining=True)
    bench.pass_time(0.1)
    # It is over before the player has gone.
    bench.relocation.drain(is_draining=False)
    bench.pass_time(1.0)
    bench.harness.run(1.0)
    assert not bench.relocation.runs(place(ISLE))
    assert bench.relocation.runs(place(ANTONICA)), "a player is in it"


def test_an_empty_instance_of_a_drained_node_ends_at_once() -> None:
    bench = Bench()
    bench.harness.stand(5)
    player = bench.harness.world.players.get(5)
    assert player is not None
    bench.harness.departures.remove(player, LeaveReason.CAMPED, bench.harness.now)
    bench.harness.run(1.0)
    assert bench.relocation.runs(place(ISLE)), "it waits for who comes back"
    bench.relocation.drain(is_draining=True)
    bench.pass_time(1.0)
    bench.harness.run(1.0)
    assert not bench.relocation.runs(place(ISLE))


def test_a_moved_instance_without_players_ends_at_once() -> None:
    bench = Bench()
    bench.harness.stand(5)
    bench.harness.zone_servers.table[ISLE] = THERE
    bench.relocation.moved([place(ISLE)])
    bench.pass_time(2.0)
    bench.harness.run(1.0)
    assert not bench.relocation.runs(place(ISLE))
