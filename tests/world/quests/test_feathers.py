"""Marks of quests: who sees them, their colors, and that only changed ones are sent.

Source: docs/guides/quests.md#marks.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from emu.world.actors.spawn import Spawn, SpawnKind
from tests.support.world.quest_scenes import CRAB, CRABS, QuestScene, crabs_plan
from tests.support.world.script_scenes import PLACE

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


@pytest.mark.parametrize("version", [546, 60114])
def test_who_takes_a_quest_back_waits_for_its_end(tmp_path: Path, version: int) -> None:
    """Source: eq2-quests.md 3 (mark 2: waits for you), eq2-content.md 12 (spawn_id)."""
    script = """
        function Init(Quest)
            QuestReturnNPC(Quest, 970)
            AddQuestStep(Quest, 1, "Look.", 1, 100, "", 0)
        end
    """
    scene = QuestScene(tmp_path, version, scripts={"Quests/crabs.lua": script})
    taker, other = scene.spawn(PROVIDES, "Anikra"), scene.spawn(PROVIDES, "Other")
    taker.look = replace(taker.look, dealing=taker.look.dealing._replace(number=970))
    scene.accept()
    assert (shown(scene, "Anikra"), shown(scene, "Other")) == (0, 0)
    scene.quests.complete(scene.player, scene.journal.open[CRABS], 1)
    scene.turn()
    assert (shown(scene, "Anikra"), shown(scene, "Other")) == (2, 0)
    assert scene.parts.feathers.mark(scene.player, other) == 0
    scene.quests.finish(scene.player, CRABS)
    scene.turn()
    assert shown(scene, "Anikra") == 0


@pytest.mark.parametrize(
    ("version", "answer", "mark"),
    [(60114, "16", 16), (60114, "true", 1), (60114, "0", 0), (60114, "nil", 0), (546, "16", 1)],
)
def test_a_script_says_which_mark_is_shown(
    tmp_path: Path, version: int, answer: str, mark: int
) -> None:
    """Source: eq2-lua.md 2.2 (ReceiveQuestCriteria: not 0 are the bits of the feather)."""
    script = f"""
        function Init(Quest) AddQuestStep(Quest, 1, "Look.", 1, 100, "", 0) end
        function ReceiveQuestCriteria(Quest, Giver, Player) return {answer} end
    """
    scene = QuestScene(tmp_path, version, scripts={"Quests/crabs.lua": script})
    scene.spawn(PROVIDES, "Anikra")
    scene.turn()
    assert shown(scene, "Anikra") == mark
    assert scene.says("", "CanReceiveQuest(Spawn, 900001)") == [str(mark > 0).lower()]


def sought(scene: QuestScene, name: str) -> int:
    return int(scene.client.fields_of(name).get("name_quest_icon", 0))


def add_crab(scene: QuestScene, name: str) -> None:
    crab = Spawn(scene.harness.world.zones.next_spawn_id(), SpawnKind.NPC, name, PLACE)
    crab.look = replace(crab.look, dealing=crab.look.dealing._replace(number=CRAB))
    scene.zone.add_spawn(crab, scene.harness.now)


@pytest.mark.parametrize(("version", "icon"), [(1096, 0), (1208, 1), (60114, 1)])
def test_what_a_quest_wants_dead_has_an_icon_until_its_step_is_done(
    tmp_path: Path, version: int, icon: int
) -> None:
    """Recorded in fight-1208-quest-a and fight-60114-quest-a: all crabs, also those that come."""
    scene = QuestScene(tmp_path, version)
    add_crab(scene, "Crab")
    scene.spawn("", "Other")
    assert (sought(scene, "Crab"), sought(scene, "Other")) == (0, 0)
    scene.accept()
    add_crab(scene, "Late")
    scene.harness.run(1.5)
    assert (sought(scene, "Crab"), sought(scene, "Late")) == (icon, icon)
    assert sought(scene, "Other") == 0
    scene.quests.drop(scene.player, CRABS)
    scene.turn()
    assert (sought(scene, "Crab"), sought(scene, "Late")) == (0, 0)
    scene.accept()
    scene.kill(CRAB)
    scene.turn()
    assert sought(scene, "Crab") == icon
    scene.kill(CRAB)
    scene.turn()
    assert (sought(scene, "Crab"), sought(scene, "Late")) == (0, 0)
