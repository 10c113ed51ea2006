"""Things inside of other messages, as the recorded windows of creations have them."""

from __future__ import annotations

import pytest

from emu.items.kinds import ItemKind, Scroll, Sort
from emu.quests.plans import QuestReward
from emu.world.items.reward_windows import enclosed, gift_fields
from tests.support.world import item_kinds as kinds
from tests.support.world.ghost_views import DIALECTS


@pytest.mark.parametrize(("version", "packet_type"), [(546, 0), (1208, 0x44FE), (60114, 0x51FE)])
def test_a_thing_behind_its_count(version: int, packet_type: int) -> None:
    """Source: the window at 188.3 s of items-546-deal, and those of 1208 and 60114."""
    kind = kinds.item_kinds().get(kinds.PEBBLE)
    assert kind is not None
    dialect, struct = DIALECTS.for_version(version), "WS_ShowItemCreation"
    fields = {"num_process": 1, "process_array": [{"item": enclosed(version, kind, 3)}]}
    payload = dialect.encode_known(struct, fields)
    found = dialect.layout(struct).decode(payload)["process_array"][0]["item"]
    assert (found["count"], found["packettype"]) == (3, packet_type)
    info = found["item"]["info"]
    assert info["unique_id"] == info["broker_item_id"] == kinds.PEBBLE
    assert found["item"]["footer"]["name"] == "Grey River Pebble"
    assert found.get("packetsubtype", 0x80) == 0x80


def test_a_scroll_among_rewards_names_its_spell() -> None:
    kind = ItemKind(7, "Smite (Adept I)", Sort.SCROLL, Scroll(110014, 5))
    spell = enclosed(546, kind, 1)["item"]["spell"]
    assert (spell["id"], spell["tier"], spell["name"]) == (110014, 5, "Smite (Adept I)")


def test_a_window_of_rewards_has_all_that_is_given() -> None:
    """Source: eq2-quests.md (the windows of rewards): status is u32, factions are i32."""
    reward = QuestReward(
        status=2**32 + 7, items=((kinds.PEBBLE, 3), (4711, 1)), choices=((kinds.CAP, 1),),
        factions=((11, 250), (12, -(2**40)), (13, 5)),
    )  # fmt: skip
    names = {11: "The City of Qeynos", 12: "Gnolls"}
    found = gift_fields(1208, reward, kinds.item_kinds().get, lambda one: names.get(one, ""))
    assert found["status_points"] == 7
    assert [one["reward_id"] for one in found["rewards_array"]] == [kinds.PEBBLE]
    assert [one["select_reward_id"] for one in found["select_rewards_array"]] == [kinds.CAP]
    assert (found["num_rewards"], found["num_select_rewards"], found["num_factions"]) == (1, 1, 2)
    assert found["factions_array"] == [
        {"faction_name": "The City of Qeynos", "amount": 250},
        {"faction_name": "Gnolls", "amount": -(2**31 - 1)},
    ]
