"""Windows as people read them in the shell: one line each, and none as Python writes it."""

from __future__ import annotations

from typing import get_args

import pytest

from emu.client.world import windows
from emu.client.world.window_lines import WINDOW_LINES
from emu.client.world.windows import Good, QuestRow, QuestTask, WindowEvent


def test_every_window_has_a_line() -> None:
    assert set(WINDOW_LINES) == set(get_args(WindowEvent))


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (windows.OfferShown("Rats", "Kill 5.", "a", "d"), "quest Rats is offered: Kill 5."),
        (windows.QuestShown(1, "Rats", (QuestTask("Kill rats", "", False, 2, 5),), False),
         "quest Rats: Kill rats (2/5)"),
        (windows.QuestShown(1, "Rats", (), True), "quest Rats, complete: no task"),
        (windows.JournalListed((QuestRow(1, "Rats", True), QuestRow(2, "Owls", False))),
         "journal: Rats; Owls (done)"),
        (windows.RewardOffered("Rats", (7, 8), ("a cap",), 12),
         "reward Rats: a cap, 12 copper, one of 2 things"),
        (windows.RewardOffered("Rats", (), (), 0), "reward Rats: nothing"),
        (windows.RewardOffered("Rats", (), (), 3, ("Qeynos",)),
         "reward Rats: 3 copper, standing with Qeynos"),
        (windows.LootShown(3, ((7, "a tail"),)), "to take: a tail"),
        (windows.LessonShown("Open a bag.", "bag"), "lesson: Open a bag."),
        (windows.ChoiceOffered("Go?", "Yes", "go", "no", False), "Go? [Yes]"),
        (windows.HousePriced(3, "an inn", 0, True), "an inn costs 0 copper"),
        (windows.HouseShown(3, "an inn", False), "house: an inn"),
        (windows.PlaceAsked(3), "a place for thing 3 is to be chosen"),
        (windows.GoodsShown(3, 1, (Good(7, 1, "bread", 4, 1),)), "for sale: bread (4 copper)"),
        (windows.VerbsShown(3, (("hail", "Hail"),)), "what can be done: Hail"),
    ],
)  # fmt: skip
def test_a_window_is_one_line(event: WindowEvent, line: str) -> None:
    assert WINDOW_LINES[type(event)](event) == line
