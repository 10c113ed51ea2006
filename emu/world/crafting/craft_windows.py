"""Things inside of other messages, and the window of what a collection gives.

Source: docs/protocol/world/crafting.md, recorded in ../shared/data/recordings/items-*-deal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from emu.content.crafts import Collection, CollectionReward
from emu.dialects import world_rules
from emu.items.held import FULL, Place, Thing, Where
from emu.items.inventory import Inventory
from emu.items.kinds import ItemKind
from emu.world.actors.player import Player
from emu.world.items.windows import ItemWindow, fitted

PACK, REWARD = "WS_QuestRewardPackMsg", "WS_QuestComplete"
PACK_LEAD: Final = 255
PACK_TITLE, TITLE = "Quest Complete!", "Quest Reward!"
"""The clients' own windows of quests; what EQ2Emulator sends for collections is not recorded."""
DONE: Final = "You have found all pieces of {collection}."
KindOf = Callable[[int], ItemKind | None]


def enclosed(version: int, kind: ItemKind, count: int) -> dict[str, Any]:
    """Return a kind of things inside of another message: its window behind a count."""
    thing = Thing(kind.id, kind.id, Place(Where.HELD, 0, 0), kind.beginning_count(), FULL)
    window = ItemWindow(version, kind, thing, Inventory((), {kind.id: kind})).fields()
    return {
        "count": min(count, 0xFF), "packettype": window["packettype"], "item": window["item"],
        **{key: window[key] for key in ("packetsubtype",) if key in window},
    }  # fmt: skip


def _things(
    version: int, rewards: list[CollectionReward], kind_of: KindOf, number: str, item: str
) -> list[dict[str, Any]]:
    found = [(kind_of(one.value), one.quantity) for one in rewards]
    return [
        {number: kind.id, item: enclosed(version, kind, count)}
        for kind, count in found
        if kind is not None
    ]


def show_reward(player: Player, collection: Collection, kind_of: KindOf) -> None:
    """Open the window of what a collection gives."""
    version, rewards = player.client.version, collection.rewards
    chosen = [one for one in rewards if one.kind == "selectable"]
    sure = [one for one in rewards if one.kind == "item"]
    choices = _things(version, chosen, kind_of, "select_reward_id", "select_item")
    items = _things(version, sure, kind_of, "reward_id", "item")
    copper = sum(one.value * one.quantity for one in rewards if one.kind == "coin")
    gifts = {
        "num_select_rewards": len(choices), "select_rewards_array": choices,
        "num_rewards": len(items), "rewards_array": items,
    }  # fmt: skip
    text = DONE.format(collection=collection.name)
    if world_rules(version).older_windows:
        struct = PACK
        fields: dict[str, Any] = {
            "reward_data": {
                "unknown1": PACK_LEAD, "reward": PACK_TITLE, "max_coin": copper, "text": text,
                **gifts,
            }
        }  # fmt: skip
    else:
        struct = REWARD
        fields = {
            "title": TITLE, "name": collection.name, "description": text,
            "level": collection.level & 0xFF, "max_coin": copper, "min_coin": copper, **gifts,
        }  # fmt: skip
    player.client.send(struct, fitted(player.client.dialect, struct, fields))
