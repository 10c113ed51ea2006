"""The face of the world for behaviors."""

from __future__ import annotations

from typing import Any

import pytest

from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.behaviors import Actor, OutOfTime, Visitor, ZoneActor
from emu.world_stream.movement import Position
from tests.support.world.worlds import WorldHarness


def test_a_visitor_shows_the_player_and_acts_on_it(harness: WorldHarness) -> None:
    client, other = harness.stand(5, name="Aldana"), harness.stand(6)
    harness.run(0.5)
    visitor = Visitor(client.player, harness.behaviors.context)
    assert (visitor.id, visitor.name, visitor.level, visitor.race) == (5, "Aldana", 1, 9)
    assert visitor == Visitor(client.player, harness.behaviors.context)
    assert visitor != Visitor(other.player, harness.behaviors.context)
    assert len({visitor, Visitor(client.player, harness.behaviors.context)}) == 1
    assert repr(visitor) == "Visitor('Aldana')"
    visitor.tell("psst")
    assert client.decoded("WS_DisplayText")[-1]["text"] == "psst"
    assert "OP_EqDisplayTextCmd" not in other.names
    visitor.move_to(1.0, 2.0, 240.0)
    assert visitor.place == (1.0, 2.0, 240.0)
    visitor.give_title("of the Isle")
    harness.run(0.5)
    assert other.fields_of("Aldana")["suffix"] == "of the Isle"


def test_an_actor_sees_who_is_near(harness: WorldHarness) -> None:
    client, _ = harness.stand(5, name="Aldana"), harness.stand(6, name="Far", zone_id=12)
    zone = client.player.zone
    spawn = Spawn(harness.world.zones.next_spawn_id(), SpawnKind.NPC, "Guard", Position(0, 0, 243))
    zone.add_spawn(spawn, harness.now)
    harness.behaviors.start_behavior("greeter", {}, zone, spawn)
    harness.behaviors.start_behavior("greeter", {}, zone, None)
    actors = [part.owner.me for part in harness.behaviors._in_zone[zone]]
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
    harness: WorldHarness, asked: float, speed: float
) -> None:
    client = harness.stand(5)
    zone = client.player.zone
    spawn = Spawn(harness.world.zones.next_spawn_id(), SpawnKind.NPC, "Guard", Position(0, 0, 243))
    zone.add_spawn(spawn, harness.now)
    harness.behaviors.start_behavior("greeter", {}, zone, spawn)
    [part] = harness.behaviors._in_zone[zone]
    part.owner.me.walk((1000.0, 0.0, 243.0), speed=asked)
    assert harness.world.rules.movement.fastest == 30.0
    harness.run(10.0)
    assert 8.0 * speed <= spawn.position.x <= 10.01 * speed
    assert spawn.speed == speed


TIMED: dict[str, dict[str, tuple[Any, ...]]] = {
    "Visitor": {
        "tell": ("psst",), "move_to": (1.0, 2.0, 3.0), "send_to": ("antonica",),
        "give_title": ("of the Isle",), "has": (7,), "give": (7,), "take": (7,), "coin": (5,),
    },
    "ZoneActor": {"memory_of": (Visitor,), "visitors": (), "after": (1.0,)},
    "Actor": {"memory_of": (Visitor,),
        "visitors": (50.0,), "say": ("hello",), "emote": ("waves",), "walk": ((1.0, 2.0, 3.0),),
        "stop": (), "follow": (Visitor,), "go_home": (), "flee": (),
        "look_at": (Visitor,), "ask": (Visitor, "Well?", "yes"), "after": (1.0,),
    },
}  # fmt: skip
"""Every method that behaviors may call, with arguments; the class stands for a visitor."""


def test_every_method_for_behaviors_checks_the_time(
    harness: WorldHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A behavior that spends its time inside the server's methods must be stopped there."""
    player = harness.stand(5).player
    assert player is not None
    zone, context = player.zone, harness.behaviors.context
    spawn = Spawn(harness.world.zones.next_spawn_id(), SpawnKind.NPC, "Guard", Position(0, 0, 243))
    zone.add_spawn(spawn, harness.now)
    harness.behaviors.start_behavior("greeter", {}, zone, spawn)
    [behavior] = harness.behaviors._in_zone[zone]
    visitor = Visitor(player, context, behavior)
    objects = {"Visitor": visitor, "ZoneActor": ZoneActor(behavior, context),
               "Actor": Actor(behavior, spawn, context)}  # fmt: skip

    def time_is_up() -> None:
        raise OutOfTime

    monkeypatch.setattr(context.budget, "check", time_is_up)
    for name, one in objects.items():
        methods = [
            method
            for kind in type(one).__mro__[:-1]
            for method, value in vars(kind).items()
            if callable(value) and not method.startswith("_")
        ]
        assert sorted(methods) == sorted(TIMED[name])
        for method in methods:
            values = [visitor if value is Visitor else value for value in TIMED[name][method]]
            with pytest.raises(OutOfTime):
                getattr(one, method)(*values)


def test_a_player_on_its_way_is_not_sent_again(harness: WorldHarness) -> None:
    player = harness.stand(5).player
    assert player is not None
    player.journey.is_travelling = True
    Visitor(player, harness.behaviors.context).send_to("antonica")
    assert harness.behaviors.counters["not sent to a zone"] == 0
    player.journey.is_travelling = False
    Visitor(player, harness.behaviors.context).send_to("antonica")
    assert player.journey.destination is not None


def test_a_walk_goes_in_steps_of_a_quarter_of_a_second(harness: WorldHarness) -> None:
    player = harness.stand(5).player
    assert player is not None
    spawn = Spawn(harness.world.zones.next_spawn_id(), SpawnKind.NPC, "Guard", Position(0, 0, 243))
    player.zone.add_spawn(spawn, harness.now)
    harness.behaviors.start_behavior("greeter", {}, player.zone, spawn)
    [part] = harness.behaviors._in_zone[player.zone]
    part.owner.me.walk((1000.0, 0.0, 243.0), speed=4.0)
    harness.run(0.9)
    assert spawn.position.x == pytest.approx(3.0)


def test_an_actor_follows_a_player_and_goes_home(harness: WorldHarness) -> None:
    player = harness.stand(5).player
    assert player is not None
    at = player.position
    home = at._replace(x=at.x + 20.0)
    spawn = Spawn(harness.world.zones.next_spawn_id(), SpawnKind.NPC, "Guard", home)
    player.zone.add_spawn(spawn, harness.now)
    harness.behaviors.start_behavior("greeter", {}, player.zone, spawn)
    [part] = harness.behaviors._in_zone[player.zone]
    me, visitor = part.owner.me, Visitor(player, harness.behaviors.context)
    me.follow(visitor, 3.0)
    harness.behaviors.context.do_afterwards()
    harness.run(8.0)
    assert me.place[0] == pytest.approx(at.x + 3.0, abs=1.0)
    me.go_home()
    harness.behaviors.context.do_afterwards()
    harness.run(10.0)
    assert me.place == home[:3]
    assert me.flee() is False, "the zone has no mesh"
