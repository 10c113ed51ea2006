"""The face of the world for behaviors."""

from __future__ import annotations

import pytest

from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.behaviors import Actor, Visitor, ZoneActor
from emu.world_stream.movement import Position
from tests.support.world.worlds import WorldHouse


def test_a_visitor_shows_the_player_and_acts_on_it(house: WorldHouse) -> None:
    client, other = house.stand(5, name="Aldana"), house.stand(6)
    house.run(0.5)
    visitor = Visitor(client.player, house.behaviors.stage)
    assert (visitor.id, visitor.name, visitor.level, visitor.race) == (5, "Aldana", 1, 9)
    assert visitor == Visitor(client.player, house.behaviors.stage)
    assert visitor != Visitor(other.player, house.behaviors.stage)
    assert len({visitor, Visitor(client.player, house.behaviors.stage)}) == 1
    assert repr(visitor) == "Visitor('Aldana')"
    visitor.tell("psst")
    assert client.decoded("WS_DisplayText")[-1]["text"] == "psst"
    assert "OP_EqDisplayTextCmd" not in other.names
    visitor.move_to(1.0, 2.0, 240.0)
    assert visitor.place == (1.0, 2.0, 240.0)
    visitor.give_title("of the Isle")
    house.run(0.5)
    assert other.fields_of("Aldana")["suffix"] == "of the Isle"


def test_an_actor_sees_who_is_near(house: WorldHouse) -> None:
    client, _ = house.stand(5, name="Aldana"), house.stand(6, name="Far", zone_id=12)
    zone = client.player.zone
    spawn = Spawn(house.world.next_spawn_id(), SpawnKind.NPC, "Guard", Position(0, 0, 243))
    zone.add(spawn, house.now)
    house.behaviors.add("greeter", {}, zone, spawn, house.now)
    house.behaviors.add("greeter", {}, zone, None, house.now)
    actors = [part.owner.me for part in house.behaviors._in_zone[zone]]
    [actor] = [one for one in actors if isinstance(one, Actor)]
    [place] = [one for one in actors if isinstance(one, ZoneActor)]
    assert (actor.name, actor.place, actor.home) == ("Guard", (0, 0, 243), (0, 0, 243))
    assert [one.name for one in actor.visitors(50.0)] == ["Aldana"]
    assert actor.visitors(1.0) == []
    assert [one.name for one in place.visitors()] == ["Aldana"]
    actor.emote("yawns")
    assert ("10", "Guard", "yawns") in client.hears()


@pytest.mark.parametrize(("asked", "speed"), [(1e9, 30.0), (30.5, 30.0), (29.5, 29.5), (-4.0, 0.1)])
def test_an_actor_walks_no_faster_than_players_may(
    house: WorldHouse, asked: float, speed: float
) -> None:
    client = house.stand(5)
    zone = client.player.zone
    spawn = Spawn(house.world.next_spawn_id(), SpawnKind.NPC, "Guard", Position(0, 0, 243))
    zone.add(spawn, house.now)
    house.behaviors.add("greeter", {}, zone, spawn, house.now)
    [part] = house.behaviors._in_zone[zone]
    house.behaviors.stage.now = house.now
    part.owner.me.walk((1000.0, 0.0, 243.0), speed=asked)
    assert house.world.rules.movement.fastest == 30.0
    house.run(10.0)
    assert 8.0 * speed <= spawn.position.x <= 10.01 * speed
    assert spawn.speed == speed
