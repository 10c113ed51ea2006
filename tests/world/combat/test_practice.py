"""Skills that players use in fights. Source: EQ2Emulator (docs/protocol/world/fights.md#skills)."""

from emu.model import KnownSkill
from emu.world.combat.practice import CRUSHING, DEFENSE, FISTS
from tests.support.world.fights import Fight


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
