"""Friends and enemies of a caster, encounters, and pets."""

from pathlib import Path

import pytest

from emu.world.actors.player import PlayerState
from tests.support.world.spell_scenes import SpellScene


@pytest.fixture
def scene(tmp_path: Path) -> SpellScene:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    return SpellScene(tmp_path)


def test_players_are_friends_and_attackable_creatures_are_not(scene: SpellScene) -> None:
    company, own = scene.spells.company, scene.player.spawn
    friend, crab = scene.friend().spawn, scene.creature()
    deer = scene.creature("a deer", attackable=False)
    assert company.are_friends(own, friend)
    assert not company.are_friends(own, crab)
    assert company.are_friends(own, deer)
    assert company.are_friends(crab, scene.creature())
    assert not company.are_grouped(own, friend)


def test_members_of_a_group_are_those_who_stand_in_the_same_zone(scene: SpellScene) -> None:
    company, friend, outsider = scene.spells.company, scene.friend(), scene.friend(7, "Cid")
    scene.client.types(f"invite {friend.name}")
    scene.harness.world.groups.table.accept(friend.id, scene.harness.now)
    own = scene.player.spawn
    assert company.members(scene.player) == [scene.player, friend]
    assert company.members(outsider) == [outsider]
    assert company.are_grouped(own, friend.spawn)
    assert company.share_group(own, friend.spawn)
    assert not company.are_grouped(own, outsider.spawn)
    assert not company.share_group(own, outsider.spawn)
    friend.state = PlayerState.ZONING
    assert company.members(scene.player) == [scene.player]
    assert not company.are_grouped(own, friend.spawn)
    assert company.share_group(own, friend.spawn)


def test_a_pet_belongs_to_its_master(scene: SpellScene) -> None:
    company, own = scene.spells.company, scene.player.spawn
    pet = scene.creature("a pet")
    company.owners[pet] = own
    assert company.pets(own) == [pet]
    assert company.master(pet) is own
    assert company.player(pet) is scene.player
    assert company.are_friends(own, pet)
    assert company.are_grouped(own, pet)


def test_an_encounter_is_what_stands_in_one_group(scene: SpellScene) -> None:
    company = scene.spells.company
    standing = scene.standing("")._replace(group=7)
    crabs = [scene.creature(f"crab {at}", away=2.0 + at) for at in range(3)]
    for one in crabs[:2]:
        company.appeared(scene.zone, one, standing)
    assert company.encounter(scene.zone, crabs[0]) == crabs[:2]
    assert company.encounter(scene.zone, crabs[2]) == crabs[2:]
    # Who is charmed belongs to its master meanwhile.
    company.owners[crabs[1]] = scene.player.spawn
    assert company.encounter(scene.zone, crabs[0]) == crabs[:1]
    assert company.encounter(scene.zone, crabs[1]) == crabs[1:2]
    del company.owners[crabs[1]]
    company.vanished(scene.zone, crabs[1])
    assert company.encounter(scene.zone, crabs[0]) == crabs[:1]
    company.ended(scene.zone)
    assert company.row_of(scene.zone, crabs[0]) == {}
