"""Who sees whom in a zone, and when viewers are sent it."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest

from emu.errors import LimitExceeded
from emu.times import Monotonic
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.rules import ZoneRules
from emu.world.zones.grid import Grid
from emu.world.zones.zone import LEAST_AT_ONCE, NEW_AT_ONCE, Zone
from emu.world_stream.movement import Position
from tests.support.world.zone_clients import ZoneClient, player, run_ticks
from tests.support.world.zone_files import definition


def npc(number: int, x: float = 0.0) -> Spawn:
    return Spawn(number, SpawnKind.NPC, f"npc {number}", Position(x, 0, 0))


@pytest.fixture
def zone() -> Zone:
    return Zone(definition(325))


def test_two_players_see_each_other_and_their_moves(zone: Zone) -> None:
    one, two = ZoneClient(player(1)), ZoneClient(player(2, 100.0), 561)
    one.enter(zone, 0.0)
    two.enter(zone, 1.0)
    run_ticks(zone, 1.0, 2.0)
    assert (one.names(), two.names()) == ({"Player2"}, {"Player1"})
    one.spawn.move(Position(3.5, -7.25, 4.5, 90.0), speed=8.0)
    run_ticks(zone, 2.0, 3.0)
    assert two.place_of(one.spawn) == (3.5, -7.25, 4.5)


def test_a_client_is_not_reported_of_its_own_steps(zone: Zone) -> None:
    one = ZoneClient(player(1))
    one.enter(zone, 0.0)
    run_ticks(zone, 0.0, 1.0)
    before = len(one.commands)
    one.spawn.move(Position(1, 0, 0))
    run_ticks(zone, 1.0, 2.0)
    assert len(one.commands) == before
    one.spawn.set_word("afk", on=True)
    run_ticks(zone, 2.0, 3.0)
    assert one.commands[before:] == ["OP_EqUpdateGhostCmd"]


def test_creatures_and_things_near_are_shown_on_entering(zone: Zone) -> None:
    zone.add_spawn(npc(10, 249.0), 0.0)
    zone.add_spawn(npc(11, 251.0), 0.0)
    zone.add_spawn(Spawn(12, SpawnKind.SIGN, "sign", Position(5, 0, 0)), 0.0)
    zone.add_spawn(Spawn(13, SpawnKind.WIDGET, "door", Position(6, 0, 0)), 0.0)
    one = ZoneClient(player(1))
    one.enter(zone, 0.0)
    assert sorted(one.commands) == [
        "OP_EqCreateGhostCmd", "OP_EqCreateGhostCmd", "OP_EqCreateSignWidgetCmd",
        "OP_EqCreateWidgetCmd",
    ]  # fmt: skip
    assert one.names() == {"npc 10", "sign", "door"}


def test_a_crowded_place_is_shown_in_turns_the_nearest_first(zone: Zone) -> None:
    for number in reversed(range(10, 10 + 3 * NEW_AT_ONCE)):
        zone.add_spawn(npc(number, float(number) / 2), 0.0)
    run_ticks(zone, 0.0, 1.0)
    one = ZoneClient(player(1))
    one.enter(zone, 1.0)
    first = one.names()
    assert first == {f"npc {number}" for number in range(10, 10 + NEW_AT_ONCE)}
    sizes = []
    now = Monotonic(2.0)
    while len(one.names()) < 3 * NEW_AT_ONCE:
        assert len(sizes) < 10
        zone.tick(now)
        sizes.append(len(one.names()))
    assert sizes[-2:] == [2 * NEW_AT_ONCE, 3 * NEW_AT_ONCE]


def test_in_a_long_turn_a_few_of_a_crowded_place_are_shown(zone: Zone) -> None:
    count = 3 * LEAST_AT_ONCE
    for number in range(10, 10 + count):
        zone.add_spawn(npc(number, float(number) / 2), 0.0)
    run_ticks(zone, 0.0, 1.0)
    zone.is_long = lambda: True
    one = ZoneClient(player(1))
    one.enter(zone, 1.0)
    sizes = [len(one.names())]
    assert sizes == [LEAST_AT_ONCE]
    for _ in range(4 * count):
        zone.tick(Monotonic(2.0))
        sizes.append(len(one.names()))
    assert sizes[-1] == count
    assert all(after - before <= LEAST_AT_ONCE for before, after in pairwise(sizes))


def test_who_goes_far_is_hidden_and_comes_back_under_another_index(zone: Zone) -> None:
    """Created at 250 units, destroyed beyond 300 (docs/protocol/world/spawns.md#visibility)."""
    one, two = ZoneClient(player(1)), ZoneClient(player(2, 100.0))
    one.enter(zone, 0.0)
    two.enter(zone, 0.0)
    run_ticks(zone, 0.0, 1.0)
    assert set(one.view.indexes) == {1, 2}
    two.spawn.move(Position(299, 0, 0))
    run_ticks(zone, 1.0, 2.0)
    assert one.names() == {"Player2"}
    two.spawn.move(Position(320, 0, 0))
    run_ticks(zone, 2.0, 3.0)
    assert one.names() == two.names() == set()
    two.spawn.move(Position(270, 0, 0))
    run_ticks(zone, 3.0, 4.0)
    assert one.names() == set()
    two.spawn.move(Position(240, 0, 0))
    run_ticks(zone, 4.0, 5.0)
    assert one.names() == {"Player2"}
    assert set(one.view.indexes) == {1, 3}


def test_a_creature_that_walks_by_is_seen_by_a_player_who_stands(zone: Zone) -> None:
    one, walker = ZoneClient(player(1)), npc(10, 400.0)
    one.enter(zone, 0.0)
    zone.add_spawn(walker, 0.0)
    now, seen = 0.0, []
    for x in range(400, -400, -10):
        now += 1.0
        walker.move(Position(float(x), 0, 0), speed=2.0)
        run_ticks(zone, now, now + 0.9)
        seen.append(bool(one.names()))
    assert seen.index(True) in range(14, 18)
    assert not seen[-1]


def test_a_spawn_that_appears_searches_viewers_and_no_other_spawns(
    zone: Zone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A zone of 6,700 spawns in one place took eight seconds to open: each searched the others."""
    one = ZoneClient(player(1))
    one.enter(zone, 0.0)
    searched: list[int] = []
    near = Grid.near

    def counted(grid: Grid, center: Position, distance: float) -> list[Any]:
        found = list(near(grid, center, distance))
        searched.append(len(found))
        return found

    monkeypatch.setattr(Grid, "near", counted)
    for number in range(300):
        zone.add_spawn(npc(100 + number, 5.0), 1.0)
    run_ticks(zone, 1.0, 5.0)
    assert len(one.names()) == 300
    # Each of the 300 finds the one viewer; the viewer's own searches find all.
    assert searched.count(1) >= 300
    assert sum(searched) < 300 * 10


def test_the_npcs_around_a_place_are_found_where_they_walked_to(zone: Zone) -> None:
    one = ZoneClient(player(1))
    one.enter(zone, 0.0)
    walker = npc(10, 500.0)
    for spawn in (walker, npc(11, 20.0), Spawn(12, SpawnKind.SIGN, "sign", Position(5, 0, 0))):
        zone.add_spawn(spawn, 0.0)
    here = Position(0, 0, 0)
    assert [spawn.name for spawn in zone.npcs_around(here, 50.0)] == ["npc 11"]
    walker.move(Position(10, 0, 0))
    assert {spawn.name for spawn in zone.npcs_around(here, 50.0)} == {"npc 10", "npc 11"}
    zone.remove(walker, 1.0)
    assert [spawn.name for spawn in zone.npcs_around(here, 50.0)] == ["npc 11"]
    zone.end()
    assert not list(zone.npcs_around(here, 50.0))


def test_a_zone_forgets_what_nobody_watches(zone: Zone) -> None:
    one, two, far = ZoneClient(player(1)), ZoneClient(player(2, 10.0)), npc(10, 20.0)
    zone.add_spawn(far, 0.0)
    one.enter(zone, 0.0)
    two.enter(zone, 0.0)
    run_ticks(zone, 0.0, 1.0)
    assert zone._observers[10] == [one.viewer, two.viewer]
    assert 10 in zone._baselines._baselines
    zone.leave(one.viewer, 2.0)
    assert zone._observers[10] == [two.viewer]
    assert 10 in zone._baselines._baselines
    far.move(Position(2000.0, 0, 0))
    run_ticks(zone, 2.0, 3.0)
    assert two.names() == {"Player1"}
    assert 10 not in zone._observers
    assert 10 not in zone._baselines._baselines
    far.move(Position(2100.0, 0, 0))
    assert not zone._changes
    zone.leave(two.viewer, 4.0)
    assert zone._observers == {}
    assert len(zone._baselines) == 0


def test_an_idle_zone_asks_for_no_tick(zone: Zone) -> None:
    clients = [ZoneClient(player(n, float(n))) for n in range(1, 6)]
    for client in clients:
        client.enter(zone, 0.0)
    run_ticks(zone, 0.0, 5.0)
    assert zone.next_tick() is None
    sent = [client.bytes for client in clients]
    clients[0].spawn.move(clients[0].spawn.position)
    run_ticks(zone, 6.0, 9.0)
    assert zone.next_tick() is None
    assert [client.bytes for client in clients] == sent


def test_updates_come_at_most_once_a_tick_and_at_once_after_a_pause() -> None:
    woken: list[float | None] = []
    zone = Zone(
        definition(325),
        rules=ZoneRules(tick=0.1),
        wake=lambda _due: woken.append(zone.next_tick()),  # type: ignore[attr-defined]
    )
    one, two = ZoneClient(player(1)), ZoneClient(player(2))
    one.enter(zone, 0.0)
    two.enter(zone, 0.0)
    zone.tick(0.0)
    zone.tick(10.0)
    before = len(two.commands)
    one.spawn.move(Position(1, 0, 0))
    assert zone.next_tick() == pytest.approx(10.1)
    assert woken[-1] == zone.next_tick()
    one.spawn.move(Position(2, 0, 0))
    zone.tick(10.1)
    assert two.commands[before:] == ["OP_EqUpdateGhostCmd"]
    assert two.place_of(one.spawn)[0] == 2.0


def test_a_full_link_gets_the_newest_state_later_and_nothing_in_between(zone: Zone) -> None:
    fast, slow, mover = (ZoneClient(player(n)) for n in (1, 2, 3))
    for client in (fast, slow, mover):
        client.enter(zone, 0.0)
    run_ticks(zone, 0.0, 1.0)
    slow.space = 0
    before = slow.bytes
    now = 1.0
    newcomer = npc(20)
    zone.add_spawn(newcomer, now)
    for step in range(100):
        now += 0.1
        mover.spawn.move(Position(float(step), 0, 0))
        zone.tick(now)
    assert slow.bytes == before
    assert fast.place_of(mover.spawn)[0] == 99.0
    slow.space = 100_000
    assert slow.viewer is not None
    zone.drained(slow.viewer, now + 0.01)
    assert slow.place_of(mover.spawn)[0] == 99.0
    assert slow.names() == {"Player1", "Player3", "npc 20"}
    assert slow.commands[-2:].count("OP_EqUpdateGhostCmd") == 1


def test_a_viewer_without_space_is_not_asked_again_before_its_link_has_some(zone: Zone) -> None:
    one, two = ZoneClient(player(1)), ZoneClient(player(2))
    one.enter(zone, 0.0)
    two.enter(zone, 0.0)
    run_ticks(zone, 0.0, 1.0)
    one.space = 0
    zone.add_spawn(npc(20), 1.0)
    two.spawn.move(Position(1, 2, 3))
    run_ticks(zone, 1.0, 2.0)
    assert zone.next_tick() is None
    assert one.names() == {"Player2"}
    assert one.viewer is not None
    one.space = 1000
    zone.drained(one.viewer, 2.0)
    assert one.names() == {"Player2", "npc 20"}
    assert one.place_of(two.spawn) == (1.0, 2.0, 3.0)
    zone.leave(one.viewer, 3.0)
    before = one.bytes
    zone.drained(one.viewer, 3.0)
    assert one.bytes == before


@pytest.fixture
def little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a turn of a tick be a short one, so that a few players are a crowd."""
    monkeypatch.setattr("emu.world.zones.zone.WORK_AT_ONCE", 100)


@pytest.mark.usefixtures("little_work")
def test_the_tick_of_a_crowd_takes_several_turns_and_shows_everybody() -> None:
    zone = Zone(definition(325), rules=ZoneRules(tick=0.1))
    clients = [ZoneClient(player(n)) for n in range(1, 21)]
    for client in clients:
        client.enter(zone, 0.0)
    run_ticks(zone, 0.0, 0.0)
    for client in clients:
        client.spawn.move(Position(7.0, 0, 0))
    before = [len(client.commands) for client in clients]
    due = zone.next_tick()
    assert due is not None
    turns = 0
    while zone.next_tick() == due:
        zone.tick(due)
        turns += 1
    reported = [len(client.commands) for client in clients]
    assert 3 < turns < 30
    assert [after - earlier for after, earlier in zip(reported, before, strict=True)] == [1] * 20
    assert all(client.place_of(clients[0].spawn)[0] == 7.0 for client in clients[1:])


@pytest.mark.usefixtures("little_work")
def test_a_zone_that_is_too_slow_shows_the_newest_state_and_queues_nothing() -> None:
    """Every turn takes half a tick here, and everybody walks all the time."""
    zone = Zone(definition(325), rules=ZoneRules(tick=0.1))
    clients = [ZoneClient(player(n)) for n in range(1, 13)]
    for client in clients:
        client.enter(zone, 0.0)
    now = 1.0
    run_ticks(zone, 0.0, now)
    before = [len(client.commands) for client in clients]
    for step in range(1, 101):
        now += 0.05
        for client in clients:
            client.spawn.move(Position(step / 10, 0, 0))
        due = zone.next_tick()
        assert due is not None
        if due <= now:
            zone.tick(Monotonic(now))
    reported = [len(client.commands) - start for client, start in zip(clients, before, strict=True)]
    assert max(reported) - min(reported) <= 1, "nobody is served worse than others"
    assert 10 < min(reported) < 40, "of fifty ticks that there was no time for"
    run_ticks(zone, now, now + 1.0)
    assert zone.next_tick() is None
    assert all(client.place_of(clients[0].spawn)[0] == 10.0 for client in clients[1:])


@pytest.mark.usefixtures("little_work")
def test_who_leaves_in_the_middle_of_a_tick_is_reported_no_more(zone: Zone) -> None:
    clients = [ZoneClient(player(n)) for n in range(1, 21)]
    for client in clients:
        client.enter(zone, 0.0)
    run_ticks(zone, 0.0, 0.0)
    for client in clients:
        client.spawn.move(Position(7.0, 0, 0))
    zone.tick(1.0)
    last = clients[-1]
    assert last.viewer is not None
    zone.leave(last.viewer, 1.0)
    zone.remove(last.spawn, 1.0)
    before = last.bytes
    run_ticks(zone, 1.0, 1.0)
    assert last.bytes == before
    assert all(len(client.names()) == 18 for client in clients[:-1])


def test_leaving_shows_the_others_and_forgets_the_snapshots(zone: Zone) -> None:
    one, two = ZoneClient(player(1)), ZoneClient(player(2))
    one.enter(zone, 0.0)
    two.enter(zone, 0.0)
    run_ticks(zone, 0.0, 1.0)
    assert two.viewer is not None
    zone.leave(two.viewer, 1.0)
    two.spawn.set_word("linkdead", on=True)
    run_ticks(zone, 1.0, 2.0)
    assert one.view.fields(2)["linkdead"] == 1
    zone.remove(two.spawn, 2.0)
    zone.remove(two.spawn, 2.0)
    assert one.names() == set()
    assert one.commands[-1] == "OP_EqDestroyGhostCmd"
    assert one.viewer is not None
    zone.leave(one.viewer, 3.0)
    zone.leave(one.viewer, 3.0)
    zone.remove(one.spawn, 3.0)
    assert len(zone) == 0
    assert len(zone._baselines) == 0
    assert not zone._viewers
    assert not zone._observers
    assert len(zone._grid) == 0


def test_nobody_is_notified_before_the_client_stands(zone: Zone) -> None:
    one, two = ZoneClient(player(1)), ZoneClient(player(2))
    one.enter(zone, 0.0)
    two.enter(zone, 0.0)
    assert two.viewer is not None
    two.viewer.is_ready = False
    run_ticks(zone, 0.0, 1.0)
    before = two.bytes
    one.spawn.move(Position(1, 2, 3))
    run_ticks(zone, 1.0, 2.0)
    assert two.bytes == before
    zone.ready(two.viewer, 2.0)
    run_ticks(zone, 2.0, 3.0)
    assert two.place_of(one.spawn) == (1.0, 2.0, 3.0)


def test_one_that_is_hidden_is_seen_by_nobody_else_until_it_shows_itself(zone: Zone) -> None:
    one, two = ZoneClient(player(1)), ZoneClient(player(2, 100.0))
    for client in (one, two):
        client.enter(zone, 0.0)
    run_ticks(zone, 0.0, 1.0)
    one.spawn.set_visibility(hidden=True)
    run_ticks(zone, 1.0, 2.0)
    assert (one.names(), two.names()) == ({"Player2"}, set())
    one.spawn.move(Position(99.0, 0, 0))
    two.spawn.move(Position(95.0, 0, 0))
    late = ZoneClient(player(3, 90.0))
    late.enter(zone, 2.0)
    run_ticks(zone, 2.0, 3.0)
    assert (late.names(), two.names()) == ({"Player2"}, {"Player3"})
    one.spawn.set_visibility(hidden=False)
    run_ticks(zone, 3.0, 4.0)
    assert (late.names(), two.names()) == ({"Player1", "Player2"}, {"Player1", "Player3"})
    assert two.place_of(one.spawn) == (99.0, 0, 0)


def test_a_zone_holds_as_many_spawns_as_it_may() -> None:
    zone = Zone(definition(325), rules=ZoneRules(spawn_limit=2))
    zone.add_spawn(npc(1), 0.0)
    zone.add_spawn(npc(2), 0.0)
    with pytest.raises(LimitExceeded):
        zone.add_spawn(npc(3), 0.0)


@pytest.mark.slow
def test_a_crowd_at_random_ends_with_everybody_seeing_who_is_near() -> None:
    chance = random.Random(11)
    zone = Zone(definition(325))
    clients = [
        ZoneClient(player(n, chance.uniform(-800, 800), chance.uniform(-800, 800)),
                   chance.choice((546, 561)))
        for n in range(1, 41)
    ]  # fmt: skip
    now = 0.0
    for client in clients:
        client.enter(zone, now)
    for _ in range(60):
        now += 0.25
        for client in chance.sample(clients, 25):
            at = client.spawn.position
            client.space = chance.choice((0, 50, 10_000))
            client.spawn.move(Position(at.x + chance.uniform(-60, 60), chance.uniform(-9, 9),
                                       at.z + chance.uniform(-60, 60)))  # fmt: skip
        run_ticks(zone, now, now + 0.2)
    for client in clients:
        client.space = 100_000
        assert client.viewer is not None
        zone.drained(client.viewer, now)
    run_ticks(zone, now + 1, now + 20)
    for one in clients:
        for two in clients:
            distance = one.spawn.position.distance_to(two.spawn.position)
            sees = two.spawn.name in one.names()
            if one is not two and (distance < 237 or distance > 313):
                assert sees == (distance < 250), distance
            if one is not two and sees:
                place = two.spawn.position[:3]
                assert one.place_of(two.spawn) == pytest.approx(place, abs=1e-3)


def test_updates_have_the_time_in_milliseconds(zone: Zone) -> None:
    one, two = ZoneClient(player(1)), ZoneClient(player(2, 10.0))
    one.enter(zone, 5000.0)
    two.enter(zone, 5000.0)
    run_ticks(zone, 5000.0, 5001.0)
    two.spawn.move(Position(12.0, 0, 0))
    run_ticks(zone, 5001.0, 5002.0)
    assert one.stamps
    assert all(5_001_000 <= stamp <= 5_002_000 for stamp in one.stamps[-1:])


def test_a_zone_that_has_ended_holds_no_spawn(zone: Zone) -> None:
    wolf = Spawn(7, SpawnKind.NPC, "a wolf", Position(0.0, 0.0, 0.0))
    zone.add_spawn(wolf, Monotonic(1.0))
    zone.end()
    assert not list(zone)
    assert not zone.near(wolf.position, 10.0)
    timer = zone.next_tick()
    wolf.set_info(level=5)
    assert zone.next_tick() == timer
    zone.tick(Monotonic(2.0))
