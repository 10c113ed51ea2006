"""Lines with a hint for a player: they are tasks until the journal changes.

The lines are those of the scripts of the Isle of Refuge (PlayerScripts/global.lua,
SpawnScripts/IsleRefuge1/LeavetheIsleofRefuge.lua).
"""

import pytest

from emu.client.evening.hints import MOST, Hints

ISLE, VILLAGE = "tutorial_island02", "qey_village01"
LEAVE = "You must leave the Isle to gain levels."
CLASS = "You must choose your class to gain levels."


@pytest.mark.parametrize(
    ("line", "task"),
    [
        ("Speak with an Ambassador if you are ready to leave the island.",
         "Speak with an Ambassador"),
        ("Speak with Duke Ferrin about securing a vessel off the island.",
         "Speak with Duke Ferrin"),
        ("You should talk to Garven.", "talk to Garven"),
    ],
)  # fmt: skip
def test_a_line_that_names_somebody_is_a_task(line: str, task: str) -> None:
    hints = Hints()
    assert hints.read(line, level=6, zone=ISLE)
    assert not hints.read(line, level=6, zone=ISLE)
    assert [one.text for one in hints.tasks(0)] == [task]


def test_other_lines_are_none() -> None:
    hints = Hints()
    assert not hints.read("You gain 294 experience!", level=6, zone=ISLE)
    assert hints.tasks(0) == []


def test_tasks_end_when_the_journal_changes() -> None:
    hints = Hints()
    hints.read("Speak with Duke Ferrin.", level=6, zone=ISLE)
    assert hints.tasks(0)
    assert hints.tasks(1) == []


def test_the_newest_hints_count() -> None:
    hints = Hints()
    for number in range(MOST + 2):
        hints.read(f"Speak with Guard {number}.", level=6, zone=ISLE)
    texts = [one.text for one in hints.tasks(0)]
    assert texts == [f"Speak with Guard {number}" for number in range(MOST + 1, 1, -1)]


def test_a_refused_level_stops_fights_until_the_next_one() -> None:
    hints = Hints()
    assert hints.read(CLASS, level=9, zone=VILLAGE)
    assert hints.is_stopped(9)
    assert not hints.must_leave(9, VILLAGE)
    assert not hints.is_stopped(10)


def test_a_zone_without_further_levels_must_be_left() -> None:
    hints = Hints()
    hints.read(LEAVE, level=6, zone=ISLE)
    assert hints.must_leave(6, ISLE)
    assert not hints.must_leave(6, VILLAGE)
    assert not hints.must_leave(7, ISLE)
