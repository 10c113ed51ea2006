"""Spawns as a client sees them, in a world over a simulated network."""

from functools import partial
from typing import Any

import pytest

from emu.client.evening.seen import SeenSpawns
from emu.rules.stance import Encounter
from emu.world.actors.spawn import Spawn, SpawnKind
from tests.support.sessions.lossy_net import LossyReactor
from tests.support.world.lossy_world import LossyWorld

pytestmark = pytest.mark.usefixtures("collect_garbage")


@pytest.mark.parametrize("version", [546, 1208, 60114])
def test_a_spawn_comes_is_hurt_and_goes(version: int) -> None:
    world = LossyWorld(LossyReactor(delay=0.01))
    states: list[tuple[Any, ...]] = []

    async def whole() -> None:
        world.harness.character(1, name="Bota")
        early: list[Any] = []
        client = await world.enter(1, version, early.append)
        seen = SeenSpawns(client.core)
        for event in early:
            seen.handle_event(event, client.now())
        client.on_event = lambda event: seen.handle_event(event, client.now())
        player = world.harness.world.players.get(1)
        assert player is not None
        at = player.position._replace(x=player.position.x + 12.0)
        number = world.harness.world.zones.next_spawn_id()
        crab = Spawn(number, SpawnKind.NPC, "a crab", at, level=4, attackable=True)
        crab.sheet.health.fill(10)
        player.zone.add_spawn(crab, world.harness.world.clock.now())
        look = partial(_looked, seen)
        await client.pause(2.0)
        states.append(look())
        crab.sheet.health.set_current(4)
        crab.set_info(hp_percent=40)
        crab.set_encounter(Encounter.LOCKED, frozenset({player.spawn.id}))
        await client.pause(2.0)
        states.append(look())
        crab.set_encounter(Encounter.LOCKED, frozenset({number}))
        await client.pause(2.0)
        states.append(look())
        player.zone.remove(crab, world.harness.world.clock.now())
        await client.pause(2.0)
        states.append(look())
        assert seen.remembered["a crab"].x == pytest.approx(at.x, abs=0.1)
        start = at._replace(z=at.z + 5.0)
        goal, after = (
            start._replace(x=start.x + 4.0),
            start._replace(x=start.x + 4.0, z=start.z + 9),
        )
        walker = Spawn(number + 1, SpawnKind.NPC, "a guard", start, level=4)
        walker.speed, walker.ahead = 2.0, (goal, after)
        player.zone.add_spawn(walker, world.harness.world.clock.now())
        await client.pause(1.0)
        guard = next(one for one in seen.all() if one.name == "a guard")
        begun = seen.place_now(guard, client.now())
        shrine = Spawn(number + 2, SpawnKind.OBJECT, "a shrine", start)
        shrine.hand_icon, shrine.show_commands = 1, True
        stone = Spawn(number + 3, SpawnKind.OBJECT, "a stone", start)
        for one in (shrine, stone):
            player.zone.add_spawn(one, world.harness.world.clock.now())
        await client.pause(1.0)
        icons = {one.name: one.shows_verb for one in seen.all()}
        assert icons["a shrine"]
        assert not icons["a stone"]
        assert start.x < begun.x < goal.x
        seen.forget()
        assert seen.remembered == {}
        await client.leave()

    world.reactor.drive(whole())
    crab = ("a crab", 4, True, False)
    assert states == [(*crab, 0, False), (*crab, 60, True), (*crab, 60, False), ()]


def _looked(seen: SeenSpawns) -> tuple[Any, ...]:
    found = [one for one in seen.all() if one.name == "a crab"]
    states = (
        (one.name, one.level, one.is_enemy, one.is_dead, one.harm, one.fights_it) for one in found
    )
    return next(states, ())
