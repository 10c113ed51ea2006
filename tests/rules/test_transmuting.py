"""What transmuting needs and makes.

Source: docs/guides/crafting.md#transmuting; the content table `transmuting` (eq2-content.md 13).
"""

import pytest

from emu.rules.transmuting import TransmuteTier, materials, may_teach, needed_skill

TIERS = (TransmuteTier(1, 9, 11, 12, 13, 14), TransmuteTier(10, 19, 21, 22, 23, 24))


@pytest.mark.parametrize(("level", "skill"), [(1, 0), (5, 0), (6, 5), (20, 75), (90, 425)])
def test_the_skill_grows_with_the_level(level: int, skill: int) -> None:
    assert needed_skill(level) == skill


@pytest.mark.parametrize(
    ("level", "tier", "roll", "made"),
    [
        (5, 5, 0, (12, 11)), (5, 5, 14, (12, 11)), (5, 5, 15, (11,)), (5, 6, 74, (11,)),
        (5, 5, 75, (12,)), (9, 7, 20, (12,)), (9, 8, 99, (13,)), (10, 9, 20, (23,)),
        (19, 12, 99, (24,)), (20, 9, 0, ()), (0, 9, 0, ()),
    ],
)  # fmt: skip
def test_what_is_made(level: int, tier: int, roll: int, made: tuple[int, ...]) -> None:
    assert materials(TIERS, level, tier, lambda _below: roll) == made


def test_only_what_is_hard_enough_teaches() -> None:
    assert [may_teach(10, skill) for skill in (25, 49, 50)] == [True, True, False]
