"""Marks of quests: who sees them, their colors, and that only changed ones are sent.

Source: docs/guides/quests.md#marks.
"""

from pathlib import Path

import pytest

from tests.support.world.quest_scenes import CRABS, QuestScene, crabs_plan

pytest.importorskip("lupa", reason="the package lupa is not installed")

PROVIDES = "function spawn(NPC) ProvidesQuest(NPC, 900001) end"


def shown(scene: QuestScene, name: str) -> int:
    return int(scene.client.fields_of(name).get("quest_flag", 0))


@pytest.mark.parametrize(("version", "mark"), [(546, 1), (1096, 1), (1208, 32), (60114, 32)])
def test_a_giver_has_a_mark_until_the_quest_is_taken(
    tmp_path: Path, version: int, mark: int
) -> None:
    scene = QuestScene(tmp_path, version, plans=[crabs_plan(feather=2)])
    giver = scene.spawn(PROVIDES, "Anikra")
    scene.spawn("", "Other")
    scene.turn()
    assert (shown(scene, "Anikra"), shown(scene, "Other")) == (mark, 0)
    scene.accept()
    assert shown(scene, "Anikra") == 0
    scene.quests.drop(scene.player, CRABS)
    scene.turn()
    assert shown(scene, "Anikra") == mark
    assert scene.parts.feathers.mark(scene.player, giver) == mark


def test_nothing_is_sent_for_marks_that_stay(tmp_path: Path) -> None:
    scene = QuestScene(tmp_path)
    scene.spawn(PROVIDES, "Anikra")
    scene.turn()
    before = len(scene.client.log)
    scene.parts.feathers.changed(scene.player)
    scene.turn()
    assert not [name for name, _ in scene.client.log[before:] if "Ghost" in name]


def test_a_private_spawn_is_seen_at_its_step_alone(tmp_path: Path) -> None:
    scene = QuestScene(tmp_path)
    scene.spawn("function spawn(NPC) SetRequiredQuest(NPC, 900001, 2, 1) end", "Scout")
    scene.spawn("function spawn(NPC) SetRequiredQuest(NPC, 900001, 1, 1, 1) end", "Crier")
    assert not {"Scout", "Crier"} & scene.client.sees()
    scene.accept()
    assert {"Scout", "Crier"} & scene.client.sees() == {"Crier"}
    scene.quests.complete(scene.player, scene.journal.open[CRABS], 1)
    scene.turn()
    assert {"Scout", "Crier"} <= scene.client.sees()
    scene.quests.complete(scene.player, scene.journal.open[CRABS], 2)
    scene.turn()
    assert {"Scout", "Crier"} & scene.client.sees() == {"Crier"}
