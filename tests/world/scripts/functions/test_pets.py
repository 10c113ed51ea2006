"""The functions of pets, on a creature that a spell charms."""

from pathlib import Path

import pytest

from emu.world.spells.pets import PetKind
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
