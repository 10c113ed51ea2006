"""Functions of spells that give something until they end."""

from dataclasses import replace
from pathlib import Path

import pytest

from emu.world.actors.sheet import FieldKind
from emu.world.actors.spawn import Spawn
from emu.world.events import Entered, LeftZone
from emu.world.scripts.functions.effects import EFFECTS
from emu.world.spells.living import CastPhase, End, LivingSpell
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import ScriptScene
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


def lasting(scene: SpellScene, body: str, target: object = None, *, proc: str = "") -> None:
    scene.script(
        f"function cast(Caster, Target, Value) {body} end\n"
        f"function proc(Caster, Other, Type, Value) {proc} end", "Spells/Mix.lua",
    )  # fmt: skip
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
    (spell,) = scene.effects(friend)
    assert scene.effects() == []
    scene.spells.amounts.hate(scene.zone, crab, scene.player.spawn, 100)
    assert crab.mind.hates == {scene.player.spawn: 60, friend: 40}
    scene.spells.lasting.end(spell, End.CANCELED)
    scene.spells.amounts.hate(scene.zone, crab, scene.player.spawn, 100)
    assert crab.mind.hates == {scene.player.spawn: 160, friend: 40}
    assert scene.spells.states.get(scene.player.spawn) is None


def test_a_caster_has_a_proc_of_a_spell_on_somebody_else(scene: SpellScene) -> None:
    """Source: eq2-lua.md 7.3 and 7.6 (AddProc: on S only; the caster's are taken back)."""
    friend, crab = scene.friend().spawn, scene.creature()
    lasting(
        scene, "AddProc(Caster, 1, 100)", friend, proc="ProcDamage(Caster, Other, 'Sting', 3, 7, 7)"
    )
    scene.harness.minds.harm.take_health(scene.zone, crab, scene.player.spawn, 10)
    assert crab.sheet.health.current == 9_983
    scene.spells.lasting.end(scene.effects(friend)[0], End.CANCELED)
    scene.harness.minds.harm.take_health(scene.zone, crab, scene.player.spawn, 10)
    assert crab.sheet.health.current == 9_973


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


@pytest.mark.parametrize("is_player", [True, False])
def test_a_spell_changes_other_players_only_as_targets(
    scene: SpellScene, *, is_player: bool
) -> None:
    """Source: eq2-lua.md 3 (SetMaxPower: as a bonus of the current spell); creatures have it."""
    other = scene.friend().spawn if is_player else scene.spawn("", "Wolf", 71)
    other.sheet.power.fill(400)
    before = other.sheet.power.most
    scene.player.set_target(other)
    lasting(scene, "SetMaxPower(GetTarget(Caster), 900)")
    assert other.sheet.power.most == (before if is_player else 900)


def all_crabs(tmp_path: Path, body: str, version: int = 546) -> tuple[SpellScene, list[Spawn]]:
    """Cast a spell of which two creatures are the targets."""
    scene = SpellScene(tmp_path, version, toml=TOML)
    crabs = [scene.creature("a crab", 4.0), scene.creature("a wolf", 5.0)]
    scene.script(f"function cast(Caster, Target, Value) {body} end", "Spells/Mix.lua")
    kind = scene.kind(900)
    spell = LivingSpell(
        kind, kind.tiers[1], scene.zone, scene.player.spawn, target=crabs[0], targets=[*crabs],
        level=1, phase=CastPhase.ACTING, is_free=True, began=scene.harness.now,
    )  # fmt: skip
    assert scene.scripts.spell_calls.begin(spell)
    scene.scripts.spell_calls.call(spell, "cast", spell.caster, crabs[0], 5)
    return scene, crabs


