"""Givers of quests of files: dialogs, and offers by hail and by place.

Source: docs/guides/quests.md#files.
"""

from pathlib import Path

import pytest

from emu.content.quest_files import read_quests
from emu.quests.staged import StagedQuest
from emu.world.actors.spawn import Spawn
from tests.support.world.quest_scenes import BAG, QuestScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

TEXT = f"""
[[quest]]
id = 1
title = "Arrival"
zone = "Isle of Refuge"
description = "Look around."
giver_zone = 325
[[quest.phase]]
text = "Look."
[[quest.phase.step]]
kind = "talk"
text = "Greet Anikra."
names = ["Anikra"]

[[quest]]
id = 2
title = "An Errand"
zone = "Isle of Refuge"
description = "Bring it."
giver = "Anikra"
says = "Will you, {{name}}?"
busy = "Well?"
thanks = "Thank you."
after = [1]
accepted = "You will."
completed = "You did."
reward = {{ experience = 30 }}
[[quest.phase]]
text = "Bring it."
[[quest.phase.step]]
kind = "talk"
text = "Ask Borin."
names = ["Borin"]
says = "What do you want?"
answer = "A bag."
reply = "Take it."
gives = [{BAG}]
[[quest.phase]]
text = "Return."
[[quest.phase.step]]
kind = "talk"
text = "Give it to Anikra."
names = ["Anikra"]
says = "Do you have it?"
answer = "Here it is."
takes = [{BAG}]
"""


def staged(tmp_path: Path) -> dict[int, StagedQuest]:
    path = tmp_path / "quests.toml"
    path.write_text(TEXT)
    return read_quests([path])


@pytest.fixture
def scene(tmp_path: Path) -> QuestScene:
    return QuestScene(tmp_path, staged=staged(tmp_path))


def put(scene: QuestScene, name: str) -> Spawn:
    spawn = scene.spawn("", name)
    scene.parts.givers.appeared(scene.zone, spawn)
    return spawn


def lines(scene: QuestScene) -> list[str]:
    return [one["text"] for one in scene.client.decoded("WS_DisplayText")]


def test_a_quest_without_a_giver_is_offered_at_the_entry(scene: QuestScene) -> None:
    (offer,) = scene.client.decoded("WS_OfferQuest")
    assert offer["title"] == "Arrival"
    scene.client.types("/q_accept_pending_quest 1")
    # A step of talking without words is done by the hail.
    scene.hail(put(scene, "Anikra"))
    scene.turn()
    assert scene.journal.times(1) == 1


def test_from_the_offer_to_the_reward(scene: QuestScene) -> None:
    anikra, borin = put(scene, "Anikra"), put(scene, "Borin")
    scene.hail(anikra)
    assert not scene.dialogs()  # the arrival comes first
    scene.journal.finish(1, scene.harness.moment)
    scene.hail(anikra)
    page = scene.dialogs()[-1]
    assert page["text"] == "Will you, Aldana?"
    scene.answer(page["conversation_id"], 0)
    scene.client.types("/q_accept_pending_quest 2")
    assert lines(scene)[-1] == "You will."
    scene.hail(anikra)
    assert scene.dialogs()[-1]["text"] == "Well?"
    scene.hail(borin)
    scene.answer(scene.dialogs()[-1]["conversation_id"], 0)
    assert scene.dialogs()[-1]["text"] == "Take it."
    assert [one.item_id for one in scene.player.holdings.inventory] == [BAG]
    scene.hail(anikra)
    scene.answer(scene.dialogs()[-1]["conversation_id"], 0)
    scene.turn()
    assert not list(scene.player.holdings.inventory)
    assert scene.journal.times(2) == 1
    assert scene.player.character.experience == 30
    scene.hail(anikra)
    assert scene.dialogs()[-1]["text"] == "Thank you."


def test_an_answer_that_comes_too_late_does_nothing(scene: QuestScene) -> None:
    scene.journal.finish(1, scene.harness.moment)
    anikra = put(scene, "Anikra")
    scene.hail(anikra)
    number = scene.dialogs()[-1]["conversation_id"]
    scene.quests.offer(scene.player, 2, is_forced=True)
    scene.answer(number, 0)
    assert [*scene.journal.open] == [2]
    assert not scene.journal.offered.get(2)
