"""Functions of spells: food, casts of scripts, cures, timers."""

from pathlib import Path

import pytest

from emu.world.actors.sheet import FieldKind
from emu.world.scripts.functions.spells import SPELLS
from emu.world.spells.living import Control
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import ScriptScene
from tests.support.world.spell_scenes import HEAL, SMITE, SpellScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

TOML = (
    SMITE
    + HEAL
    + """
[[spell]]
id = 800
name = "Food"
icon = 5
backdrop = 317
script = "Spells/Food.lua"
target = 0
is_friendly = true
[[spell.tier]]
values = [0, 0]

[[spell]]
id = 801
name = "Plague"
script = "Spells/Plague.lua"
target = 1
detriment = 3
[[spell.tier]]
range = 25
duration1 = 600
"""
)
FOOD = "function cast(C, T, Health, Power) AddSpellBonus(T, 602, Health) end"


@pytest.fixture
def scene(tmp_path: Path) -> SpellScene:
    scene = SpellScene(tmp_path, toml=TOML)
    scene.script(FOOD, "Spells/Food.lua")
    scene.script("function cast() end", "Spells/Plague.lua")
    return scene


def test_food_is_a_copy_of_a_spell(scene: SpellScene) -> None:
    scene.says("""
        Spell = GetSpell(800, 1)
        SetSpellData(Spell, "name", "Pork Chop")
        SetSpellData(Spell, "duration1", 18000)
        SetSpellData(Spell, "duration2", 18000)
        SetSpellDataIndex(Spell, 0, 7.5)
        SetSpellDisplayEffect(Spell, 0, "description", "It is good.")
        CastCustomSpell(Spell, Spawn, Spawn)""")
    (living,) = scene.effects()
    assert (living.kind.name, living.tier.duration) == ("Pork Chop", 1800.0)
    assert scene.player.spawn.sheet.bonus(602) == 7.5
    assert scene.kind(800).name == "Food"
    scene.run(1801.0)
    assert scene.effects() == []
    assert scene.player.spawn.sheet.bonus(602) == 0


def test_copies_say_what_they_have(scene: SpellScene) -> None:
    assert scene.says(
        "local s = GetSpell(110014) local none = GetSpell(999)",
        'GetSpellData(s, "name")', "GetSpellDataIndex(s, 1)",
        'GetSpellDisplayEffect(s, 0, "description")', "none", 'GetSpellData(s, "colour")',
    ) == ["Smite", "8", "Inflicts 8 - 10 divine damage on target", "nil", "nil"]  # fmt: skip


def test_a_script_lets_a_creature_cast(scene: SpellScene) -> None:
    guard = scene.spawn(
        "function hailed(NPC, Spawn) CastSpell(Spawn, 110012, 1, NPC) end", "Healer"
    )
    scene.player.spawn.sheet.health.set_current(100)
    scene.hail(guard)
    scene.run(2.3)
    assert scene.player.spawn.sheet.health.current >= 140


def test_cures_end_effects_of_a_kind(scene: SpellScene) -> None:
    own = scene.player.spawn
    for _ in range(2):
        scene.spells.cast_for_free(scene.player, scene.kind(801), 1, own)
    assert len(scene.effects()) == 1
    scene.run(0.5)
    assert scene.harness.parts.sheets.fields(scene.player)["noxious"] == 1
    scene.says("CureByType(1, 1, 'Cure', 0, Spawn)")
    assert len(scene.effects()) == 1
    scene.says("CureByType(1, 3, 'Cure', 0, Spawn)")
    assert scene.effects() == []


@pytest.mark.parametrize(("kind", "count"), [(4, 0), (3, 1)])
def test_cures_end_effects_that_control_in_a_way(scene: SpellScene, kind: int, count: int) -> None:
    """Source: eq2-lua.md 3 (CureByControlEffect, AddControlEffect)."""
    scene.script("function cast(C, T) AddControlEffect(T, 4) end", "Spells/Plague.lua")
    scene.spells.cast_for_free(scene.player, scene.kind(801), 1, scene.player.spawn)
    assert len(scene.effects()) == 1
    scene.says(f"CureByControlEffect(1, {kind}, 'Cure', 0, Spawn)")
    assert len(scene.effects()) == count


def test_timers_and_ends_of_scripts(scene: SpellScene) -> None:
    scene.script(
        """
        function cast(Caster) AddSpellTimer(1000, "later") SetSpellTriggerCount(2, 1) end
        function later(Caster, Target) Say(Caster, "later " .. GetSpellTriggerCount())
            RemoveTriggerFromSpell(2) end
        function remove(Caster, Target, Reason) Say(Caster, Reason) end
        """,
        "Spells/Plague.lua",
    )
    scene.spells.cast_for_free(scene.player, scene.kind(801), 1, scene.player.spawn)
    scene.run(1.5)
    assert [text for _, _, text in scene.client.hears()] == ["later 2", "canceled"]
    assert scene.effects() == []


