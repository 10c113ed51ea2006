"""The world's spawns as actors."""

import pytest

from emu.admin.ggmp.acting import GgmpPlace
from emu.errors import CommandError
from emu.net.admin.ggmp import ActorWorld
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world_stream.movement import Position
from tests.support.admin.worked_examples import server_status
from tests.support.world.worlds import WorldHarness


@pytest.fixture
def harness() -> WorldHarness:
    return WorldHarness()


def context_of(harness: WorldHarness) -> ActorWorld:
    return ActorWorld(harness.world, harness.chat, lambda _now: server_status())


def guard_beside(harness: WorldHarness, name: str = "Alice") -> Spawn:
    player = harness.world.players.named(name)
    assert player is not None
    spawn = Spawn(
        harness.world.zones.next_spawn_id(),
        SpawnKind.NPC,
        "a guard",
        player.position,
        attackable=False,
    )
    player.zone.add_spawn(spawn, harness.now)
    return spawn


def test_spawns_are_found_by_number_name_and_zone(harness: WorldHarness) -> None:
    harness.stand(1, name="Alice")
    guard = guard_beside(harness)
    context = context_of(harness)
    state = context.find(guard.id)
    assert state is not None
    assert (state.name, state.place.x) == ("a guard", guard.position.x)
    assert context.named("A GUARD") == state
    alice = context.named("alice")
    assert alice is not None
    assert {alice.id, guard.id} <= set(context.inside(state.zone))
    assert context.inside(9999) == []
    assert context.find(99_999) is None
    assert context.named("nobody") is None


def test_a_creature_is_moved_and_speaks(harness: WorldHarness) -> None:
    client = harness.stand(1, name="Alice")
    guard = guard_beside(harness)
    context = context_of(harness)
    context.move(guard.id, GgmpPlace(1.0, 2.0, 3.0, 450.0))
    assert guard.position == Position(1.0, 2.0, 3.0, 90.0, guard.position.grid)
    assert client.player is not None
    context.move(guard.id, GgmpPlace(*client.player.position[:4]))
    before = len(client.log)
    context.say(guard.id, "Halt!")
    assert len(client.log) > before


def test_the_server_speaks_to_all_players(harness: WorldHarness) -> None:
    """Actor 0 is the server: docs/protocol/administration/ggmp.md#actions."""
    clients = harness.stand(1, name="Alice"), harness.stand(2, 1208, name="Borvik")
    context_of(harness).say(0, "The server stops at noon.")
    for client in clients:
        shown = client.decoded("WS_DisplayText")[-1]
        assert shown["text"] == "The server stops at noon."
    with pytest.raises(CommandError, match="no actor 0"):
        context_of(harness).move(0, GgmpPlace(0.0, 0.0, 0.0, 0.0))


def test_only_players_of_its_zone_hear_a_creature(harness: WorldHarness) -> None:
    near = harness.stand(1, name="Alice")
    loading, elsewhere = harness.enter(2, name="Bob"), harness.stand(3, name="Carol", zone_id=12)
    guard = guard_beside(harness)
    harness.run(1.0)
    context_of(harness).say(guard.id, "Halt!")
    assert [text for _, _, text in near.hears()] == ["Halt!"]
    assert loading.hears() == elsewhere.hears() == []


def test_players_act_for_themselves(harness: WorldHarness) -> None:
    harness.stand(1, name="Alice")
    context = context_of(harness)
    alice = context.named("Alice")
    assert alice is not None
    with pytest.raises(CommandError, match="Alice is a player"):
        context.say(alice.id, "I give it all away")
    with pytest.raises(CommandError, match="Alice is a player"):
        context.move(alice.id, GgmpPlace(0.0, 0.0, 0.0, 0.0))
    with pytest.raises(CommandError, match="no actor 99999"):
        context.say(99_999, "hello")
