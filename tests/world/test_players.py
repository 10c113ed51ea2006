"""The players of a process, and their deadlines."""

from __future__ import annotations

import pytest

from emu.times import Monotonic
from emu.world.actors.player import PlayerDeadline
from emu.world.players import PlayerDeadlines
from emu.world.reports import Faults
from tests.support.times import timetable
from tests.support.world.worlds import WorldHarness


def test_players_are_found_by_every_name(harness: WorldHarness) -> None:
    one = harness.stand(5, name="Aldana").player
    players = harness.world.players
    assert players.get(5) is players.named("aLDANA") is one
    assert list(players) == [one]
    assert one is not None
    assert players.of_spawn(one.spawn) is one
    assert players.of_spawn(None) is None
    players.remove(one)
    players.remove(one)
    assert (players.get(5), players.named("Aldana")) == (None, None)
    assert players.of_spawn(one.spawn) is None


def test_a_deadline_of_a_player_is_handled_by_the_component_that_it_belongs_to(
    harness: WorldHarness,
) -> None:
    player = harness.stand(5, name="Aldana").player
    assert player is not None
    faults, times, handled = Faults(lambda _event: None), timetable(), []
    deadlines = PlayerDeadlines(times, faults)
    deadlines.on(PlayerDeadline.CAMP, lambda who, now: handled.append((who, now)))
    with pytest.raises(ValueError, match="camp has a handler already"):
        deadlines.on(PlayerDeadline.CAMP, lambda *_: None)
    deadlines.on(PlayerDeadline.VERB, lambda *_: 1 / 0)
    deadlines.set(player, PlayerDeadline.VERB, Monotonic(1.0))
    deadlines.set(player, PlayerDeadline.CAMP, Monotonic(2.0))
    assert deadlines.get(player, PlayerDeadline.CAMP) == 2.0
    times.handle_timer(Monotonic(3.0))
    assert handled == [(player, 3.0)]
    assert faults.counts == {"a player's deadline (verb)": 1}
    deadlines.set(player, PlayerDeadline.CAMP, Monotonic(9.0))
    deadlines.forget(player)
    assert not deadlines.clear(player, PlayerDeadline.CAMP)
    assert times.get_timer() is None
