"""Windows from recorded messages: what a client reads of what the C++ server sent.

Source: tests/vectors/recorded-structs.jsonl.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from emu.client.world.windows import (
    ChoiceOffered,
    Good,
    GoodsShown,
    LootShown,
    OfferShown,
    QuestShown,
    QuestTask,
    RewardOffered,
)
from emu.net.client.world_connection import world_messages

VECTORS = Path(__file__).parents[2] / "vectors" / "recorded-structs.jsonl"
OFFER = OfferShown(
    "Crabs on the Beach", "Anikra wants the beach to be safe.", "q_accept_pending_quest 900001",
    "q_deny_pending_quest 900001",
)  # fmt: skip
QUEST = QuestShown(
    900001, "Crabs on the Beach",
    (QuestTask("Drive two shore crabs from the beach.", "The beach must be safe.", False, 0, 2),),
    False, "Isle of Refuge",
)  # fmt: skip
SWORD = "Notched Training Sword"
EXPECTED: dict[tuple[str, str], Any] = {
    **{(f"fight-{one}-quest-a", "WS_OfferQuest"): OFFER for one in (546, 1096, 1208, 60114)},
    **{(f"fight-{one}-quest-a", "WS_QuestJournalReply"): QUEST for one in (546, 1096, 60114)},
    ("fight-60114-quest-a", "WS_QuestComplete"): RewardOffered(
        "Crabs on the Beach", (20903, 36211), ("Bag 20902",), 1234, ("The City of Qeynos",)
    ),
    ("fight-546-quest-a", "WS_QuestRewardPackMsg"): RewardOffered(
        "", (20903, 36211), ("Bag 20902",), 1234, ("The City of Qeynos",)
    ),
    ("items-546-561-two", "WS_UpdateLoot"): LootShown(72, ((910001, "Chipped Marble"),)),
    ("items-60114-deal", "WS_UpdateLoot"): LootShown(110, ((910001, "Chipped Marble"),)),
    ("items-1208-deal", "WS_UpdateMerchant"): GoodsShown(
        14, 1, (Good(910005, 23690353, SWORD, 110, 3),)
    ),
    ("items-60114-deal", "WS_UpdateMerchant"): GoodsShown(
        14, 1, (Good(910005, 23690586, SWORD, 110, 3),)
    ),
    ("items-1208-carry", "WS_ChoiceWindow"): ChoiceOffered(
        "Quilted Recruit Tunic must be attuned before it can be equipped. Would you like to attune"
        " it now?",
        "Attune", "attune_inv 0 1 0 -1", "", False,
    ),
}  # fmt: skip


def recorded(source: str, struct: str) -> dict[str, Any]:
    rows = map(json.loads, VECTORS.read_text().splitlines())
    return next(
        one for one in rows if one["struct"] == struct and f"{source}," in f"{one['source']},"
    )


@pytest.mark.parametrize(("source", "struct"), EXPECTED)
def test_a_window_as_recorded(source: str, struct: str) -> None:
    row = recorded(source, struct)
    messages = world_messages(row["version"])
    definition = messages.dialect.layout(struct).definition
    name = definition.opcode_type or definition.opcode_name
    assert messages.read_message(name, bytes.fromhex(row["hex"])) == EXPECTED[source, struct]
