"""Amounts: resists, criticals, heals, hate."""

from pathlib import Path

import pytest

from emu.world.actors.sheet import FieldKind
from tests.support.world.spell_scenes import HEAL, SMITE, SpellScene

SMITE_ID, HEAL_ID = 110014, 110012


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


def test_taunts_and_hate_grow_together(scene: SpellScene) -> None:
    """Hate x (1 + taunt %) x (1 + taunt and art %) x (1 + hate gain %) (eq2-spells.md 7)."""
    crab, spawn = scene.creature(), scene.player.spawn
    spawn.sheet.worn = {705: 100.0, 706: 50.0}
    scene.spells.amounts.hate(scene.zone, crab, spawn, 10)
    assert crab.mind.hates[spawn] == 30
