"""Rest: vitality and debt with the time, in the world and away from it."""

from dataclasses import replace

import pytest

from tests.support.world.fights import Fight


def test_players_rest_in_the_world() -> None:
    fight = Fight(experience_debt=1000)
    fight.run(600.5)
    # Half a percent of the debt is forgiven each 600 s.
    assert fight.player.character.experience_debt == 995
    fight.run(3000.0)
    assert fight.player.character.experience_debt in (969, 970)
    assert fight.player.character.vitality in range(495, 502)


def test_players_rest_while_they_are_away() -> None:
    fight = Fight(experience_debt=1000)
    harness = fight.harness
    harness.service.closed(fight.player, fight.client, "the test cuts it", harness.now)
    harness.run(200.0)
    row = harness.store.rows[5]
    harness.store.rows[5] = replace(row, rested=row.rested - 36_000.0)
    again = harness.stand(5)
    assert again.player is not None
    # Ten hours are ten times half a percent of a level, and sixty periods of the debt.
    assert 5000 <= again.player.character.vitality < 5100
    assert 700 < again.player.character.experience_debt < 750


@pytest.mark.slow
def test_rules_count_at_once() -> None:
    fight = Fight()
    harness = fight.harness
    harness.world.rules = replace(harness.world.rules, vitality_gain=25.0)
    fight.run(3600.5)
    assert 24_900 <= fight.player.character.vitality <= 25_100
    fight.run(6 * 3600.0)
    assert fight.player.character.vitality == 100_000
