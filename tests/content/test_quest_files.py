"""Quests of TOML files: what is read, and what is refused with the place of the fault."""

import tomllib
from pathlib import Path

import pytest

from emu.content.quest_files import read_quests, shipped_quests
from emu.errors import FileFormatError
from emu.files import data_file
from emu.quests.plans import QuestSpot, StepKind
from emu.rules.experience import usual_needs

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


def test_the_shipped_quests_name_what_is_there() -> None:
    shipped = read_quests([shipped_quests()])
    isle = tomllib.loads(data_file("world", "zones", "isle-of-refuge.toml").read_text())
    names = {one["name"].casefold() for one in isle["spawn"]}
    items = tomllib.loads(data_file("world", "items.toml").read_text())["item"]
    kinds = {one["id"] for one in items}
    assert len(shipped) == 6
    for quest in shipped.values():
        assert quest.giver.zone == isle["zone"]["id"]
        assert not quest.giver.name or quest.giver.name.casefold() in names
        reward = quest.plan.reward
        assert {one for one, _ in (*reward.items, *reward.choices)} <= kinds
        for phase in quest.phases:
            for step in phase.steps:
                assert step.names <= names
        assert {*quest.plan.needs.quests} <= shipped.keys()


def test_the_shipped_quests_of_one_player_lead_to_level_5() -> None:
    shipped = read_quests([shipped_quests()]).values()
    alone = [
        one for one in shipped
        if all(step.players == 1 for phase in one.phases for step in phase.steps)
    ]  # fmt: skip
    points = sum(one.plan.reward.experience for one in alone)
    assert len(alone) == 5
    assert points >= sum(usual_needs()[level] for level in range(2, 6))
