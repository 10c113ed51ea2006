"""The window of what a collection gives: the clients' window of a quest's reward.

Source: docs/protocol/world/quests.md#reward.
"""

from __future__ import annotations

import pytest

from emu.content.crafts import Collection, CollectionReward
from emu.world.crafting.craft_windows import show_reward
from tests.support.world import item_kinds as kinds
from tests.support.world.worlds import WorldHarness

REWARDS = (
    CollectionReward("coin", 120, 2), CollectionReward("item", kinds.PEBBLE, 3),
    CollectionReward("selectable", kinds.MARBLE, 1), CollectionReward("item", 4711, 1),
)  # fmt: skip


@pytest.mark.parametrize("version", [546, 60114])
def test_coins_things_and_choices(harness: WorldHarness, version: int) -> None:
    client = harness.stand(5, version)
    assert client.player is not None
    collection = Collection(9, "Shells", "Shore", 7, (kinds.PEBBLE,), REWARDS)
    show_reward(client.player, collection, kinds.item_kinds().get)
    if version == 546:
        (found,) = [one["reward_data"] for one in client.decoded("WS_QuestRewardPackMsg")]
        assert (found["reward"], found["unknown1"]) == ("Quest Complete!", 255)
        text = found["text"]
    else:
        (found,) = client.decoded("WS_QuestComplete")
        assert (found["name"], found["level"]) == ("Shells", 7)
        text = found["description"]
    assert (text, found["max_coin"]) == ("You have found all pieces of Shells.", 240)
    # What nothing describes is left out.
    assert [one["reward_id"] for one in found["rewards_array"]] == [kinds.PEBBLE]
    assert found["rewards_array"][0]["item"]["count"] == 3
    assert [one["select_reward_id"] for one in found["select_rewards_array"]] == [kinds.MARBLE]
