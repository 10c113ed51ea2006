"""Pets: having, following, fighting, orders, and how they go."""

from pathlib import Path

import pytest

from emu.world.actors.spawn import Spawn
from emu.world.spells.living import LivingSpell
from emu.world.spells.pets import FIGHTERS, PetKind
from emu.world_stream.movement import Position
from tests.support.world.spell_scenes import SpellScene

pytest.importorskip("lupa", reason="the package lupa is not installed")
CALL = """
[[spell]]
id = 280025
name = "Call"
target = 0
is_friendly = true
script = "Spells/Call.lua"
lasts_until_cancelled = true
[[spell.tier]]
concentration = 1
"""


@pytest.fixture
def scene(tmp_path: Path) -> SpellScene:
    return SpellScene(tmp_path, toml=CALL)


def taken(scene: SpellScene, kind: PetKind = PetKind.COMBAT) -> tuple[Spawn, LivingSpell]:
    """Let the player have a creature as its pet by a spell that lasts."""
    scene.script("function cast() end", "Spells/Call.lua")
    scene.know(280025)
    scene.cast(280025)
    spell = scene.effects()[-1]
    crab = scene.creature("an imp")
    scene.spells.pets.take_pet(scene.zone, scene.player.spawn, crab, kind, spell)
    return crab, spell


def test_a_pet_ends_with_its_spell_and_the_spell_with_it(scene: SpellScene) -> None:
    crab, spell = taken(scene)
    own = scene.player.spawn
    assert scene.spells.pets.of(own, *FIGHTERS) is crab
    assert scene.spells.company.master(crab) is own
    scene.spells.pets.dismiss(crab)
    assert spell.is_over
    assert scene.zone.spawn(crab.id) is None
    crab, spell = taken(scene)
    scene.cast(280025)  # a second cast replaces the first one
    assert spell.is_over
    assert scene.zone.spawn(crab.id) is None
    assert scene.spells.pets.of(own, *FIGHTERS) is None


def test_a_charmed_creature_is_free_again(scene: SpellScene) -> None:
    crab, spell = taken(scene, PetKind.CHARMED)
    assert not crab.attackable
    scene.spells.lasting.end(spell, "expired")
    assert scene.zone.spawn(crab.id) is crab
    assert crab.attackable
    assert scene.spells.pets.get(crab) is None


# Recorded (fight-546-pet-a): the sheet names the pet, and a maintained spell holds one slot.
def test_the_window_shows_the_pet(scene: SpellScene) -> None:
    crab, _ = taken(scene)
    scene.run(0.5)
    fields = scene.harness.parts.sheets.fields(scene.player)
    assert fields["pet_id"] == scene.player.index_of(crab)
    assert (fields["pet_name"], fields["pet_movement"], fields["conc_used"]) == ("an imp", 2, 1)
    scene.client.types("pet stay")
    assert scene.harness.parts.sheets.fields(scene.player)["pet_movement"] == 1
    scene.client.types("pet getlost")
    assert "pet_id" not in scene.harness.parts.sheets.fields(scene.player)


def test_a_pet_follows_unless_it_stays(scene: SpellScene) -> None:
    crab, _ = taken(scene)
    at = scene.player.position
    scene.player.teleport(Position(at.x + 30, *at[1:]), scene.harness.now)
    scene.run(15.0)
    assert crab.position.distance_to(scene.player.position) < 12
    scene.client.types("pet stay")
    scene.player.teleport(at, scene.harness.now)
    scene.run(10.0)
    assert crab.position.distance_to(at) > 15


def test_a_pet_fights_and_the_kill_is_its_masters(scene: SpellScene) -> None:
    crab, _ = taken(scene)
    foe = scene.creature("a rat", 8.0)
    foe.sheet.health.fill(60)
    scene.client.types("pet attack")
    assert crab.mind.hates == {}  # without a target
    scene.player.set_target(foe)
    scene.client.types("pet attack")
    scene.run(4.0)
    assert crab in foe.mind.hates or foe.hp_percent == 0
    assert scene.player.spawn in foe.mind.fighters or foe.hp_percent == 0
    scene.client.types("pet backoff")
    assert crab.mind.hates == {}


def test_a_pet_defends_its_master(scene: SpellScene) -> None:
    crab, _ = taken(scene)
    foe = scene.creature("a rat", 8.0)
    scene.harness.minds.harm.take_health(scene.zone, scene.player.spawn, foe, 5)
    assert foe in crab.mind.hates


def test_pets_go_with_their_master(scene: SpellScene) -> None:
    crab, _ = taken(scene)
    scene.harness.minds.harm.kill(scene.zone, scene.player.spawn, None)
    assert scene.zone.spawn(crab.id) is None
    assert scene.spells.company.owners == {}


@pytest.mark.parametrize("order", ["attack", "backoff", "stay", "follow", "getlost", "dance"])
def test_who_has_no_pet_orders_nothing(scene: SpellScene, order: str) -> None:
    scene.client.types(f"pet {order}")
    assert scene.spells.company.owners == {}
