"""The functions of pets, on a creature that a spell charms."""

from pathlib import Path
from typing import Any

import pytest

from emu.world.scripts.functions.pets import PETS
from emu.world.spells.pets import PetKind
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import ScriptScene
from tests.support.world.spell_scenes import SpellScene
from tests.world.scripts.functions.test_effects import TOML, lasting

pytest.importorskip("lupa", reason="the package lupa is not installed")


def test_charm_and_what_is_asked_of_pets(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=TOML)
    crab = scene.spawn("function heard(NPC) end", "Crab", 90)
    lasting(scene, "Charm(Caster, Target) Say(Caster, tostring(IsPet(Target)))", crab)
    pets = scene.spells.pets
    assert pets.of(scene.player.spawn, PetKind.CHARMED) is crab
    asked = "GetCharmedPet(Spawn) ~= nil", "GetPet(Spawn)", "GetDeityPet(Spawn)"
    assert scene.says("", *asked, "GetCosmeticPet(Spawn)") == ["true", "nil", "nil", "nil"]
    owner = scene.says("", "GetName(GetOwner(GetCharmedPet(Spawn)))", "IsPet(Spawn)")
    assert owner == ["Aldana", "false"]
    scene.says("DismissPet(GetCharmedPet(Spawn))")
    assert pets.get(crab) is None
    assert scene.effects(crab) == []


def test_nothing_is_summoned_without_the_content(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path)
    calls = ("SummonPet(Spawn, 5)", "SummonDeityPet(Spawn, 5)", "SummonCosmeticPet(Spawn, 5)",
             "SummonDumbFirePet(Spawn, NPC, 5, 1, 2, 3)")  # fmt: skip
    assert scene.says("", *calls) == ["nil"] * 4
    assert scene.spells.company.owners == {}


# EQ2Emulator's code asks for a living caster, not for a player.
def test_a_creature_summons_a_pet_for_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = SpellScene(tmp_path, toml=TOML)
    scene.player.spawn.sheet.health.fill(1_000_000)
    asked: list[int] = []

    def made(home: Any, number: int, _place: object, *, is_private: bool) -> Any:
        asked.append(number)
        assert not is_private
        spirit = scene.spawn("function heard(NPC) end", f"Spirit {len(asked)}", 90 + len(asked))
        return home.bodies[spirit.id]

    monkeypatch.setattr(scene.scripts.maker, "one", made)
    source = "function hailed(NPC, Spawn) {} end".format
    shaman = scene.spawn(source("SummonPet(NPC, 77, 3)"), "Shaman", 88)
    shaman.set_visibility(attackable=True)
    scene.hail(shaman)
    pet = scene.spells.pets.of(shaman, PetKind.COMBAT)
    assert asked == [77]
    assert pet is not None
    assert (pet.level, pet.attackable) == (3, True)
    caller = scene.spawn(source("SummonDumbFirePet(NPC, Spawn, 78)"), "Caller", 89)
    scene.hail(caller)
    swarm = scene.spells.pets.of(caller, PetKind.DUMB_FIRE)
    assert swarm is not None
    assert scene.player.spawn in swarm.mind.hates


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), PETS) == []
