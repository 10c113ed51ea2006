"""Commands about quests: those of clients with wrong input, and those of game masters."""

from pathlib import Path

import pytest

from tests.support.world.quest_scenes import CRABS, QuestScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


@pytest.fixture
def scene(tmp_path: Path) -> QuestScene:
    return QuestScene(tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "/q_accept_pending_quest", "/q_accept_pending_quest 900001", "/q_deny_pending_quest x",
        "/deletequest 900001", "/deletequest -1", "/deletequest 99999999999999999999",
    ],
)  # fmt: skip
def test_what_was_not_offered_does_nothing(scene: QuestScene, line: str) -> None:
    before = scene.player.journal.text
    assert scene.client.types(line) == []
    assert scene.player.journal.text == before


def test_an_offer_is_answered_once(scene: QuestScene) -> None:
    scene.quests.offer(scene.player, CRABS)
    assert scene.client.types("/q_list_pending_quests") == ["900001  Crabs on the Beach"]
    scene.client.types(f"/q_deny_pending_quest {CRABS}")
    scene.client.types(f"/q_accept_pending_quest {CRABS}")
    assert not scene.journal.open


def test_a_player_reads_what_is_left_to_do(scene: QuestScene) -> None:
    assert scene.client.types("/quests") == ["You have no quests."]
    scene.quests.offer(scene.player, CRABS)
    assert scene.client.types("/quests") == [
        "offered: Crabs on the Beach: q_accept_pending_quest 900001"
    ]
    scene.client.types(f"/q_accept_pending_quest {CRABS}")
    first = next(scene.journal.open[CRABS].open_steps())
    title, line, *_ = scene.client.types("/quests")
    assert title == f"Crabs on the Beach, level {scene.journal.open[CRABS].plan.level}"
    assert line.startswith(f"  {first.text}")
    scene.journal.open[CRABS].plan = None
    assert scene.client.types("/quests") == ["900001: not on this server now"]


def test_a_quest_that_must_be_kept(scene: QuestScene) -> None:
    scene.accept()
    scene.journal.open[CRABS].plan.is_deletable = False
    assert scene.client.types(f"/deletequest {CRABS}") == ["You cannot give up this quest."]
    assert scene.journal.has(CRABS)


def test_game_masters(scene: QuestScene) -> None:
    console = scene.harness.console
    assert "step 2" not in console("quest show 900001").lines[0]
    assert console("quest give Aldana 900001").lines == ("Aldana has the quest Crabs on the Beach",)
    assert console("quest step Aldana 900001 1").lines == (
        "step 1 of quest 900001 of Aldana is done",
    )
    assert "open steps 2 (0/1)" in console("quest list Aldana").lines[1]
    console("quest drop Aldana 900001")
    console("quest give Aldana 900001")
    assert console("quest finish Aldana 900001").lines == ("Aldana has completed quest 900001",)
    assert scene.journal.times(CRABS) == 1


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("quest show 5", "there is no quest 5"),
        ("quest give Nobody 900001", "there is no player Nobody"),
        ("quest give Aldana 5", "there is no quest 5"),
        ("quest step Aldana 900001 1", "does not have quest"),
        ("quest drop Aldana 900001", "does not have quest"),
    ],
)
def test_faults_of_game_masters(scene: QuestScene, line: str, fault: str) -> None:
    reply = scene.harness.console(line)
    assert not reply.ok
    assert fault in reply.text


def test_a_quest_is_shared_with_the_group_near(scene: QuestScene) -> None:
    scene.accept()
    other = scene.harness.stand(6, 546, name="Borvik")
    assert scene.client.types(f"/share_quest {CRABS}") == [
        "Nobody near you in your group can take this quest."
    ]
    scene.client.types("/invite Borvik")
    other.types("/acceptinvite")
    assert other.player is not None
    other.player.spawn.move(scene.player.position)
    assert scene.client.types(f"/share_quest {CRABS}") == []
    assert other.decoded("WS_OfferQuest")[0]["title"] == "Crabs on the Beach"
    assert scene.client.types("/share_quest 7") == ["you cannot share this quest"]


def test_a_quest_is_not_shared_with_who_is_far_away(scene: QuestScene) -> None:
    """EQ2Emulator also offers it to players out of range of the zone (eq2-quests.md 12)."""
    scene.accept()
    other = scene.harness.stand(6, 546, name="Borvik")
    scene.client.types("/invite Borvik")
    other.types("/acceptinvite")
    assert other.player is not None
    at = scene.player.position
    other.player.spawn.move(at._replace(x=at.x + 150.0))
    assert scene.client.types(f"/share_quest {CRABS}") == [
        "Nobody near you in your group can take this quest."
    ]
    assert other.decoded("WS_OfferQuest") == []
