"""Functions of spells that give something until they end."""

from dataclasses import replace
from pathlib import Path

import pytest

from emu.world.events import Entered, LeftZone
from emu.world.spells.living import End
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


def test_a_player_who_holds_itself_is_let_go_at_the_end(scene: SpellScene) -> None:
    lasting(scene, "AddControlEffect(Caster, 5)")
    assert scene.player.spawn.sheet.spells.controls == {5}
    scene.spells.lasting.end(scene.effects()[0], End.CANCELED)
    shown = scene.client.decoded("WS_ServerControlFlags")
    assert [(one["parameter"], one["value"]) for one in shown[-2:]] == [(8, 1), (8, 0)]


def test_hate_is_passed_on(scene: SpellScene) -> None:
    friend, crab = scene.friend().spawn, scene.creature()
    lasting(scene, "AddThreatTransfer(Caster, Target, 40)", friend)
    # The spell lasts on the friend; the one who passes on hate is its caster.
    state = scene.effects(friend)[0]
    assert state.gifts[scene.player.spawn].threat == (friend, 40.0)
    scene.state().effects.append(state)
    scene.spells.amounts.hate(scene.zone, crab, scene.player.spawn, 100)
    assert crab.mind.hates == {scene.player.spawn: 60, friend: 40}


def test_an_illusion_ends_with_its_spell(scene: SpellScene) -> None:
    """eq2-lua.md 3: "in a spell: its targets, undone at its end; 0 removes"."""
    friend = scene.friend().spawn
    lasting(scene, "SetIllusion(Caster, 196)", friend)
    assert friend.appearance["model_type"] == 196
    assert "model_type" not in scene.player.spawn.appearance
    scene.spells.lasting.end(scene.effects(friend)[0], End.CANCELED)
    assert "model_type" not in friend.appearance


def test_an_illusion_is_taken_back(scene: SpellScene) -> None:
    own = scene.player.spawn
    lasting(scene, "SetIllusion(Target, 196)")
    assert own.appearance["model_type"] == 196
    scene.says("SetIllusion(Spawn, 40)")
    assert own.appearance["model_type"] == 40
    scene.says("ResetIllusion(Spawn)")
    assert "model_type" not in own.appearance


def test_the_newest_illusion_is_shown_and_goes_along_to_the_next_zone(scene: SpellScene) -> None:
    own = scene.player.spawn
    lasting(scene, "SetIllusion(Target, 196)")
    other = replace(scene.kind(900), id=901, script="Spells/Other.lua")
    scene.script("function cast(Caster, Target) SetIllusion(Target, 40) end", other.script)
    scene.spells.cast_for_free(scene.player, other, 1, None)
    assert own.appearance["model_type"] == 40
    scene.spells.lasting.end(scene.effects()[1], End.CANCELED)
    assert own.appearance["model_type"] == 196
    events = scene.harness.world.events
    events.publish(LeftZone(scene.player))
    assert "model_type" not in own.appearance
    events.publish(Entered(scene.player, scene.harness.now))
    assert own.appearance["model_type"] == 196


def test_more_health_than_the_most_lasts_as_long_as_the_spell(scene: SpellScene) -> None:
    """eq2-lua.md 3: SetMaxHP works "as a bonus of the current spell"."""
    health = scene.player.spawn.sheet.health
    before = health.most
    lasting(scene, "SetMaxHP(Target, GetMaxHP(Target) + 50)")
    assert scene.player.spawn.sheet.health.most == before + 50
    scene.spells.lasting.end(scene.effects()[0], End.CANCELED)
    assert scene.player.spawn.sheet.health.most == before


def test_a_spell_gives_more_power_to_its_targets_alone(scene: SpellScene) -> None:
    friend, own = scene.friend().spawn, scene.player.spawn
    before = own.sheet.power.most, friend.sheet.power.most
    lasting(scene, "SetMaxPower(Caster, 900) SetMaxPower(Target, 30)", friend)
    assert (own.sheet.power.most, friend.sheet.power.most) == (before[0], 30)
    scene.spells.lasting.end(scene.effects(friend)[0], End.CANCELED)
    assert friend.sheet.power.most == before[1]
