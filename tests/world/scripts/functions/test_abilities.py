"""Resurrection, books, experience, vision and breath, and what is asked about casts."""

from pathlib import Path

import pytest

from emu.world.actors.sheet import FieldKind
from emu.world.scripts.functions.abilities import ABILITIES
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import ScriptScene
from tests.support.world.spell_scenes import HEAL, SMITE, SpellScene
from tests.world.scripts.functions.test_effects import TOML, lasting

pytest.importorskip("lupa", reason="the package lupa is not installed")
SMITE_ID, HEAL_ID = 110014, 110012


@pytest.fixture
def scene(tmp_path: Path) -> SpellScene:
    return SpellScene(tmp_path, toml=TOML)


RAISE = """
[[spell]]
id = 5
name = "Revive"
target = 5
is_friendly = true
script = "Spells/Raise.lua"
[[spell.tier]]
range = 25
"""
SLOW = "range = 25\ncast_time = 100"


@pytest.mark.parametrize(("flag", "lives"), [(0, True), (1, False)])
def test_the_dead_live_again_at_once_or_are_asked(tmp_path: Path, flag: int, lives: bool) -> None:
    scene = SpellScene(tmp_path, toml=RAISE)
    scene.script(f"function cast() Resurrect(50, 20, {flag}) end", "Spells/Raise.lua")
    friend = scene.friend()
    scene.harness.minds.harm.kill(scene.zone, friend.spawn, None)
    scene.know(5)
    scene.cast(5, friend.spawn)
    resurrections = scene.harness.parts.combat.resurrections
    assert resurrections.has_offer(friend) is not lives
    if not lives:
        resurrections.accept(friend, None)
    assert friend.spawn.sheet.health.percent == 50


@pytest.mark.parametrize(("version", "code"), [(546, 2), (1096, 105), (1208, 107), (60114, 109)])
def test_nobody_is_asked_twice_at_once(tmp_path: Path, version: int, code: int) -> None:
    """Source: eq2-spells.md 3 (a second resurrection: "already cast"), eq2-combat.md 5.3."""
    scene = SpellScene(tmp_path, version, toml=RAISE.replace("range = 25", SLOW))
    scene.script("function cast() Resurrect(50, 20, 1) end", "Spells/Raise.lua")
    friend, resurrections = scene.friend(), scene.harness.parts.combat.resurrections
    scene.harness.minds.harm.kill(scene.zone, friend.spawn, None)
    scene.know(5)
    scene.cast(5, friend.spawn)
    resurrections.offer(friend, "Corwin", "Revive", health=10.0, power=10.0)
    scene.run(1.5)
    # At the end of a cast, and before one.
    assert scene.errors() == [code]
    scene.cast(5, friend.spawn)
    assert scene.errors() == [code, code]
    resurrections.decline(friend, None)
    scene.cast(5, friend.spawn)
    scene.run(1.5)
    assert resurrections.has_offer(friend)


def test_books_are_filled_and_emptied(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=SMITE + HEAL)
    scene.know(HEAL_ID)
    # The bit of arts alone; these two are spells.
    scene.says("DeleteSpellBook(Spawn, 4)")
    assert set(scene.player.past.spells) == {SMITE_ID, HEAL_ID}
    scene.says("DeleteSpellBook(Spawn, 6)")
    assert scene.player.past.spells == {}
    scene.says("SendNewAdventureSpells(Spawn)")
    assert scene.player.past.spells == {SMITE_ID: 1}
    scene.says("DeleteSpellBook(Spawn) SendNewTradeskillSpells(Spawn)")
    assert scene.player.past.spells == {SMITE_ID: 1}


def test_experience_is_given(scene: SpellScene) -> None:
    before = scene.player.character.experience
    scene.says("GiveExp(Spawn, 7)")
    assert scene.player.character.experience == before + 7


# Not undone by the engine: their scripts do it (eq2-lua.md 7.3).
def test_sight_and_breath_are_shown_in_the_sheet(scene: SpellScene) -> None:
    lasting(scene, "BreatheUnderwater(Target, true) SetVision(Target, 3) BlurVision(Target, 0.5)")
    fields = scene.harness.parts.sheets.fields(scene.player)
    assert (fields["breathe_underwater"], fields["vision"], fields["drunk"]) == (1, 3, 0.5)
    scene.says("BreatheUnderwater(Spawn, false) SetVision(Spawn, 0) BlurVision(Spawn, 0)")
    sheet = scene.player.spawn.sheet
    assert sheet.get("vision", FieldKind.UNSIGNED) == 0
    assert "drunk" not in scene.harness.parts.sheets.fields(scene.player)


def test_what_creatures_are_asked_about_casts(scene: SpellScene) -> None:
    asked = ("HasRecovered(NPC)", "ProcessSpell(NPC, Spawn, 5)", "AttackAllowed(NPC, Spawn, 2)",
             "IsCastOnAggroComplete(NPC)", "SetCastOnAggroComplete(NPC, 1)")  # fmt: skip
    assert scene.says("", *asked) == ["true", "false", "true", "true", "true"]
    assert scene.says("", "HasRecovered(nil)", "AttackAllowed(Spawn, nil)") == ["false", "false"]


@pytest.mark.parametrize(
    ("more", "silent", "hotbar"), [("", 0, 1), (", true", 1, 0), (", false, false", 0, 0)]
)
def test_a_client_is_shown_what_a_script_puts_into_its_book(
    tmp_path: Path, more: str, silent: int, hotbar: int
) -> None:
    """Source: eq2-lua.md 3 (AddSpellBookEntry: a first one comes at tier 1, hotbar b=true)."""
    scene = SpellScene(tmp_path, toml=HEAL)

    def books() -> int:
        return sum(name == "OP_UpdateSpellBookMsg" for name, _ in scene.client.log)

    before = books()
    scene.says(f"AddSpellBookEntry(Spawn, {HEAL_ID}, 4{more})")
    gained = scene.client.decoded("WS_SpellGainedMsg")[-1]
    assert (gained["spell_id"], gained["tier"]) == (HEAL_ID, 1)
    assert (gained["add_silently"], gained["add_to_hotbar"]) == (silent, hotbar)
    assert books() == before + 1
    scene.says(f"RemoveSpellBookEntry(Spawn, {HEAL_ID})")
    # The records are emptied before the book gets shorter.
    assert books() == before + 3
    assert scene.player.past.spells == {}


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), ABILITIES) == []
