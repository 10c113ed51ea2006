"""Things inside of other messages, and the window of a reward: of a quest, or of a collection.

Source: docs/protocol/world/quests.md#reward, recorded in
../shared/data/recordings/fight-*-quest-a and items-*-deal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from emu.dialects import world_rules
from emu.items.held import FULL, Place, Thing, Where
from emu.items.inventory import Inventory
from emu.items.kinds import ItemKind, Scroll
from emu.quests.plans import QuestReward
from emu.world.items.windows import NO_SKILL, ItemWindow

PACK: Final = "WS_QuestRewardPackMsg"
REWARD: Final = "WS_QuestComplete"
REWARD_TITLE: Final = "Quest Reward!"
COMPLETE_TITLE: Final = "Quest Complete!"
PACK_LEAD: Final = 255
_U8, _U32, _I32 = 0xFF, 0xFFFFFFFF, 0x7FFFFFFF

KindOf = Callable[[int], ItemKind | None]
NameOf = Callable[[int], str]


def enclosed(version: int, kind: ItemKind, count: int, *, number: int = 0) -> dict[str, Any]:
    """Return a kind of things inside of another message: its window behind a count.

    `number` is that of a thing which the player has.
    """
    thing = Thing(number or kind.id, kind.id, Place(Where.HELD, 0, 0), kind.beginning_count(), FULL)
    window = ItemWindow(version, kind, thing, Inventory((), {kind.id: kind}))
    if isinstance(kind.part, Scroll):
        # Who reads it is not known here, so the spell has no levels and texts.
        spell = {
            "id": kind.part.spell_id, "icon": kind.icon, "tier": kind.part.tier,
            "class_skill": NO_SKILL, "mastery_skill": NO_SKILL, "name": kind.name,
            "description": kind.description,
        }  # fmt: skip
        window.lesson = {"spell": spell}
    fields = window.fields()
    return {
        "count": min(max(1, count), _U8), "unknown": 0, "packettype": fields["packettype"],
        "packetsubtype": fields.get("packetsubtype", 0), "item": fields["item"],
    }  # fmt: skip


def _things(
    version: int, things: Sequence[tuple[int, int]], kind_of: KindOf, *, names: tuple[str, str]
) -> list[dict[str, Any]]:
    """Return the rows of things; those that nothing describes are left out."""
    number, inner = names
    return [
        {number: kind.id, inner: enclosed(version, kind, count)}
        for item, count in things
        if (kind := kind_of(item)) is not None
    ]


def gift_fields(
    version: int, reward: QuestReward, kind_of: KindOf, name_of: NameOf
) -> dict[str, Any]:
    """Return the fields about things and factions that all windows of rewards have."""
    choices = _things(
        version, reward.choices, kind_of, names=("select_reward_id", "select_item")
    )  # fmt: skip
    items = _things(version, reward.items, kind_of, names=("reward_id", "item"))
    factions = [
        {"faction_name": name, "amount": max(-_I32, min(_I32, amount))}
        for faction, amount in reward.factions
        if (name := name_of(faction))
    ]
    return {
        "status_points": reward.status & _U32, "num_select_rewards": len(choices),
        "select_rewards_array": choices, "num_rewards": len(items), "rewards_array": items,
        "num_factions": len(factions), "factions_array": factions,
    }  # fmt: skip


def reward_fields(
    version: int, reward: QuestReward, kind_of: KindOf, name_of: NameOf, *, title: str, text: str,
    level: int = 0, difficulty: int = 0,
) -> tuple[str, dict[str, Any]]:  # fmt: skip
    """Return the struct of the window of a reward, and its fields.

    `title` is the name of what is complete, `text` the closing words.
    """
    gifts = gift_fields(version, reward, kind_of, name_of)
    if world_rules(version).older_windows:
        inner = {
            "unknown1": PACK_LEAD, "reward": COMPLETE_TITLE, "max_coin": reward.coins,
            "min_coin": 0, "text": text, **gifts,
        }  # fmt: skip
        return PACK, {"reward_data": inner}
    return REWARD, {
        "title": REWARD_TITLE, "name": title, "description": text,
        "difficulty": difficulty & _U8, "level": level & _U8, "max_coin": reward.coins,
        "min_coin": reward.coins, **gifts,
    }  # fmt: skip
