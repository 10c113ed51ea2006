"""Amounts: resists, criticals, heals, hate."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from emu.world.actors.sheet import FieldKind
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.events import Healed
from emu.world.spells.amounts import FORBIDDEN, FORCED
from emu.world.spells.living import CastPhase, LivingSpell
from tests.support.world.spell_scenes import HEAL, SMITE, SpellScene

SMITE_ID, HEAL_ID = 110014, 110012
MASTERY = "mastery_skill = 5"


@pytest.fixture
def scene(tmp_path: Path) -> SpellScene:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    scene = SpellScene(tmp_path, toml=SMITE.replace("cast_time = 200", "cast_time = 0") + HEAL)
    scene.know(HEAL_ID)
    return scene


def test_a_resisted_spell_does_nothing_and_is_ready_soon(tmp_path: Path) -> None:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    toml = SMITE.replace("cast_time = 200", "cast_time = 0\nresistibility = 100.0")
    scene = SpellScene(tmp_path, toml=toml)
    crab = scene.creature()
    scene.cast(SMITE_ID, crab)
    assert crab.sheet.health.current == 10_000
    # A resist of 546 in fight-546-priest-a, line 426: result 9, no damage.
    blow = scene.payloads("OP_EqHearCombatCmd")[0].hex()
    assert blow[24:26] == "09"
    assert crab.mind.hates[scene.player.spawn] > 0
    scene.run(0.7)
    scene.cast(SMITE_ID, crab)
    assert len(scene.payloads("OP_EqHearCombatCmd")) >= 2


def test_a_critical_amount_is_marked(scene: SpellScene) -> None:
    scene.player.spawn.sheet.set("crit_chance", FieldKind.FRACTION, 100.0)
    crab = scene.creature()
    scene.cast(SMITE_ID, crab)
    assert 10_000 - crab.sheet.health.current in range(10, 15)


def test_nobody_who_is_whole_is_healed(scene: SpellScene) -> None:
    scene.cast(HEAL_ID)
    scene.run(2.2)
    assert scene.client.decoded("WS_HearHeal") == []
    assert scene.player.spawn.sheet.power.current == 990


def test_who_heals_a_fighter_is_hated(scene: SpellScene) -> None:
    friend, crab = scene.friend().spawn, scene.creature()
    friend.sheet.health.fill(1000)
    scene.harness.minds.harm.take_health(scene.zone, crab, friend, 5)
    friend.sheet.health.set_current(100)
    scene.cast(HEAL_ID, friend)
    scene.run(2.3)
    assert crab.mind.hates[scene.player.spawn] >= 20


@pytest.mark.parametrize("kind", [0, 3])
def test_a_spell_of_no_damage_harms_nobody(scene: SpellScene, kind: int) -> None:
    """Armor lets one point of a blow through at least, but makes none."""
    scene.script(f"function cast(C, T) SpellDamage(T, {kind}, 0, 0) end", "Spells/Smite.lua")
    crab = scene.creature()
    scene.cast(SMITE_ID, crab)
    assert len(scene.payloads("OP_EqHearCombatCmd")) == 1
    assert crab.sheet.health.current == 10_000


def test_an_invulnerable_victim_is_unhurt(scene: SpellScene) -> None:
    crab = scene.creature()
    crab.sheet.is_invulnerable = True
    scene.cast(SMITE_ID, crab)
    assert crab.sheet.health.current == 10_000


def test_spell_avoidance_keeps_spells_off(scene: SpellScene) -> None:
    """A tenth of a percent for each point (eq2-spells.md 7, "to hit, spell")."""
    crab = scene.creature()
    number = next(
        one.id for one in scene.harness.world.knowledge.skills.values()
        if one.name == "Spell Avoidance"
    )  # fmt: skip
    crab.sheet.worn_skills = {number: 2000.0}
    scene.cast(SMITE_ID, crab)
    assert scene.payloads("OP_EqHearCombatCmd")[0].hex()[24:26] == "09"


@pytest.mark.parametrize(("points", "lands"), [(1, True), (10_000, False)])
def test_a_rule_says_how_much_mastery_helps(tmp_path: Path, points: int, lands: bool) -> None:
    """The rule MasterSkillReduceSpellResist of the public dump divides the skill."""
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    hard = "cast_time = 0\nhit_bonus = -200"
    toml = SMITE.replace("cast_time = 200", hard).replace("target = 1", "target = 1\n" + MASTERY)
    scene = SpellScene(tmp_path, toml=toml)
    world, crab = scene.harness.world, scene.creature()
    world.rules = replace(world.rules, mastery_points=points)
    scene.spells.amounts._skill_of = lambda _spawn, number: 300 if number == 5 else 0
    scene.cast(SMITE_ID, crab)
    assert (crab.sheet.health.current < 10_000) is lands


def test_taunts_and_hate_grow_together(scene: SpellScene) -> None:
    """Hate x (1 + taunt %) x (1 + taunt and art %) x (1 + hate gain %) (eq2-spells.md 7)."""
    crab, spawn = scene.creature(), scene.player.spawn
    spawn.sheet.worn = {705: 100.0, 706: 50.0}
    scene.spells.amounts.hate(scene.zone, crab, spawn, 10)
    assert crab.mind.hates[spawn] == 30


def made(scene: SpellScene, number: int = SMITE_ID, **values: Any) -> LivingSpell:
    """Return a spell of the player that was cast a while ago: a tick of it always lands."""
    kind, zone = scene.kind(number), scene.zone
    spell = LivingSpell(kind, kind.tiers[1], zone, scene.player.spawn, level=10)
    spell.phase = CastPhase.LASTING
    for name, value in values.items():
        setattr(spell, name, value)
    return spell


def dealt(scene: SpellScene, kind: int, **options: Any) -> int:
    """Return what a spell of 100 points takes from a new creature of level 10."""
    crab = scene.creature(level=10)
    for name, points in (("heat", 500.0), ("cur_mitigation", 540.0)):
        crab.sheet.set(name, FieldKind.UNSIGNED, points)
    assert scene.spells.amounts.damage(made(scene), crab, kind, (100, 100), **options)
    return 10_000 - crab.sheet.health.current


@pytest.mark.parametrize(
    ("bonus", "kind", "points"),
    [
        ({}, 0, 50), ({}, 10, 100), ({}, 99, 50), ({}, -1, 50),
        # Heat is resisted by a tenth; intelligence 20 at level 10 adds 4.6 percent.
        ({}, 3, 94), ({}, 7, 104),
        ({700: 50.0}, 7, 156), ({700: 50.0}, 10, 100), ({704: 50.0}, 10, 150),
        ({706: 50.0}, 0, 75), ({706: 50.0}, 10, 100),
    ],
)  # fmt: skip
def test_damage_by_its_type_with_resistance_and_armor(
    scene: SpellScene, bonus: dict[int, float], kind: int, points: int
) -> None:
    """Source: eq2-spells.md 7; armor of 540 at level 10 keeps off a half."""
    scene.player.spawn.sheet.worn = bonus
    assert dealt(scene, kind) == points
    assert dealt(scene, kind, plain=True) == 100


def test_a_critical_amount_may_be_forced_or_forbidden(scene: SpellScene) -> None:
    spawn = scene.player.spawn
    assert dealt(scene, 10, critical=FORCED) == 130
    spawn.sheet.set("crit_chance", FieldKind.FRACTION, 100.0)
    spawn.sheet.set("crit_bonus", FieldKind.FRACTION, 20.0)
    assert dealt(scene, 10) == 150
    assert dealt(scene, 10, critical=FORBIDDEN) == 100
    crab, spell = scene.creature(), made(scene, critical=FORBIDDEN)
    scene.spells.amounts.damage(spell, crab, 10, (100, 100))
    assert crab.sheet.health.current == 9_900  # a tick is what its cast was


def test_the_ability_adds_a_half_for_one_and_a_third_for_several(scene: SpellScene) -> None:
    spawn, crab = scene.player.spawn, scene.creature()
    spawn.sheet.set("ability_modifier", FieldKind.FRACTION, 1000.0)
    assert dealt(scene, 10) == 150
    spell = made(scene, targets=[crab, scene.creature()])
    scene.spells.amounts.damage(spell, crab, 10, (99, 99))
    assert crab.sheet.health.current == 10_000 - 132


def test_the_dead_are_neither_harmed_nor_healed(scene: SpellScene) -> None:
    amounts, crab = scene.spells.amounts, scene.creature()
    scene.harness.minds.harm.kill(scene.zone, crab, None)
    assert not amounts.damage(made(scene), crab, 10, (5, 5))
    assert not amounts.heal(made(scene, HEAL_ID), crab, 5, 5)
    chest = Spawn(999, SpawnKind.OBJECT, "a chest", crab.position)
    assert not amounts.damage(made(scene), chest, 10, (5, 5))
    assert not amounts.heal(made(scene, HEAL_ID), chest, 5, 5)


def test_some_spells_take_power(scene: SpellScene) -> None:
    crab, spell = scene.creature(), made(scene)
    crab.sheet.power.fill(500)
    assert scene.spells.amounts.damage(spell, crab, 10, (100, 100), takes_power=True)
    assert (crab.sheet.power.current, crab.sheet.health.current) == (400, 10_000)
    assert spell.last_hit
    assert spell.has_damaged


def test_a_heal_gives_what_is_missing(scene: SpellScene) -> None:
    amounts, own = scene.spells.amounts, scene.player.spawn
    seen: list[tuple[int, bool]] = []
    scene.harness.world.events.subscribe(
        Healed, lambda event: seen.append((event.amount, event.is_power))
    )
    own.sheet.worn = {701: 10.0, 702: 20.0}
    own.sheet.health.set_current(100)
    assert amounts.heal(made(scene, HEAL_ID), own, 100, 100)
    assert own.sheet.health.current == 232
    assert amounts.heal(made(scene, HEAL_ID), own, 100, 100, plain=True)
    assert own.sheet.health.current == 332
    assert amounts.heal(made(scene, HEAL_ID), own, 100, 100, critical=FORCED)
    assert own.sheet.health.current == 332 + 171
    own.sheet.power.set_current(990)
    assert amounts.heal(made(scene, HEAL_ID), own, 100, 100, is_power=True, plain=True)
    assert not amounts.heal(made(scene, HEAL_ID), own, 100, 100, is_power=True)
    assert own.sheet.power.current == 1000
    assert seen == [(132, False), (100, False), (171, False), (10, True)]
    assert amounts.give(scene.zone, own, own, -5, "x") == 0


def test_hate_is_made_by_the_living_of_creatures_alone(scene: SpellScene) -> None:
    amounts, own, crab = scene.spells.amounts, scene.player.spawn, scene.creature()
    friend = scene.friend().spawn
    for creature, foe in ((friend, own), (crab, crab)):
        amounts.hate(scene.zone, creature, foe, 10)
        assert not creature.mind.hates
    amounts.hate(scene.zone, crab, own, 10)
    assert crab.mind.hates == {own: 10}
    assert own in crab.mind.fighters
    scene.harness.minds.harm.kill(scene.zone, crab, None)
    before = dict(crab.mind.hates)
    amounts.hate(scene.zone, crab, friend, 10)
    assert crab.mind.hates == before
