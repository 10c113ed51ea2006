"""Players reach level 6 by kills alone on the real Isle of Refuge, in virtual time.

It needs a content file (EMU_CONTENT) and the scripts (EMU_CONTENT_SCRIPTS). EMU_EXPERIENCE_RATE is
the rate of experience: 10 by default, and about 200 kills at 1.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

from emu.world_stream.movement import Position
from tests.support.world.adventurers import Adventurer
from tests.support.world.real_content import CONTENT, SCRIPTS, WHY_NOT

pytestmark = [
    pytest.mark.skipif(not (CONTENT and SCRIPTS), reason=WHY_NOT),
    pytest.mark.slow,
    pytest.mark.usefixtures("collect_garbage"),
]
RATE = float(os.environ.get("EMU_EXPERIENCE_RATE", "10"))
ISLE_CAP, COMMONER_CAP = 6, 3
NEEDS_CLASS = "You must select your archetype to gain levels."
NEEDS_TRAVEL = "You must leave the Isle to gain levels."


@pytest.mark.parametrize(
    ("version", "class_"), [(546, 1), (1208, 31), (60114, 21)]
)  # fmt: skip
def test_kills_lead_to_the_sixth_level_and_no_further(version: int, class_: int) -> None:
    one = Adventurer(version, class_, RATE)
    one.hunt_until(NEEDS_TRAVEL, most=max(60, int(600 / RATE)))
    assert one.level == ISLE_CAP
    levels = Counter(text for text in one.texts() if text.startswith("You are now level"))
    expected = [f"You are now level {level}!" for level in range(2, ISLE_CAP + 1)]
    assert levels == Counter(expected), "each level counts once"
    assert one.world.store.rows[1].level == ISLE_CAP
    assert one.kills >= 10
    while not any("from the corpse of" in text for text in one.texts()):
        assert one.kills < 100, "nothing was looted"
        one.hunt()


def test_a_commoner_stops_at_the_third_level() -> None:
    one = Adventurer(546, 0, RATE)
    one.hunt_until(NEEDS_CLASS, most=max(40, int(200 / RATE)))
    assert one.level == COMMONER_CAP
    one.world.parts.levels.set_class(one.player, 1, one.world.now)
    most = one.kills + max(40, int(200 / RATE))
    while one.level == COMMONER_CAP and one.kills < most:
        one.hunt()
    assert one.level == COMMONER_CAP + 1


def test_who_walks_to_its_shard_recovers_debt() -> None:
    """Recorded with the same script at 546, 1208 and 60114 (fight-546-death-a and its kin)."""
    one = Adventurer(1208, 1, RATE)
    while one.player.spawn.hp_percent > 0:
        one.fight(one.prey(is_strong=True))
    (shard,) = one.player.character.shards
    one.client.types("revive")
    one.world.run(5.0)
    assert one.player.character.experience_debt == 500
    one.player.teleport(Position(shard.x, shard.y, shard.z, 0.0, shard.grid), one.world.now)
    one.world.run(5.0)
    assert "You recover a spirit shard and recovered some experience debt." in one.texts()
    assert one.player.character.experience_debt == 50
    assert one.player.character.shards == ()
    assert not [spawn for spawn in one.player.zone if spawn.name.endswith("spirit shard")]


def test_death_on_the_isle_costs_debt_that_kills_pay() -> None:
    one = Adventurer(1208, 1, RATE)
    while one.player.spawn.hp_percent > 0:
        one.fight(one.prey(is_strong=True))
    assert one.player.character.experience_debt == 500
    one.hunt()
    texts = one.texts()
    assert any(text.startswith("Reviving in Isle of Refuge at ") for text in texts)
    while not one.kills:
        one.hunt()
    assert one.player.character.experience_debt < 500
