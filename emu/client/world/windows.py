"""The windows that a world opens at its client, as events: quests, rewards, loot, goods, lessons.

`READERS` has for each struct the function that makes an event of a message's fields. The structs
are in `data/structs`; what they mean is in docs/protocol/world/quests.md and
docs/protocol/world/shows.md#windows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from emu.dialects.dialect import read_name


@dataclass(frozen=True, slots=True)
class OfferShown:
    """The window that offers a quest has opened; `accept` and `decline` are commands."""

    title: str
    description: str
    accept: str
    decline: str


@dataclass(frozen=True, slots=True)
class QuestTask:
    """One task of a quest in the journal; `group` is the text above it."""

    text: str
    group: str
    is_done: bool
    count: int
    needed: int


@dataclass(frozen=True, slots=True)
class QuestShown:
    """A quest of the journal, with the tasks that are known so far."""

    quest: int
    title: str
    tasks: tuple[QuestTask, ...]
    is_complete: bool
    """Never true up to 561: there `JournalListed` alone shows that a quest is complete."""
    category: str = ""


@dataclass(frozen=True, slots=True)
class QuestRow:
    """A quest in the list of the journal."""

    quest: int
    title: str
    is_open: bool


@dataclass(frozen=True, slots=True)
class JournalListed:
    """Quests of the journal's list: all at the entry, those that have changed later.

    The list of a character without quests is no event.
    """

    rows: tuple[QuestRow, ...]


@dataclass(frozen=True, slots=True)
class RewardOffered:
    """The window of a reward has opened.

    `choices` are the numbers of the things of which the player takes one, `things` the names of
    what it gets besides, `coins` copper, `factions` the names of those that think of it otherwise.
    """

    title: str
    choices: tuple[int, ...]
    things: tuple[str, ...]
    coins: int
    factions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LootShown:
    """The window of a body or a chest; `things` are numbers of kinds and names."""

    index: int
    things: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class LessonShown:
    """A window with an instruction; the client answers its end with `signal`."""

    text: str
    signal: str
    goals: tuple[tuple[str, ...], ...] = field(default=())
    """For each goal the acts that the window waits for, for example ``open Inventory``."""


@dataclass(frozen=True, slots=True)
class ChoiceOffered:
    """A window with two buttons; the client answers with the command of one."""

    text: str
    accept_text: str
    accept: str
    cancel: str
    wants_text: bool


@dataclass(frozen=True, slots=True)
class Good:
    """One row of a merchant's list; `price` is copper."""

    item: int
    unique: int
    name: str
    price: int
    level: int


@dataclass(frozen=True, slots=True)
class GoodsShown:
    """The list of a merchant; `kind` says which one."""

    index: int
    kind: int
    goods: tuple[Good, ...]


@dataclass(frozen=True, slots=True)
class VerbsShown:
    """What can be done with a spawn: commands, and how they are shown."""

    index: int
    verbs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class HousePriced:
    """What a house costs; the client answers with its number. `price` is copper."""

    number: int
    name: str
    price: int
    may_buy: bool


@dataclass(frozen=True, slots=True)
class HouseShown:
    """The window of a house; the client enters it by its number."""

    number: int
    name: str
    is_inside: bool


@dataclass(frozen=True, slots=True)
class PlaceAsked:
    """The player is to choose where a thing stands, by the index of its ghost."""

    index: int


WindowEvent = (
    OfferShown | QuestShown | JournalListed | RewardOffered | LootShown | LessonShown
    | ChoiceOffered | GoodsShown | VerbsShown | HousePriced | HouseShown | PlaceAsked
)  # fmt: skip


def _offer(fields: Mapping[str, Any]) -> OfferShown:
    return OfferShown(
        *(
            read_name(fields[name])
            for name in ("title", "description", "accept_command", "decline_command")
        )
    )


def _quest(fields: Mapping[str, Any]) -> QuestShown:
    tasks: list[QuestTask] = []
    for group in fields.get("task_group_array") or ():
        counts = group.get("update_array") or []
        for at, task in enumerate(group.get("task_array") or ()):
            count = counts[at] if at < len(counts) else {}
            tasks.append(
                QuestTask(
                    read_name(task["task"]),
                    read_name(group["task_group"]),
                    bool(task["task_completed"]),
                    int(count.get("update_currentval", 0)),
                    int(count.get("update_maxval", 1)),
                )
            )
    return QuestShown(
        fields["quest_id"],
        read_name(fields["name"]),
        tuple(tasks),
        bool(fields["complete"]),
        read_name(fields["type"]),
    )


