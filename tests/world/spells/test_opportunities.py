"""Heroic opportunities: starters, wheels, their ends, and what completes them.

Source: ../shared/data/recordings/fight-546-heroic-a, which tests/world/combat/test_fights_replay.py
plays again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from emu.spells.opportunities import HeroicStarter, HeroicTable, HeroicWheel
from emu.world.events import LeftZone
from tests.support.world.spell_scenes import BUFF, HEAL, SMITE, SpellScene

pytest.importorskip("lupa", reason="the package lupa is not installed")
SMITE_ID, HEAL_ID, COURAGE = 110014, 110012, 110002
STARTERS = (HeroicStarter(4, 11, 17, 41), HeroicStarter(5, 11, 17, 14))
CERTAIN = SMITE.replace("range = 25", "range = 25\nhit_bonus = 100")


def scene_of(tmp_path: Path, *wheels: HeroicWheel) -> SpellScene:
    scene = SpellScene(tmp_path, toml=CERTAIN + HEAL + BUFF)
    scene.kinds._opportunities = HeroicTable(STARTERS, wheels)
    scene.know(SMITE_ID, HEAL_ID)
    return scene


def wheel(*abilities: int, in_order: bool = False) -> HeroicWheel:
    return HeroicWheel(33, 5, in_order, 41, COURAGE, 10.0, abilities)


def shown(scene: SpellScene) -> list[dict[str, Any]]:
    return scene.client.decoded("WS_HeroicOpportunity")


def turn(scene: SpellScene) -> None:
    """Start an opportunity, and let a wheel turn."""
    scene.spells.opportunities.start(scene.player, 11)
    scene.cast(SMITE_ID, scene.creature())
    scene.run(2.2)


def test_the_messages_are_as_recorded(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, wheel(12))
    scene.spells.opportunities.start(scene.player, 11)
    (payload,) = scene.payloads("OP_UpdateOpportunityMsg")
    assert payload.hex() == (
        "0000000001000000040000ffff1100000000000000000029000e00ffffffffffffffff000000000000"
    )
    turn(scene)
    payload = scene.payloads("OP_UpdateOpportunityMsg")[-1]
    assert payload.hex().endswith(
        "010000000000002900ffff00002041000020410c00ffffffffffffffffffff000000000000"
    )


def test_a_completed_wheel_casts_its_spell(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, wheel(12))
    turn(scene)
    scene.run(1.0)
    scene.cast(HEAL_ID)
    scene.run(2.2)
    over = shown(scene)[-1]
    assert (over["wheel_type"], over["unknown"], over["countered"][0]) == (2, 2, 1)
    assert [one.kind.id for one in scene.effects()] == [COURAGE]
    scene.run(20.0)
    assert shown(scene)[-1] == over


def test_a_wheel_fails_after_ten_seconds(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, wheel(12))
    turn(scene)
    scene.run(10.1)
    over = shown(scene)[-1]
    assert (over["wheel_type"], over["unknown"], over["time_left"]) == (2, 1, 0.0)
    scene.cast(HEAL_ID)
    scene.run(2.2)
    assert scene.effects() == []


def test_an_ordered_wheel_waits_for_its_next_ability(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, wheel(12, 14, in_order=True))
    turn(scene)
    scene.run(1.5)
    scene.cast(SMITE_ID, scene.creature())
    scene.run(2.2)
    assert shown(scene)[-1]["countered"] == [0] * 6
    scene.run(0.5)
    scene.cast(HEAL_ID)
    scene.run(2.2)
    assert shown(scene)[-1]["countered"] == [1, 0, 0, 0, 0, 0]


def test_nothing_starts_without_a_starter_or_in_a_turning_wheel(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, wheel(12))
    scene.spells.opportunities.start(scene.player, 21)
    assert shown(scene) == []
    turn(scene)
    count = len(shown(scene))
    scene.spells.opportunities.start(scene.player, 11)
    assert len(shown(scene)) == count


def test_whoever_leaves_ends_it(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, wheel(12))
    turn(scene)
    count = len(shown(scene))
    scene.harness.world.events.publish(LeftZone(scene.player))
    scene.run(12.0)
    assert len(shown(scene)) == count


@pytest.mark.parametrize("end", ["death", "zone"])
def test_the_group_sees_that_the_wheel_of_who_is_gone_is_over(tmp_path: Path, end: str) -> None:
    scene = scene_of(tmp_path, wheel(12))
    friend = scene.friend()
    scene.client.types(f"invite {friend.name}")
    scene.client_of(friend).types("acceptinvite")
    turn(scene)
    if end == "death":
        scene.harness.minds.harm.kill(scene.zone, scene.player.spawn, None)
    else:
        scene.harness.world.events.publish(LeftZone(scene.player))
    over = scene.client_of(friend).decoded("WS_HeroicOpportunity")[-1]
    assert (over["wheel_type"], over["unknown"]) == (2, 1)
    assert shown(scene)[-1]["wheel_type"] == (2 if end == "death" else 0)


def test_a_script_starts_it_in_a_fight(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, wheel(12))
    crab = scene.creature()
    ask = 'GetInfoStructUInt(Spawn, "engaged_encounter")'
    assert scene.says("", ask)[-1] == "0"
    scene.harness.minds.harm.take_health(scene.zone, crab, scene.player.spawn, 1)
    assert scene.says("StartHeroicOpportunity(Spawn, 11)", ask)[-1] == "1"
    assert shown(scene)[-1]["wheel_type"] == 4