DAZING = """
[[spell]]
id = 850
name = "Knockdown"
icon = 1
backdrop = 315
target = 1
visual = 1
is_friendly = true
script = "Spells/Knockdown.lua"
[[spell.tier]]
range = 25
duration1 = {tenths}
"""
DAZING_SCRIPT = """
function cast(Caster, Target) AddControlEffect(Target, 4) BlurVision(Target, 1.0)
    AddSpellTimer(1500, "later") end
function later(Caster, Target) RemoveControlEffect(Target, 4) BlurVision(Target, 0) end
"""


@pytest.mark.parametrize("tenths", [0, 5, 60])
def test_timers_come_also_after_the_duration(tmp_path: Path, tenths: int) -> None:
    """eq2-lua.md 8: the state lives until the timers of AddSpellTimer are done.

    Earthquake has no duration, and Ice Comet half a second: both take back after 1.5 seconds.
    """
    scene = SpellScene(tmp_path, toml=DAZING.format(tenths=tenths))
    scene.script(DAZING_SCRIPT, "Spells/Knockdown.lua")
    own = scene.player.spawn
    spell = scene.spells.cast_for_free(scene.player, scene.kind(850), 1, own)
    assert spell is not None
    assert Control.STUN in own.sheet.spells.controls
    assert own.sheet.get("drunk", FieldKind.FRACTION) == 1.0
    scene.run(1.0)
    assert (Control.STUN in own.sheet.spells.controls) is (tenths != 5)
    scene.run(1.0)
    assert not own.sheet.spells.controls
    assert own.sheet.get("drunk", FieldKind.FRACTION) == 0.0
    assert spell.is_over is (tenths != 60)


@pytest.mark.parametrize("tenths", [0, 60])
def test_no_timer_of_a_spell_holds_who_has_left(tmp_path: Path, tenths: int) -> None:
    scene = SpellScene(tmp_path, toml=DAZING.format(tenths=tenths))
    scene.script(DAZING_SCRIPT, "Spells/Knockdown.lua")
    spell = scene.spells.cast_for_free(scene.player, scene.kind(850), 1, scene.player.spawn)
    assert spell is not None
    scene.harness.departures.remove(scene.player, "quit", scene.harness.now)
    scene.run(2.0)
    assert spell.is_over
    assert scene.spells.states.get(scene.player.spawn) is None


def test_casts_end_inside_of_each_other(scene: SpellScene) -> None:
    scene.script("function cast(C, T) CastSpell(T, 801, 1, C) end", "Spells/Plague.lua")
    scene.spells.cast_for_free(scene.player, scene.kind(801), 1, scene.player.spawn)
    assert len(scene.effects()) <= 1


def test_a_cast_is_interrupted_by_a_script(scene: SpellScene) -> None:
    scene.cast(110014, scene.creature())
    assert scene.says("Interrupt(NPC, Spawn)", "IsCasting(Spawn)") == ["false"]
    assert scene.errors() == [10]


def test_a_script_of_no_spell_has_no_triggers(scene: SpellScene) -> None:
    assert scene.says("RemoveTriggerFromSpell(1)", "GetSpellTriggerCount()") == ["nil"]


def test_a_heal_for_one_goes_to_whom_the_script_names(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=HEAL)
    friend = scene.friend()
    scene.script("function cast(C, T) SpellHeal('heal', 30, 30, C) end", "Spells/Heal.lua")
    for one in (scene.player, friend):
        one.spawn.sheet.health.fill(1000)
        one.spawn.sheet.health.set_current(100)
    scene.spells.cast_for_free(scene.player, scene.kind(110012), 1, friend.spawn)
    assert friend.spawn.sheet.health.current == 100
    assert scene.player.spawn.sheet.health.current >= 130


@pytest.mark.parametrize(
    ("races", "is_hurt"),
    [("", True), (", 150", True), (", 151", False), (", 151, 150", True), (", 50, 2000", True)],
)
def test_damage_for_races_spares_others(tmp_path: Path, races: str, *, is_hurt: bool) -> None:
    """Source: eq2-lua.md 7.6: numbers of 101 to 999 are races, others are read and never used."""
    scene = SpellScene(tmp_path, toml=SMITE)
    crab = scene.creature(appearance={"race": 150})
    scene.script(
        f"function cast(C, T) SpellDamage(T, 7, 5, 5, 0, 1{races}) end", "Spells/Smite.lua"
    )
    scene.spells.cast_for_free(scene.player, scene.kind(110014), 1, crab)
    assert (crab.sheet.health.current < 10_000) == is_hurt


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), SPELLS) == []
