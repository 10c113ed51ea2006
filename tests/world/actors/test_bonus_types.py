"""Types of bonuses: their numbers, and the fields of sheets that they change."""

from emu.world.actors.bonus_types import FIELDS, POWER_SAVING, SKILL_KIND, SKILLS
from emu.world.actors.sheet import POOLS, known_fields


def test_every_bonus_names_a_field_or_a_pool() -> None:
    names = {name for rows in FIELDS.values() for name, _ in rows}
    assert names - set(known_fields()) == set(POOLS)


def test_skills_have_the_numbers_of_the_public_scripts() -> None:
    """101 aggression, 106 defense, 119 parry of 100 to 134 (eq2-lua.md 7.4)."""
    assert [SKILL_KIND + SKILLS.index(name) for name in ("Aggression", "Defense", "Parry")] == [
        101, 106, 119,
    ]  # fmt: skip
    assert (len(SKILLS), SKILLS[34], POWER_SAVING) == (35, "Spell Avoidance", 33)
