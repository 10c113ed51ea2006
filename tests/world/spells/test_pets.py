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


# -- names ----------------------------------------------------------------------------------------


@pytest.fixture
def named(scene: SpellScene, monkeypatch: pytest.MonkeyPatch) -> SpellScene:
    """A world whose content file has names of pets."""
    monkeypatch.setattr(scene.kinds, "_pet_names", ("Gabaner", "Gabann", "Gabantik"))
    return scene


def test_a_pet_gets_a_name_by_chance_and_the_next_one_the_same(named: SpellScene) -> None:
    first, _ = taken(named)
    assert first.name in named.kinds.pet_names()
    assert named.player.past.pet_name == first.name
    for _ in range(4):
        pet, _ = taken(named)
        assert pet.name == first.name
    # Another kind of pet has any name (EQ2Emulator's code), and nobody keeps it.
    friends = {taken(named, PetKind.COSMETIC)[0].name for _ in range(20)}
    assert len(friends) == 3
    assert named.player.past.pet_name == first.name


def test_the_name_is_stored_and_comes_back(named: SpellScene) -> None:
    first, _ = taken(named)
    named.run(3.0)
    named.harness.console("kick Aldana")
    again = named.harness.stand(named.player.id).player
    assert again is not None
    assert again is not named.player
    assert again.past.pet_name == first.name


def test_without_names_a_pet_keeps_its_own(scene: SpellScene) -> None:
    assert taken(scene)[0].name == "an imp"
    assert scene.player.past.pet_name == ""


def test_a_charmed_creature_has_its_own_name_again(named: SpellScene) -> None:
    crab, spell = taken(named, PetKind.CHARMED)
    assert crab.name == "an imp"
    named.spells.pets.name_pet(named.player, "Pebble", crab)
    assert crab.name == "Pebble"
    named.spells.lasting.end(spell, "expired")
    assert crab.name == "an imp"


def test_the_line_below_the_name_and_the_verb_are_the_masters(scene: SpellScene) -> None:
    imp = scene.creature("an imp", guild="servant", faction=7)
    scene.spells.pets.take_pet(scene.zone, scene.player.spawn, imp, PetKind.COMBAT, None)
    assert imp.guild == "Aldana's servant"
    assert imp.faction == scene.player.spawn.faction
    [verb] = imp.more_verbs
    assert (verb.name, verb.command) == ("Pet Options", "petoptions")
    assert verb.is_for(scene.player.spawn)
    assert not verb.is_for(scene.friend().spawn)


def test_a_pet_that_guards_nobody_does_not_strike_back(scene: SpellScene) -> None:
    imp, _ = taken(scene)
    foe, harm = scene.creature("a rat", 8.0), scene.harness.minds.harm
    assert scene.client.types("pet guardme") == ["Your pet guards you no more."]
    assert scene.client.types("pet preserve_self") == ["Your pet guards itself no more."]
    harm.take_health(scene.zone, scene.player.spawn, foe, 5)
    harm.take_health(scene.zone, imp, foe, 5)
    assert imp.mind.hates == {}
    assert scene.harness.parts.sheets.fields(scene.player)["pet_behavior"] == 0
    # It fights whom it is sent against.
    scene.player.set_target(foe)
    scene.client.types("pet attack")
    harm.take_health(scene.zone, imp, foe, 5)
    assert foe in imp.mind.hates
    scene.client.types("pet backoff")
    assert scene.client.types("pet guardme") == ["Your pet guards you now."]
    harm.take_health(scene.zone, scene.player.spawn, foe, 5)
    assert foe in imp.mind.hates
