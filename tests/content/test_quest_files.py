"""Quests of TOML files: what is read, and what is refused with the place of the fault."""

from pathlib import Path

import pytest

from emu.content.quest_files import read_quests, shipped_quests
from emu.errors import FileFormatError
from emu.quests.plans import QuestSpot, StepKind

ERRAND = """
[[quest]]
id = 7
title = "An Errand"
zone = "Meadow"
level = 3
description = "Go."
giver = "Anikra"
says = "Will you go?"
after = [6]
reward = { experience = 90, coins = 12, items = [5, [6, 2]], factions = [[11, -5]] }

[[quest.phase]]
text = "Go there."
done = "You went."
[[quest.phase.step]]
kind = "place"
text = "Reach the mill."
at = [1.0, 2.0, 3.0]
within = 4.0
[[quest.phase.step]]
kind = "kill"
text = "Kill a rat."
quantity = 2
names = ["A Rat"]
players = 2

[[quest.phase]]
text = "Return."
[[quest.phase.step]]
kind = "talk"
text = "Tell her."
names = ["Anikra"]
says = "Well?"
answer = "I went."
takes = [5]
"""


def read(tmp_path: Path, text: str) -> dict[int, object]:
    path = tmp_path / "quests.toml"
    path.write_text(text)
    return dict(read_quests([path]))


def test_a_quest_with_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "quests.toml"
    path.write_text(ERRAND)
    quest = read_quests([path])[7]
    plan = quest.plan
    assert (plan.title, plan.category, plan.level, plan.needs.quests) == (
        "An Errand", "Meadow", 3, (6,),
    )  # fmt: skip
    assert (plan.reward.experience, plan.reward.items) == (90, ((5, 1), (6, 2)))
    assert plan.reward.factions == ((11, -5),)
    reach, kill = quest.phases[0].steps
    assert (reach.kind, reach.spots, reach.radius) == (StepKind.PLACE, (QuestSpot(1, 2, 3),), 4.0)
    assert (kill.number, kill.quantity, kill.names, kill.players) == (2, 2, {"a rat"}, 2)
    assert quest.talks[3].answer == "I went."
    assert quest.takes[3] == ((5, 1),)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("level = 3", "levels = 3", "a quest has no levels"),
        ("level = 3", "level = -1", "level must be a number"),
        ('kind = "kill"', 'kind = "tickle"', "no kind 'tickle'"),
        ("after = [6]", 'after = ["six"]', "after must be a list"),
        ("items = [5, [6, 2]]", 'items = ["bag"]', "items must have numbers"),
        ('title = "An Errand"', "", "title must be a text"),
        ("quantity = 2", "percent = 0", "percent must be"),
    ],
)
def test_a_fault_is_named(tmp_path: Path, old: str, new: str, fault: str) -> None:
    with pytest.raises(FileFormatError, match=fault):
        read(tmp_path, ERRAND.replace(old, new))


def test_the_shipped_quests_can_be_read() -> None:
    read_quests([shipped_quests()])
