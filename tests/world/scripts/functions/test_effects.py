"""Functions of spells that give something until they end."""

from pathlib import Path

import pytest

from tests.support.world.spell_scenes import SpellScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

TOML = """
[[spell]]
id = 900
name = "Mix"
script = "Spells/Mix.lua"
target = 1
is_friendly = true
[[spell.tier]]
range = 25
duration1 = 100
values = [5]
"""


@pytest.fixture
def scene(tmp_path: Path) -> SpellScene:
    return SpellScene(tmp_path, toml=TOML)


def lasting(scene: SpellScene, body: str, target: object = None) -> None:
    scene.script(f"function cast(Caster, Target, Value) {body} end", "Spells/Mix.lua")
    scene.spells.cast_for_free(scene.player, scene.kind(900), 1, target)  # type: ignore[arg-type]


def test_bonuses_skills_and_immunities(scene: SpellScene) -> None:
    lasting(
        scene,
        """AddSpellBonus(Target, 0, Value) AddSpellBonus(Target, 1, 10, 12)
        AddSpellBonus(Target, 2, 0) AddSkillBonus(Target, 77, 5) AddImmunitySpell(4, Target)
        AddControlEffect(Target, 4) SetStr(Target, 7)""",
    )
    own = scene.player.spawn
    assert (own.sheet.attribute("str"), own.sheet.attribute("sta")) == (27, 20)
    assert own.sheet.spells.skills == {77: 5.0}
    assert scene.spells.skill_of(own, 77) == 5
    assert 4 not in own.sheet.spells.controls
    scene.spells.forget(own)
    assert own.sheet.attribute("str") == 20


def test_stealth_and_its_end(scene: SpellScene) -> None:
    lasting(scene, "Stealth(1, Target)")
    asked = ("IsStealthed(Spawn)", "IsInvis(Spawn)")
    assert scene.says("", *asked) == ["true", "false"]
    scene.says("RemoveStealth(Spawn)")
    assert scene.effects() == []
    assert scene.says("", *asked) == ["false", "false"]


def test_controls_are_asked_and_removed(scene: SpellScene) -> None:
    crab = scene.creature()
    lasting(scene, "AddControlEffect(Target, 1) AddControlEffect(Target, 10)", crab)
    assert crab.sheet.spells.controls == {1}
    scene.harness.minds.harm.take_health(scene.zone, crab, scene.player.spawn, 5)
    assert crab.sheet.spells.controls == frozenset()


def test_hate_is_passed_on(scene: SpellScene) -> None:
    friend, crab = scene.friend().spawn, scene.creature()
    lasting(scene, "AddThreatTransfer(Caster, Target, 40)", friend)
    # The spell lasts on the friend; the one who passes on hate is its caster.
    state = scene.effects(friend)[0]
    assert state.gifts[scene.player.spawn].threat == (friend, 40.0)
    scene.state().effects.append(state)
    scene.spells.amounts.hate(scene.zone, crab, scene.player.spawn, 100)
    assert crab.mind.hates == {scene.player.spawn: 60, friend: 40}
