"""Skills that players use in fights. Source: EQ2Emulator (docs/protocol/world/fights.md#skills)."""

import pytest

from emu.items.held import Place, Where
from emu.items.kinds import ItemKind, Range, Slot, Sort, Weapon
from emu.model import KnownSkill
from emu.world.combat.figures import PRIMARY
from emu.world.combat.practice import CRUSHING, DEFENSE, FISTS
from tests.support.world.fights import Fight


@pytest.mark.slow
def test_fights_raise_the_skills_that_they_use() -> None:
    fight = Fight()
    skills = fight.harness.parts.skills
    numbers = [skills.number(name) for name in (FISTS, DEFENSE)]
    skills.change_skills(
        fight.player, [KnownSkill(number, 1, 5) for number in numbers if number is not None]
    )  # fmt: skip
    crab = fight.creature()
    crab.sheet.health.fill(1_000_000)
    fight.player.spawn.sheet.health.fill(1_000_000)
    fight.attack(crab)
    fight.run(400.0)
    assert [skills.value(fight.player, name) for name in (FISTS, DEFENSE)] == [5, 5]
    assert "You get better at Fists (5/5)." in fight.texts()


@pytest.mark.slow
def test_bare_hands_crush() -> None:
    # Recorded: a mage of 546 without a weapon strikes with type 1, and gets better at Crushing.
    fight = Fight()
    skills = fight.harness.parts.skills
    crab = fight.creature()
    crab.sheet.health.fill(1_000_000)
    fight.player.spawn.sheet.health.fill(1_000_000)
    assert skills.value(fight.player, FISTS) == 0
    number = skills.number(CRUSHING)
    assert number is not None
    skills.change_skills(fight.player, [KnownSkill(number, 1, 5)])
    fight.attack(crab)
    fight.run(400.0)
    assert skills.value(fight.player, CRUSHING) == 5
    own = [one for one in fight.blows() if one[:4] == b"\x01\0\0\0"]
    assert {one[19] for one in own} == {1}


@pytest.mark.parametrize(("skill", "damage"), [(15, (6, 18)), (14, (5, 15)), (0, (2, 8))])
def test_a_weapon_needs_the_skill_of_its_level(skill: int, damage: tuple[int, int]) -> None:
    """EQ2Emulator's formula (eq2-spells.md 7): at 5 x the recommended level it has its best."""
    fight = Fight()
    crushing = fight.harness.parts.skills.number(CRUSHING)
    assert crushing is not None
    fight.harness.parts.skills.change_skills(fight.player, [KnownSkill(crushing, skill, skill)])
    kind = ItemKind(
        905, "a club", sort=Sort.WEAPON, slot_bits=1 << Slot.PRIMARY, recommended_level=3,
        skills=(crushing, 0),
        part=Weapon(2, 1, Range(3, 9), Range(6, 18), Range(2, 8), 16, 0.0),
    )  # fmt: skip
    inventory = fight.player.holdings.inventory
    (thing,) = inventory.add_things(kind, 1, lambda: 5000)
    inventory.move_to(thing, Place(Where.WORN, 0, Slot.PRIMARY))
    practice = fight.harness.parts.combat.fights._practice
    assert practice.strike(fight.player, PRIMARY) == (skill, damage)


def test_things_add_to_the_skills_of_fights() -> None:
    fight = Fight()
    practice, skills = fight.harness.parts.combat.fights._practice, fight.harness.parts.skills
    number = skills.number(DEFENSE)
    assert number is not None
    skills.change_skills(fight.player, [KnownSkill(number, 4, 5)])
    fight.player.spawn.sheet.worn_skills = {number: 12.0}
    assert practice.defenses(fight.player).defense == 16
