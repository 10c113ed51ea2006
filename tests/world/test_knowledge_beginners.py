"""What beginners have, by class, race and gender."""

from __future__ import annotations

import pytest

from emu.model import Hotkey, KnownSkill, Title
from emu.world.knowledge import Beginners, For, class_line
from tests.support.world.world_fakes import world_character


@pytest.mark.parametrize(
    ("number", "line"),
    [
        (0, {0}), (1, {1}), (2, {1, 2}), (3, {1, 2, 3}), (7, {1, 5, 7}), (10, {1, 8, 10}),
        (20, {11, 18, 20}), (21, {21}), (29, {21, 28, 29}), (31, {31}), (40, {31, 38, 40}),
        (42, {42}),
    ],
)  # fmt: skip
def test_a_class_has_what_it_grew_out_of(number: int, line: set[int]) -> None:
    assert class_line(number) == line


def test_rows_fit_by_class_race_and_gender() -> None:
    beginners = Beginners(
        skills=[
            For(KnownSkill(5, 1, 5)),
            For(KnownSkill(5, 3, 3), classes=frozenset((1,))),
            For(KnownSkill(4, 1, 1), classes=frozenset((2,))),
        ],
        languages=[For(13, races=frozenset((11,))), For(9), For(9)],
        titles=[For(Title("Sir", is_prefix=True), genders=frozenset((1,)))],
        hotkeys=[For(Hotkey(0, 1, 4, text="hail")), For(Hotkey(0, 1, 4, text="wave")),
                 For(Hotkey(0, 0, 4, text="sit"))],
    )  # fmt: skip
    guardian = world_character(class_=3, race=11, gender=1)
    mage = world_character(class_=21, race=9, gender=2)
    assert beginners.skills(guardian) == [KnownSkill(4, 1, 1), KnownSkill(5, 3, 5)]
    assert beginners.skills(mage) == [KnownSkill(5, 1, 5)]
    assert (beginners.languages(guardian), beginners.languages(mage)) == ([9, 13], [9])
    assert beginners.titles(guardian) == [Title("Sir", is_prefix=True)]
    assert beginners.titles(mage) == []
    assert [key.text for key in beginners.hotkeys(mage)] == ["sit", "wave"]
