"""How a player sees others: arrows by level, attitudes by faction."""

import pytest

from emu.rules.stance import NEUTRAL, Encounter, Look, Stance, arrow_color, attitude, look_at


@pytest.mark.parametrize(
    ("level", "own", "color"),
    [(1, 2, 2), (1, 3, 1), (1, 5, 0), (1, 1, 3), (2, 1, 4), (3, 1, 5), (4, 1, 6), (12, 10, 4),
     (15, 10, 6), (25, 20, 5), (24, 20, 4), (29, 20, 6), (15, 20, 2), (10, 20, 1), (9, 20, 0)],
)  # fmt: skip
def test_early_levels_count_more(level: int, own: int, color: int) -> None:
    """docs/protocol/world/spawns.md#arrow; the first three are recorded."""
    assert arrow_color(level, own) == color


@pytest.mark.parametrize(
    ("faction", "standing", "con"),
    [(0, 50_000, 0), (1, 50_000, -4), (9, 0, 4), (10, -50_000, 5), (35, 0, 0), (35, 9_999, 0),
     (35, -9_999, 0), (35, 10_000, 1), (35, -45_000, -4), (35, 99_000, 5)],
)  # fmt: skip
def test_attitudes_follow_the_standing(faction: int, standing: int, con: int) -> None:
    """docs/protocol/world/spawns.md#arrow."""
    assert attitude(faction, {faction: standing}) == con
    assert attitude(35, {}) == 0


def test_what_cannot_be_attacked_has_a_neutral_arrow() -> None:
    assert look_at(Stance(90, 0, attackable=False), 1, {}) == NEUTRAL
    assert look_at(Stance(90, 1, attackable=True), 1, {}) == Look(6, -4)


def test_a_grey_enemy_does_not_attack_and_attitudes_are_shown_within_four() -> None:
    """EQ2Emulator's server does so (docs/protocol/world/spawns.md#arrow)."""
    assert look_at(Stance(1, 1, attackable=True), 5, {}) == Look(0, -3)
    # Blue is recorded with -4: level 3 to 6 for a player of 5 (content-546-QueensColony).
    assert look_at(Stance(4, 1, attackable=True), 5, {}) == Look(2, -4)
    assert look_at(Stance(1, 35, attackable=True), 9, {35: -50_000}) == Look(0, -3)
    assert look_at(Stance(9, 35, attackable=True), 9, {35: -50_000}) == Look(3, -4)
    assert look_at(Stance(9, 10, attackable=False), 9, {}) == Look(3, 4)


def test_only_whom_a_locked_creature_hates_most_is_shown_to_be_hated() -> None:
    """Recorded: fight-60114-melee-a: nobody is after a call for help."""
    locked = Stance(2, 0, True, Encounter.LOCKED, frozenset((7, 8)), target=7)
    assert look_at(locked, 2, {}, 7) == Look(3, 0, 3, is_hated=True)
    assert look_at(locked, 2, {}, 8) == Look(3, 0, 3)
    assert not look_at(locked._replace(encounter=Encounter.BROKEN), 2, {}, 7).is_hated
    assert not look_at(locked._replace(target=0), 2, {}).is_hated


def test_the_fight_of_others_is_grey() -> None:
    """Recorded: fight-546-encounter-a: 02 03 to its fighters, 00 03 to others, then 00 02."""
    locked = Stance(1, 0, True, Encounter.LOCKED, frozenset((7, 8)))
    assert look_at(locked, 2, {}, 7) == Look(2, 0, 3)
    assert look_at(locked, 2, {}, 9) == Look(0, 0, 3)
    broken = locked._replace(encounter=Encounter.BROKEN, fighters=frozenset())
    assert look_at(broken, 2, {}, 7) == Look(0, 0, 2)