TURNED_IN: Final = 4
"""The bit of `display_status` of a completed quest, from 931 on."""


def _listed(fields: Mapping[str, Any]) -> JournalListed | None:
    rows = tuple(
        QuestRow(
            row["quest_id"], read_name(row["name"]),
            not (row.get("turned_in") or int(row.get("display_status", 0)) & TURNED_IN),
        )
        for row in fields["quests_array"]
    )  # fmt: skip
    return JournalListed(rows) if rows else None


def _reward(fields: Mapping[str, Any]) -> RewardOffered:
    inner = fields.get("reward_data", fields)
    return RewardOffered(
        read_name(fields.get("name", "")),
        tuple(row["select_reward_id"] for row in inner["select_rewards_array"]),
        tuple(_thing_name(row) for row in inner["rewards_array"]),
        int(inner.get("max_coin", 0)),
        tuple(read_name(row["faction_name"]) for row in inner.get("factions_array", ())),
    )


def _thing_name(row: Mapping[str, Any]) -> str:
    """Return the name of a thing inside of a message, or its number."""
    return _name_within(row.get("item")) or str(row["reward_id"])


def _name_within(value: Any) -> str:
    if not isinstance(value, Mapping):
        return ""
    name = value.get("name") or value.get("simplename")
    if isinstance(name, str):
        return read_name(name)
    return next((found for one in value.values() if (found := _name_within(one))), "")


def _loot(fields: Mapping[str, Any]) -> LootShown:
    return LootShown(
        fields["spawn_id"],
        tuple(
            (row["loot_id"], _name_within(row) or str(row["loot_id"]))
            for row in fields["loot_array"]
        ),
    )


def _lesson(fields: Mapping[str, Any]) -> LessonShown:
    return LessonShown(
        read_name(fields["text"]),
        read_name(fields["signal"]),
        tuple(tuple(read_name(task["task"]) for task in goal["tasks"]) for goal in fields["goals"]),
    )


def _choice(fields: Mapping[str, Any]) -> ChoiceOffered:
    text, accept_text, accept, cancel = (
        read_name(fields[name])
        for name in ("text", "accept_text", "accept_command", "cancel_command")
    )
    return ChoiceOffered(text, accept_text, accept, cancel, bool(fields["text_box"]))


def _goods(fields: Mapping[str, Any]) -> GoodsShown:
    goods = tuple(
        Good(
            row["item_id"], row["unique_item_id"], read_name(row["item_name"]), row["price"],
            row["level"],
        )
        for row in fields["item_array"]
    )  # fmt: skip
    return GoodsShown(fields["spawn_id"], int(fields["type"]), goods)


def _verbs(fields: Mapping[str, Any]) -> VerbsShown:
    return VerbsShown(
        fields["spawn_id"],
        tuple(
            (read_name(row["command"]), read_name(row["display_text"]))
            for row in fields["verbs_array"]
        ),
    )


def _priced(fields: Mapping[str, Any]) -> HousePriced:
    return HousePriced(
        fields["house_id"], read_name(fields["house_name"]), int(fields["purchase_coins"]),
        bool(fields["enable_buy"]),
    )  # fmt: skip


def _house(fields: Mapping[str, Any]) -> HouseShown:
    # Up to 561 the client sends back the number of the entrance in the place of the house's.
    number = fields.get("house_id", fields["spawn_id"])
    return HouseShown(number, read_name(fields["house_name"]), bool(fields["inside_house"]))


READERS: Final[dict[str, Callable[[Mapping[str, Any]], WindowEvent | None]]] = {
    "WS_OfferQuest": _offer,
    "WS_QuestJournalReply": _quest,
    "WS_QuestJournalUpdate": _listed,
    "WS_QuestRewardPackMsg": _reward,
    "WS_QuestComplete": _reward,
    "WS_UpdateLoot": _loot,
    "WS_InstructionWindow": _lesson,
    "WS_ChoiceWindow": _choice,
    "WS_UpdateMerchant": _goods,
    "WS_EntityVerbsResponse": _verbs,
    "WS_PlayerHousePurchase": _priced,
    "WS_PlayerHouseBaseScreen": _house,
    "WS_MoveObjectMode": lambda fields: PlaceAsked(fields["spawn_id"]),
}
"""For each struct of a window, what makes an event of its fields, or None without news."""
