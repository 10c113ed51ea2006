"""Who is near: kinds of watches, what ends them, and the events of those who come and go."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import pytest

from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.events import Came, Went
from emu.world.minds.nearness import (
    AtPlace,
    Crowd,
    NearActor,
    NearnessWatch,
    NearOthers,
    NearSpawn,
    distance_between,
)
from emu.world_stream.movement import Position
from tests.support.world.worlds import Client, WorldHarness

PLACE = Position(3.0, -7.97, 243.45, 0.0)


class Lookout:
    """A player, a spawn that looks out for it, and who has come and gone."""

    def __init__(self) -> None:
        self.harness = WorldHarness()
        self.client: Client = self.harness.stand(5, name="Aldana")
        assert self.client.player is not None
        self.player = self.client.player
        self.zone = self.player.zone
        self.nearness = self.harness.minds.nearness
        self.guard = self.put("Guard")
        self.log: list[str] = []
        self.go(self.client, 50.0)
        self.harness.run(1.5)

    def put(self, name: str, x: float = PLACE.x) -> Spawn:
        spawn = Spawn(
            self.harness.world.zones.next_spawn_id(), SpawnKind.NPC, name, PLACE._replace(x=x)
        )  # fmt: skip
        self.zone.add_spawn(spawn, self.harness.now)
        return spawn

    def go(self, client: Client, away: float, up: float = 0.0) -> None:
        assert client.player is not None
        goal = PLACE._replace(x=PLACE.x + away, y=PLACE.y + up)
        client.player.teleport(goal, self.harness.now)
        client.player.spawn.is_led_by_client = True

    def noted(self) -> dict[str, Any]:
        return {
            "zone": self.zone,
            "came": lambda one: self.log.append(f"+{one.name}"),
            "went": lambda one: self.log.append(f"-{one.name}"),
        }

    def watch(self, watch: NearnessWatch, owner: str = "one", most: int = 9) -> bool:
        return self.nearness.add_watch(owner, watch, most=most)

    def walk_by(self, *distances: float) -> list[str]:
        """Let the player go to distances one after another; return who came and went."""
        for away in distances:
            self.go(self.client, away)
            self.harness.run(2.1)
        log, self.log = self.log, []
        return log


@pytest.fixture
def lookout() -> Lookout:
    return Lookout()


def test_the_spawn_of_a_script_notices_within_the_sphere(lookout: Lookout) -> None:
    lookout.watch(NearSpawn(spawn=lookout.guard, distance=10.0, **lookout.noted()))
    assert lookout.walk_by(11.0, 9.0, 10.0, 10.5, 10.0) == ["+Aldana", "-Aldana"]
    lookout.go(lookout.client, 1.0, up=30.0)
    lookout.harness.run(2.1)
    assert lookout.log == []


def test_a_behavior_notices_on_the_ground_and_no_hidden_player(lookout: Lookout) -> None:
    lookout.watch(NearActor(spawn=lookout.guard, distance=10.0, pause=1.0, **lookout.noted()))
    lookout.go(lookout.client, 10.0, up=30.0)
    lookout.harness.run(1.1)
    assert lookout.log == ["+Aldana"]
    lookout.player.spawn.set_visibility(hidden=True)
    lookout.harness.run(1.1)
    assert lookout.log == ["+Aldana", "-Aldana"]


def test_a_place_without_a_function_for_leaving_greets_once(lookout: Lookout) -> None:
    def note(text: str) -> Callable[[object], None]:
        return lambda _player: lookout.log.append(text)

    for owner, greets_once in (("both", False), ("once", True)):
        place = AtPlace(
            zone=lookout.zone, place=PLACE, distance=5.0, greets_once=greets_once,
            came=note(f"+{owner}"), went=note(f"-{owner}"),
        )  # fmt: skip
        lookout.watch(place, owner)
    assert lookout.walk_by(1.0, 6.0, 1.0) == ["+both", "+once", "-both", "+both"]


def test_spawns_of_a_kind_come_and_go(lookout: Lookout) -> None:
    others = [lookout.put("Rat", 100.0), lookout.put("Cat", 200.0)]
    watch = NearOthers(spawn=lookout.guard, distance=10.0, others=lambda: others, **lookout.noted())
    lookout.watch(watch)
    lookout.harness.run(2.1)
    for other in others:
        other.move(PLACE)
    lookout.harness.run(2.1)
    others.pop()
    lookout.harness.run(2.1)
    assert lookout.log == ["+Rat", "+Cat", "-Cat"]


@pytest.mark.parametrize(("is_behavior", "log"), [(True, ["-Aldana"]), (False, [])])
def test_who_leaves_the_zone_is_forgotten(
    lookout: Lookout, *, is_behavior: bool, log: list[str]
) -> None:
    if is_behavior:
        lookout.watch(NearActor(spawn=None, distance=0.0, pause=1.0, **lookout.noted()))
    else:
        lookout.watch(NearSpawn(spawn=lookout.guard, distance=10.0, **lookout.noted()))
    assert lookout.walk_by(1.0) == ["+Aldana"]
    lookout.client.say("OP_RequestCampMsg", b"\1\1")
    assert lookout.log == log
    other = lookout.harness.stand(6, name="Borvik")
    lookout.go(other, 1.0)
    lookout.harness.run(2.1)
    assert lookout.log == [*log, "+Borvik"]


def test_an_owner_has_a_limited_number_of_watches_until_they_end(lookout: Lookout) -> None:
    def near() -> NearSpawn:
        return NearSpawn(spawn=lookout.guard, distance=10.0, **lookout.noted())

    assert [lookout.watch(near(), most=2) for _ in range(3)] == [True, True, False]
    lookout.watch(AtPlace(place=PLACE, distance=5.0, **lookout.noted()))
    assert lookout.walk_by(1.0) == ["+Aldana"] * 3
    lookout.nearness.forget("one", NearSpawn)
    assert lookout.walk_by(50.0) == ["-Aldana"]
    lookout.nearness.forget("one")
    assert lookout.walk_by(1.0) == []
    assert not lookout.nearness._groups


def test_events_of_nearness_are_published_to_those_who_subscribe(lookout: Lookout) -> None:
    lookout.watch(NearSpawn(spawn=lookout.guard, distance=10.0, **lookout.noted()))
    lookout.walk_by(1.0)
    heard: list[object] = []
    lookout.harness.world.events.subscribe(Came, heard.append)
    lookout.harness.world.events.subscribe(Went, heard.append)
    lookout.walk_by(50.0, 1.0)
    assert heard == [Went(lookout.player, lookout.guard), Came(lookout.player, lookout.guard)]


def test_a_crowd_is_searched_by_cells_and_nobody_near_is_left_out() -> None:
    harness, chances = WorldHarness(), random.Random(4)
    clients = [harness.stand(10 + number, name=f"P{number}x") for number in range(16)]
    players = [client.player for client in clients if client.player is not None]
    zone = players[0].zone
    for player in players:
        x, z = chances.uniform(-300, 300), chances.uniform(-300, 300)
        player.teleport(PLACE._replace(x=x, z=z), harness.now)
        player.spawn.is_led_by_client = True
    crowd = Crowd(zone, players)
    for center in players:
        for distance in (5.0, 50.0, 200.0, 1e9, math.inf):
            near = [
                one for one in players
                if distance_between(one.spawn, center.spawn) <= distance
            ]  # fmt: skip
            found = list(crowd.near(center.position, distance))
            assert {one.id for one in near} <= {one.id for one in found}
    assert list(crowd.near(PLACE._replace(x=5000.0), 5.0)) == []
    assert list(crowd.near(PLACE, math.nan)) == players
