"""What a sheet says about blows, and where blows come from."""

from types import SimpleNamespace
from typing import Any

import pytest

from emu.rules.combat import Facing
from emu.world.actors.sheet import FieldKind, SpellMarks
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.combat.figures import (
    PRIMARY,
    DefenseSkills,
    attack_of,
    defense_of,
    delay_of,
    gap,
    shared_hate,
    side_of,
)
from emu.world_stream.movement import Position


def spawn(x: float = 0.0, heading: float = 0.0, **values: object) -> Spawn:
    return Spawn(1, SpawnKind.NPC, "a crab", Position(x, 0.0, 0.0, heading), **values)


def test_without_a_weapon_hands_strike() -> None:
    crab = spawn(level=5)
    assert attack_of(crab)[:4] == (5, 4, 12, 25)
    assert delay_of(crab, PRIMARY) == 2.0


def test_a_weapon_strikes_with_its_own_damage() -> None:
    crab = spawn(level=5)
    for name, value in (("damage_low", 2), ("damage_high", 7), ("delay", 16)):
        crab.sheet.set(f"primary_weapon_{name}", FieldKind.UNSIGNED, value)
    # Strength 20 adds 2.
    assert attack_of(crab)[:3] == (5, 4, 9)
    assert delay_of(crab, PRIMARY) == 1.6


def test_armor_and_shield_are_in_the_sheet() -> None:
    crab = spawn(level=5)
    crab.sheet.set("cur_mitigation", FieldKind.UNSIGNED, 90)
    crab.sheet.set("block", FieldKind.FRACTION, 130.0)
    assert (defense_of(crab).mitigation, defense_of(crab).block) == (90, 13.0)


def test_armor_above_eighty_points_a_level_is_useless() -> None:
    """The cap of eq2-spells.md 7."""
    crab = spawn(level=2)
    crab.sheet.set("cur_mitigation", FieldKind.UNSIGNED, 500)
    assert defense_of(crab).mitigation == 160


def test_skills_avoid_blows_and_things_add_to_them() -> None:
    """Ten points of Parry or Defense are one percent (eq2-combat.md 4.3, eq2-spells.md 7)."""
    crab = spawn(level=8)
    # Creatures have five points for each level.
    assert defense_of(crab)[:3] == (4.0, 0.0, 4.0)
    assert defense_of(crab, DefenseSkills(25, 15))[:3] == (2.5, 0.0, 1.5)
    crab.sheet.set("parry", FieldKind.FRACTION, 3.0)
    crab.sheet.set("cur_avoidance", FieldKind.FRACTION, 1.0)
    crab.sheet.worn = {696: 100.0}
    assert defense_of(crab, DefenseSkills(25, 15))[:3] == (11.0, 0.0, 5.0)


@pytest.mark.parametrize(("class_", "guards"), [(4, False), (5, True), (6, True), (7, True)])
def test_brawlers_guard_their_backs(class_: int, guards: bool) -> None:
    """EQ2Emulator's rule (eq2-combat.md 4.3, step 2)."""
    assert defense_of(spawn(appearance={"class": class_})).guards_back is guards


def test_a_gap_is_between_the_radii() -> None:
    assert gap(spawn(), spawn(6.0)) == 4.0


def test_blows_come_from_where_the_attacker_stands() -> None:
    attacker = spawn(5.0)
    toward = Position(0.0, 0.0, 0.0).heading_to(attacker.position)
    assert side_of(attacker, spawn(heading=toward)) is Facing.AHEAD
    assert side_of(attacker, spawn(heading=toward + 80)) is Facing.SIDE
    assert side_of(attacker, spawn(heading=toward + 180)) is Facing.BEHIND
    assert side_of(attacker, spawn(5.0, heading=180)) is Facing.AHEAD


@pytest.mark.parametrize(
    ("amount", "percent", "shares"),
    [(200, 25.0, (150, 50)), (200, 100.0, (0, 200)), (200, 150.0, (0, 200)),
     (200, 0.0, (200,)), (200, -5.0, (200,)), (-200, 25.0, (-200,)), (3, 25.0, (3,))],
)  # fmt: skip
def test_a_share_of_hate_goes_to_another(
    amount: int, percent: float, shares: tuple[int, ...]
) -> None:
    """Source: eq2-spells.md 7, "threat transfer": the share is a part of a hundred."""
    foe, receiver = spawn(), spawn()
    receiver.sheet.health.fill(100)
    foe.sheet.spells = SpellMarks()
    foe.sheet.spells.threat = receiver, percent
    zone: Any = SimpleNamespace(spawn=lambda _number: receiver)
    assert [hate for _, hate in shared_hate(zone, foe, amount)] == [*shares]
    elsewhere: Any = SimpleNamespace(spawn=lambda _number: None)
    assert shared_hate(elsewhere, foe, amount) == ((foe, amount),)
