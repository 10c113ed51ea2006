"""Windows of quests against recorded messages: what the C++ server sent about the same states.

Source: ../shared/data/recordings/fight-*-quest-a, by tests/vectors/recorded-structs.jsonl.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.world.quest_scenes import CRABS, QuestScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

VECTORS = Path(__file__).parents[2] / "vectors" / "recorded-structs.jsonl"
VOLATILE = {"player_crc", "day", "month", "year", "unique_id", "item_crc", "stack_size"}
"""What depends on the character, the day, or on facts of things that were not recorded."""
FAULTS = {
    # Random numbers of the C++ server.
    "WS_OfferQuest": {"encounter_level"}, "WS_QuestComplete": {"encounter_level"},
    # It sends the reply twice; only the second one says that the quest is tracked.
    "WS_QuestJournalReply": {"display_quest_helper", "deletable", "shareable"},
}  # fmt: skip


def vectors() -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in VECTORS.read_text().splitlines()]
    wanted = ("WS_OfferQuest", "WS_QuestJournalReply", "WS_QuestComplete", "WS_QuestRewardPackMsg")
    return [
        one for one in rows
        if one["struct"] in wanted and "fight-" in one["source"] and "quest-a" in one["source"]
    ]  # fmt: skip


def without(value: Any, names: set[str]) -> Any:
    """Return a decoded message without some fields, and without the things inside."""
    if isinstance(value, dict):
        return {
            name: without(one, names) for name, one in value.items()
            if name not in names and name not in ("item", "select_item")
        }  # fmt: skip
    return [without(one, names) for one in value] if isinstance(value, list) else value


def things_of(fields: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return name and sort of each thing that a message has inside."""
    rows = [
        *[one["select_item"] for one in fields.get("select_rewards_array", [])],
        *[one["item"] for one in fields.get("rewards_array", [])],
    ]  # fmt: skip
    return [(one["item"]["footer"]["name"], one["item"]["item_type"]) for one in rows]


def shown(scene: QuestScene, struct: str) -> dict[str, Any]:
    """Return what this server sends at the recorded moments."""
    if struct == "WS_OfferQuest":
        scene.quests.offer(scene.player, CRABS)
    else:
        scene.accept()
    if struct in ("WS_QuestComplete", "WS_QuestRewardPackMsg"):
        scene.quests.finish(scene.player, CRABS)
    return scene.client.decoded(struct)[-1]


@pytest.mark.parametrize("version", [546, 561, 562, 844, 864, 908, 1096, 1208, 57080, 60114, 64753])
def test_each_version_reads_its_offer_journal_and_reward_whole(
    tmp_path: Path, version: int
) -> None:
    """EQ2Emulator's structs of 562 and 860 have the reward in the journal, behind 3 and 2 bytes."""
    scene = QuestScene(tmp_path, version)
    scene.accept()
    offer = scene.client.decoded("WS_OfferQuest")[-1]
    journal = scene.client.decoded("WS_QuestJournalReply")[-1]
    assert offer["title"] == journal["name"] == "Crabs on the Beach"
    reward = journal if 562 <= version < 1096 else journal["reward_data"]
    assert (reward["min_coin"], reward["text"]) == (offer["min_coin"], offer["text"])
    scene.quests.finish(scene.player, CRABS)
    struct = "WS_QuestRewardPackMsg" if version < 562 else "WS_QuestComplete"
    assert len(scene.client.decoded(struct)) == 1


@pytest.mark.parametrize("row", vectors(), ids=lambda row: f"{row['struct']}-{row['version']}")
def test_the_same_as_recorded(tmp_path: Path, row: dict[str, Any]) -> None:
    scene = QuestScene(tmp_path, row["version"])
    found = shown(scene, row["struct"])
    names = VOLATILE | FAULTS.get(row["struct"], set())
    expected = without(row["fields"], names)
    assert without(found, names) == expected
    assert things_of(found) == things_of(row["fields"])
