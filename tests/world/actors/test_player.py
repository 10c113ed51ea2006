"""One player's own state."""

from __future__ import annotations

from emu.world.actors.player import PlayerState
from emu.world.actors.spawn import Spawn, SpawnKind
from tests.support.world.worlds import WorldHarness


def test_a_player_knows_where_it_is_and_who_plays_it(harness: WorldHarness) -> None:
    player = harness.stand(5, name="Aldana").player
    assert (player.id, player.name) == (5, "Aldana")
    assert player.position == player.spawn.position
    assert player.is_online
    assert player.index_of(player.spawn) == 1
    player.state = PlayerState.LINK_DEAD
    assert not player.is_online
    player.viewer = None
    assert player.index_of(player.spawn) is None


def test_what_a_player_is_made_to_target_is_shown_to_its_client(harness: WorldHarness) -> None:
    one, other = harness.stand(5, name="Aldana"), harness.stand(6, name="Borvik")
    target = other.player.spawn
    one.player.aim(target)
    assert one.player.target is target
    assert one.decoded("WS_ServerUpdateTarget") == [{"spawn_id": one.player.index_of(target)}]


def test_a_target_is_not_shown_before_the_client_has_its_ghost(harness: WorldHarness) -> None:
    one = harness.stand(5, name="Aldana")
    target = Spawn(99, SpawnKind.NPC, "a wolf", one.player.position)
    one.player.aim(target)
    assert one.player.target is target
    assert one.decoded("WS_ServerUpdateTarget") == []
    assert one.player.viewer is not None
    assert one.player.viewer.awaited is not None
    assert one.player.viewer.awaited[0] is target
