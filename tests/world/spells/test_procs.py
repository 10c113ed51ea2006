"""Procs and wards."""

from pathlib import Path

import pytest

from emu.world.spells.procs import ProcHarm
from tests.support.world.spell_scenes import SpellScene

WARD = """
[[spell]]
id = 600
name = "Shield"
script = "Spells/Shield.lua"
target = 0
is_friendly = true
[[spell.tier]]
duration1 = 600
values = [20]
"""
SHIELD = "function cast(Caster, Target, Amount) AddWard(Amount) end"
THORNS = """
function cast(Caster, Target) AddProc(Target, 15, 100) end
function proc(Caster, Target, Type)
    ProcDamage(Caster, Target, "Thorns", 3, 5, 5)
end
"""


@pytest.fixture
def scene(tmp_path: Path) -> SpellScene:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    return SpellScene(tmp_path, toml=WARD)


def hurt(scene: SpellScene, points: int, crab: object = None) -> int:
    harm, own = scene.harness.minds.harm, scene.player.spawn
    through = harm.through(scene.zone, own, crab, points)  # type: ignore[arg-type]
    harm.take_health(scene.zone, own, crab, through)  # type: ignore[arg-type]
    return through


def test_a_ward_takes_damage_until_it_is_used_up(scene: SpellScene) -> None:
    scene.script(SHIELD, "Spells/Shield.lua")
    scene.spells.cast_for_free(scene.player, scene.kind(600), 1, None)
    assert scene.effects()
    assert hurt(scene, 15) == 0
    message = scene.client.decoded("WS_HearHeal")[-1]
    assert (message["heal_amt"], message["type"]) == (15, 2)
    assert hurt(scene, 15) == 10
    assert scene.effects() == []
    assert hurt(scene, 15) == 15


def test_a_proc_answers_damage(scene: SpellScene) -> None:
    scene.script(THORNS, "Spells/Shield.lua")
    scene.spells.cast_for_free(scene.player, scene.kind(600), 1, None)
    crab = scene.creature()
    hurt(scene, 10, crab)
    assert crab.sheet.health.current == 9_995
    hurt(scene, 0, crab)
    assert crab.sheet.health.current == 9_995


@pytest.mark.parametrize("kind", [-1, 15, 259])
def test_a_proc_of_an_unknown_type_harms_like_a_blow(scene: SpellScene, kind: int) -> None:
    # A script of the community passes another value as the type in its `remove`.
    crab = scene.creature()
    harm = ProcHarm("Bleeding", kind, 5, 5)
    scene.spells.procs.damage(scene.zone, scene.player.spawn, crab, harm)
    assert crab.sheet.health.current < 10_000
    assert scene.client.decoded("WS_HearSimpleDamage")[-1]["dmg_array"][0]["damage_type"] == 0
