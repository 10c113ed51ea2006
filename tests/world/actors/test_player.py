"""One player's own state."""

from __future__ import annotations

from emu.world.actors.player import PlayerState
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
