"""The window of what a collection gives.

It is the clients' own window of quests; what EQ2Emulator sends for collections is not recorded.
Source: docs/protocol/world/crafting.md.
"""

from __future__ import annotations

from typing import Final

from emu.content.crafts import Collection
from emu.quests.plans import QuestReward
from emu.world.actors.player import Player
from emu.world.items.reward_windows import KindOf, reward_fields

DONE: Final = "You have found all pieces of {collection}."


def show_reward(player: Player, collection: Collection, kind_of: KindOf) -> None:
    """Open the window of what a collection gives."""
    rewards = collection.rewards
    given = QuestReward(
        coins=sum(one.value * one.quantity for one in rewards if one.kind == "coin"),
        items=tuple((one.value, one.quantity) for one in rewards if one.kind == "item"),
        choices=tuple((one.value, one.quantity) for one in rewards if one.kind == "selectable"),
    )
    struct, fields = reward_fields(
        player.client.version, given, kind_of, lambda _faction: "", title=collection.name,
        text=DONE.format(collection=collection.name), level=collection.level,
    )  # fmt: skip
    player.client.send(struct, fields)