@pytest.mark.parametrize("version", [546, 1208])
def test_all_creatures_of_a_spell_hate(tmp_path: Path, version: int) -> None:
    """Source: eq2-lua.md 3 and 7.6 (AddHate: in a spell all NPC targets; HearThreat with 1)."""
    scene, crabs = all_crabs(tmp_path, "AddHate(Caster, Target, 40, 1)", version)
    own = scene.player.spawn
    assert [one.mind.hates.get(own) for one in crabs] == [40, 40]
    shown = scene.client.decoded("WS_HearThreatCmd") if version > 561 else []
    assert [one["threat_amount"] for one in shown] == [40] * (version > 561)


def test_without_the_flag_no_client_is_shown_hate(tmp_path: Path) -> None:
    """Source: eq2-lua.md 3, 7.6 (AddHate: N only for the packet, with 1)."""
    scene, crabs = all_crabs(tmp_path, "AddHate(Caster, Target, 40)", 1208)
    assert [one.mind.hates.get(scene.player.spawn) for one in crabs] == [40, 40]
    assert scene.client.decoded("WS_HearThreatCmd") == []


def test_a_proc_names_who_hates(scene: SpellScene) -> None:
    """The spell lasts on players alone (Innoruuk's Caress and its kin)."""
    scene.script(
        """function cast(Caster, Target) AddProc(Target, 15, 100) end
        function proc(Caster, Target) AddHate(Caster, Target, 30) end""",
        "Spells/Mix.lua",
    )
    scene.spells.cast_for_free(scene.player, scene.kind(900), 1, None)
    crab = scene.creature()
    scene.harness.minds.harm.take_health(scene.zone, scene.player.spawn, crab, 5)
    assert crab.mind.hates[scene.player.spawn] >= 30


def test_all_targets_of_a_spell_are_slowed(tmp_path: Path) -> None:
    """Source: eq2-lua.md 3, 7.6 (SetSpeedMultiplier, SetAlignment: in a spell its targets)."""
    body = "SetSpeedMultiplier(Target, 75) SetAlignment(Caster, 1)"
    scene, crabs = all_crabs(tmp_path, body)
    movers = [scene.harness.parts.minds.moves.get(one, scene.zone) for one in crabs]
    assert [one.factor for one in movers if one is not None] == [0.25, 0.25]
    assert [one.sheet.get("alignment", FieldKind.SIGNED) for one in crabs] == [1, 1]
    assert scene.player.spawn.sheet.get("alignment", FieldKind.SIGNED) in (None, 0)


@pytest.mark.parametrize(
    ("call", "place"),
    [("Evac()", None), ("Evac(Caster)", None), ("Evac(10, -8, 250, 90)", (10.0, -8.0, 250.0))],
)
def test_a_spell_evacuates_its_targets(
    scene: SpellScene, call: str, place: tuple[float, ...] | None
) -> None:
    """Source: eq2-lua.md 3 (Evac; four numbers are a place); five of six calls have no argument."""
    lasting(scene, call)
    scene.run(1.0)
    safe = scene.zone.definition.safe
    assert tuple(scene.player.position[:3]) == (place or tuple(safe[:3]))


def test_a_script_that_is_no_spell_raises_a_skill(scene: SpellScene) -> None:
    """Source: eq2-lua.md 3 (AddSkillBonus: outside of a spell S)."""
    own = scene.player.spawn
    scene.says("AddSkillBonus(Spawn, 77, 5) AddSkillBonus(Spawn, 78, 0)")
    lasting(scene, "AddSkillBonus(Target, 77, 2)")
    assert scene.spells.skill_of(own, 77) == 7
    scene.says("RemoveSkillBonus(Spawn)")
    assert scene.spells.skill_of(own, 77) == 2


def test_a_proc_without_both_sides_does_nothing(scene: SpellScene) -> None:
    crab = scene.creature()
    for sides in ("Caster, nil", "nil, Target", "nil, nil"):
        lasting(scene, f"ProcDamage({sides}, 'Sting', 3, 5, 5)", crab)
    assert crab.sheet.health.current == 10_000
    assert scene.scripts.counters["functions failed"] == scene.scripts.counters["errors"] == 0


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), EFFECTS) == []
