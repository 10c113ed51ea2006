"""Quests of EQ2Emulator's characters, as this world stores them.

Source of the columns: docs/protocol/world/data.md#characters.
"""

from __future__ import annotations

from typing import Any

import pytest

from emu.quests.journal import Completion, Journal
from emu.store.eq2emu_quests import ImportedQuests
from emu.times import UNKNOWN, Moment
from tests.support.files.eq2emu_players import ANTONIA

FIRST, SECOND = Moment(1709294400.0), Moment(1709380800.0)
"""2024-03-01 and 2024-03-02, at 12:00 UTC."""


@pytest.fixture
def imported() -> ImportedQuests:
    found = ImportedQuests()
    for row in ANTONIA["character_quest_progress"]:
        found.add_progress(row)
    for row in ANTONIA["character_quests"]:
        found.add_quest(row)
    return found


def test_an_open_quest_has_its_progress_and_a_completed_one_its_date(
    imported: ImportedQuests,
) -> None:
    journal = Journal(imported.quests)
    (taken,) = journal.open.values()
    assert (taken.number, taken.accepted, taken.giver) == (131, FIRST, 2530001)
    assert (taken.counts, taken.flags) == ({1: 4, 2: 1}, 5)
    assert (taken.is_tracked, taken.is_hidden) == (False, True)
    assert journal.completed == {132: Completion(2, SECOND), 133: Completion(1, SECOND)}


@pytest.mark.parametrize("changes", [{"quest_id": 0}, {"quest_id": None}, {"quest_id": "x"}])
def test_a_row_without_a_quest_is_left_out(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="quest_id"):
        ImportedQuests().add_quest({**ANTONIA["character_quests"][0], **changes})


def test_a_quest_taken_again_is_open_and_completed(imported: ImportedQuests) -> None:
    row = {**ANTONIA["character_quests"][1], "quest_id": 134, "completed_date": None}
    imported.add_quest(row)
    journal = Journal(imported.quests)
    assert journal.has(134)
    assert journal.completed[134] == Completion(2, FIRST)


def test_a_quest_whose_date_is_unusable_is_kept(imported: ImportedQuests) -> None:
    row = {**ANTONIA["character_quests"][0], "quest_id": 135, "given_date": None}
    imported.add_quest(row)
    assert Journal(imported.quests).open[135].accepted == UNKNOWN


def test_more_open_quests_than_a_journal_holds_are_left_out() -> None:
    found = ImportedQuests()
    for number in range(1, 76):
        found.add_quest({**ANTONIA["character_quests"][0], "quest_id": number})
    with pytest.raises(ValueError, match="at most 75"):
        found.add_quest({**ANTONIA["character_quests"][0], "quest_id": 76})
