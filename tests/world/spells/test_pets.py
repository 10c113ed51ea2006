"""Pets: having, following, fighting, orders, and how they go."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from emu.world.actors.spawn import Spawn
from emu.world.events import Died
from emu.world.spells.living import LivingSpell, WaitingCast
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


def taken(
    scene: SpellScene, kind: PetKind = PetKind.COMBAT, creature: Spawn | None = None
) -> tuple[Spawn, LivingSpell]:
    """Let the player have a creature as its pet by a spell that lasts."""
    scene.script("function cast() end", "Spells/Call.lua")
    scene.know(280025)
    scene.cast(280025)
    spell = scene.effects()[-1]
    crab = creature or scene.creature("an imp")
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


# -- pets of creatures ----------------------------------------------------------------------------


def summoned(
    scene: SpellScene, *, kind: PetKind = PetKind.COMBAT, **values: Any
) -> tuple[Spawn, Spawn, LivingSpell]:
    """Let a creature have a pet by a spell that lasts; return both and the spell."""
    scene.script("function cast() end", "Spells/Call.lua")
    scene.player.spawn.sheet.health.fill(1_000_000)
    master = scene.creature("a shaman", **values)
    call = scene.kind(280025)
    tier = call.tier(1)
    assert tier is not None
    spell = scene.spells.casts.cast(
        scene.zone, master, WaitingCast(call, tier), master, cast_time=0.0
    )
    assert spell is not None
    pet = scene.creature("a spirit", 6.0)
    pet.attackable = False
    scene.spells.pets.take_pet(scene.zone, master, pet, kind, spell)
    return master, pet, spell


def fights(scene: SpellScene, spawn: Spawn) -> bool:
    return scene.harness.parts.combat.creatures.is_fighting(spawn)


def hate(scene: SpellScene, spawn: Spawn) -> None:
    scene.harness.parts.combat.creatures.hate(scene.zone, spawn, scene.player.spawn, 50)


def test_a_creatures_pet_is_an_enemy_like_its_master(scene: SpellScene) -> None:
    master, pet, _ = summoned(scene, faction=7)
    assert (pet.attackable, pet.faction, pet.name) == (True, 7, "a spirit")
    assert [one for one in pet.more_verbs if one.command == "petoptions"] == []
    assert scene.harness.parts.combat.fights.may_fight(scene.player, pet)
    company = scene.spells.company
    assert not company.are_friends(scene.player.spawn, pet)
    assert company.are_friends(master, pet)
    assert scene.spells.may_harm(pet, scene.player.spawn)


@pytest.mark.parametrize("first", ["master", "pet"])
def test_a_creature_and_its_pet_fight_beside_each_other(scene: SpellScene, first: str) -> None:
    master, pet, _ = summoned(scene)
    hate(scene, master if first == "master" else pet)
    scene.run(3.0)
    own = scene.player.spawn
    assert own in master.mind.hates
    assert own in pet.mind.hates
    assert fights(scene, master)
    assert fights(scene, pet)


def test_a_pet_that_is_summoned_in_a_fight_joins_it(scene: SpellScene) -> None:
    master, pet, spell = summoned(scene)
    hate(scene, master)
    scene.spells.pets.dismiss(pet)
    other = scene.creature("a spirit", 6.0)
    scene.spells.pets.take_pet(scene.zone, master, other, PetKind.COMBAT, spell)
    assert scene.player.spawn in other.mind.hates


def test_a_creatures_pet_turns_to_the_next_foe_of_its_master(scene: SpellScene) -> None:
    master, pet, _ = summoned(scene)
    hate(scene, master)
    friend = scene.friend().spawn
    friend.sheet.health.fill(1_000_000)
    scene.harness.parts.combat.creatures.hate(scene.zone, master, friend, 10_000)
    scene.run(6.0)
    assert friend in pet.mind.hates


def test_a_creatures_companion_does_not_fight(scene: SpellScene) -> None:
    master, pet, _ = summoned(scene, kind=PetKind.COSMETIC)
    hate(scene, master)
    scene.run(3.0)
    assert not fights(scene, pet)


@pytest.mark.parametrize("end", ["death", "reset", "spell"])
def test_a_creatures_pet_goes(scene: SpellScene, end: str) -> None:
    master, pet, spell = summoned(scene)
    hate(scene, master)
    scene.run(1.0)
    if end == "death":
        scene.harness.minds.harm.kill(scene.zone, master, scene.player.spawn)
    elif end == "reset":
        at = scene.player.position
        scene.player.teleport(Position(at.x + 900, *at[1:]), scene.harness.now)
        scene.run(2.0)
    else:
        scene.spells.lasting.end(spell, "expired")
    assert scene.zone.spawn(pet.id) is None
    assert spell.is_over
    assert scene.spells.company.owners == {}
    assert scene.spells.pets.of(master, *FIGHTERS) is None


# Else a creature that summons again and again gives experience without end.
def test_nobody_is_rewarded_for_a_creatures_pet(scene: SpellScene) -> None:
    died: list[Died] = []
    scene.harness.world.events.subscribe(Died, died.append)
    master, pet, _ = summoned(scene)
    harm = scene.harness.minds.harm
    harm.take_health(scene.zone, pet, scene.player.spawn, 5)
    harm.kill(scene.zone, pet, scene.player.spawn)
    harm.take_health(scene.zone, master, scene.player.spawn, 5)
    harm.kill(scene.zone, master, scene.player.spawn)
    assert [(one.victim, one.is_rewarded) for one in died] == [(pet, False), (master, True)]


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


def test_a_pet_walks_back_to_its_master_after_a_fight(scene: SpellScene) -> None:
    imp, _ = taken(scene)
    at, foe = scene.player.position, scene.creature("a rat", 30.0)
    scene.player.set_target(foe)
    scene.client.types("pet attack")
    scene.run(6.0)
    assert imp.position.distance_to(foe.position) < 6.0
    imp.sheet.health.set_current(500)
    scene.harness.minds.harm.kill(scene.zone, foe, imp)
    places = [imp.position]
    for _ in range(60):
        scene.run(0.25)
        places.append(imp.position)
    longest = max(one.distance_to(other) for one, other in pairwise(places))
    assert longest < 5.0
    assert imp.position.distance_to(at) < 6.0
    assert imp.sheet.health.current < 1000


def test_to_end_a_fight_does_not_heal_a_pet(scene: SpellScene) -> None:
    imp, _ = taken(scene)
    foe = scene.creature("a rat", 6.0)
    scene.player.set_target(foe)
    scene.client.types("pet attack")
    scene.run(2.0)
    imp.sheet.health.set_current(500)
    scene.client.types("pet backoff")
    scene.run(1.0)
    assert imp.sheet.health.current < 1000


def test_a_charmed_creature_fights_no_player_any_more(scene: SpellScene) -> None:
    friend, ogre = scene.friend(), scene.creature("an ogre", 5.0)
    for one in (scene.player, friend):
        one.spawn.sheet.health.fill(100_000)
        scene.harness.parts.combat.creatures.hate(scene.zone, ogre, one.spawn, 500)
    scene.run(1.0)
    _, spell = taken(scene, PetKind.CHARMED, ogre)
    scene.run(0.5)
    before = friend.spawn.sheet.health.current
    scene.run(5.0)
    assert friend.spawn.sheet.health.current >= before
    for one in (scene.player, friend):
        assert "combat" not in one.spawn.words
    # Free again, it goes back to where it stood.
    home = ogre.position
    scene.player.teleport(Position(home.x + 40, *home[1:]), scene.harness.now)
    scene.run(15.0)
    assert ogre.position.distance_to(home) > 20.0
    scene.spells.lasting.end(spell, "expired")
    scene.run(20.0)
    assert ogre.position.distance_to(home) < 3.0


def test_a_charmed_creature_that_has_not_moved_goes_nowhere(scene: SpellScene) -> None:
    ogre = scene.creature("an ogre", 3.0)
    _, spell = taken(scene, PetKind.CHARMED, ogre)
    scene.spells.lasting.end(spell, "expired")
    mover = scene.harness.minds.moves.get(ogre, scene.zone)
    assert mover is not None
    assert not mover.is_running


def test_a_charmed_creature_has_no_pet_any_more(scene: SpellScene) -> None:
    shaman, spirit, _ = summoned(scene)
    taken(scene, PetKind.CHARMED, shaman)
    assert scene.zone.spawn(spirit.id) is None
    assert scene.spells.pets.get(spirit) is None


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
