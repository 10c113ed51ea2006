"""Windows of quests at clients: the journal, offers and rewards, as fields of messages.

Each function returns the fields of one struct (`data/structs/QuestStructs.xml`) for a version.
Source: docs/protocol/world/quests.md, recorded in ../shared/data/recordings/fight-*-quest-a and
real-quests-*.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from emu.dialects import world_rules
from emu.quests.journal import MOST_QUESTS, PendingReward, TakenQuest
from emu.quests.plans import QuestPlan, QuestReward, Step
from emu.rules.stance import arrow_color
from emu.times import Moment
from emu.world.actors.player import Player
from emu.world.items.reward_windows import (
    REWARD_TITLE,
    KindOf,
    NameOf,
    gift_fields,
    reward_fields,
)

LIST: Final = "WS_QuestJournalUpdate"
REPLY: Final = "WS_QuestJournalReply"
OFFER: Final = "WS_OfferQuest"
HEADER: Final = "To complete this quest, I must do the following tasks:"
ENCOUNTER: Final = 4
OFFER_LEAD: Final = [5, *[0] * 10]
LEAD: Final = [0, 1, 0, 0]
"""Bytes behind what has changed and in front of a reward (recorded); versions have up to 4."""
PLAIN_ICON: Final = 11
"""The icon of a step without one (recorded)."""
FIRST_YEAR: Final = 2000
NO_WAYPOINT: Final = 0xFFFFFFFF
NO_BOX, YELLOW, COMPLETED, REPEATABLE = 1, 2, 4, 8
SHAREABLE, READY, SHOWN, CHECK_BOX = 16, 32, 64, 128
"""Bits of a quest's display status, from 562 on."""
YELLOW_CATEGORY: Final = "Hallmark"
"""The category that clients show in yellow (recorded)."""
ACCEPT, DECLINE = "q_accept_pending_quest", "q_deny_pending_quest"
_U8, _U16, _U32 = 0xFF, 0xFFFF, 0xFFFFFFFF


class PopUp(NamedTuple):
    """What has changed in a quest, as the screen shows it."""

    step: int
    name: str = ""
    """The name of what was killed; without one the text of the task or group is shown."""
    has_failed: bool = False


class JournalRow(NamedTuple):
    """One quest in the journal's list."""

    taken: TakenQuest
    plan: QuestPlan
    is_active: bool = True
    is_turned_in: bool = False
    is_new: bool = False
    """Whether its player has taken it just now."""
    is_new_state: bool = True
    """Whether it has changed; False in the list that a client gets as it enters."""


def checksum(player: Player) -> int:
    """Return the inverted CRC of a player's name, as EQ2Emulator computes it."""
    return zlib.crc32(player.name.encode()) ^ _U32


# -- the list ---------------------------------------------------------------------------------


def list_fields(
    player: Player, entries: Sequence[JournalRow], *, shown: int = 0, used: int
) -> dict[str, Any]:
    """Return the fields of the list with some quests; `shown` is the one that it points at.

    `used` is how many quests are in the whole journal.
    """
    is_old = player.client.dialect.world_rules.older_windows
    is_new = any(one.is_new for one in entries)
    zones = _zones(entries)
    return {
        "num_quest_zones": len(zones),
        "quest_zones_array": [
            {"quest_zones_zone": name, "quest_zones_zone_id": number}
            for name, number in zones.items()
        ],
        "num_quests": len(entries),
        "quests_array": [_row(player, one, zones, is_old=is_old) for one in entries],
        "unknown3": [int(is_new), 0],
        "unknown4": int(is_new),
        "unknown4a": int(is_new),
        "visible_quest_id": shown,
        "player_crc": checksum(player),
        "player_name": player.name,
        "used_quests": used,
        "max_quests": MOST_QUESTS,
    }


def _zones(entries: Iterable[JournalRow]) -> dict[str, int]:
    """Return the headings of some quests with their numbers: category, then zone."""
    found: dict[str, int] = {}
    for one in entries:
        for name in (one.plan.category, one.plan.zone):
            found.setdefault(name, len(found))
    return found


def color(player: Player, level: int) -> int:
    """Return what windows call the difficulty of a quest: the color of its level for a player.

    Recorded at 546, 1208 and 60114: level 3 is green (1) at 6 and grey (0) at 7, level 2 blue (2)
    at 3. The column of the quest's row plays no part.
    """
    return arrow_color(level, player.spawn.level)


def _row(player: Player, one: JournalRow, zones: dict[str, int], *, is_old: bool) -> dict[str, Any]:
    plan = one.plan
    is_complete = one.is_turned_in or one.taken.has_all_done
    is_visible = not one.is_turned_in and not one.taken.is_hidden
    row = {
        "active": int(one.is_active), "name": plan.title, "quest_id": one.taken.number,
        **_date(one.taken.accepted), "level": plan.level & _U8, "encounter_level": ENCOUNTER,
        "difficulty": color(player, plan.level), "completed": int(is_complete),
        "repeatable": int(plan.is_repeatable),
    }  # fmt: skip
    if is_old:
        return row | {
            "quest_type": plan.category, "quest_zone": plan.zone,
            "journal_updated": int(one.is_new_state),
            "turned_in": int(one.is_turned_in), "visible": int(is_visible),
        }  # fmt: skip
    return row | {
        "zonetype_id": zones[plan.category], "zone_id": zones[plan.zone],
        "display_status": _display(one),
        # From 562 to 930 the rows are those of older clients.
        "quest_type": plan.category, "quest_zone": plan.zone,
        "journal_updated": int(one.is_new_state),
        "turned_in": int(one.is_turned_in), "visible": int(is_visible),
    }  # fmt: skip


def _display(one: JournalRow) -> int:
    if one.is_turned_in:
        return SHOWN | COMPLETED | (REPEATABLE if one.plan.is_repeatable else 0)
    plan = one.plan
    bits = NO_BOX if one.is_new else CHECK_BOX
    if not one.taken.is_hidden:
        bits |= SHOWN
    if plan.is_yellow or plan.category == YELLOW_CATEGORY:
        bits |= YELLOW
    if plan.is_shareable:
        bits |= SHAREABLE
    if plan.is_repeatable:
        bits |= REPEATABLE
    if plan.has_complete_flag:
        bits |= READY
    return bits


def _date(moment: Moment) -> dict[str, int]:
    try:
        at = datetime.fromtimestamp(moment, UTC)
    except (OverflowError, ValueError, OSError):
        return {"day": 1, "month": 1, "year": 0}
    return {"day": at.day, "month": at.month, "year": max(0, at.year - FIRST_YEAR) & _U8}


# -- one quest --------------------------------------------------------------------------------


def reply_fields(
    player: Player, one: JournalRow, kind_of: KindOf, name_of: NameOf, *,
    pop_up: PopUp | None = None, seconds: int = 0,
) -> dict[str, Any]:  # fmt: skip
    """Return the fields of one quest in the journal.

    `seconds` are left until a step's time is over; 0 without one.
    """
    taken, plan, version = one.taken, one.plan, player.client.version
    rules = world_rules(version)
    is_old = rules.older_windows
    # A newer client is shown a completed quest without its tasks (recorded).
    is_closed = one.is_turned_in and taken.has_all_done and not is_old
    order = _group_order(taken, plan)
    groups = [_group(taken, plan, at) for at in order]
    done = sum(_is_group_done(taken, plan, at) for at in order)
    fields = {
        "quest_id": taken.number, "player_crc": checksum(player), "name": plan.title,
        "description": plan.description, "zone": plan.zone, "type": plan.category,
        "complete_header": HEADER, **_date(taken.accepted),
        "timer_duration": min(seconds, _U16), "timer_running": int(bool(seconds)),
        "timer_countdown": int(bool(seconds)), "level": plan.level & _U8,
        "encounter_level": ENCOUNTER, "difficulty": color(player, plan.level),
        "deletable": int(plan.is_deletable), "shareable": int(bool(plan.is_shareable)),
        "bullets": 1,
    }  # fmt: skip
    if not is_old:
        # The second byte behind what has changed was always 1 (recorded).
        fields |= {"unknown2b": ENCOUNTER, "unknown8": LEAD}
    if is_closed:
        closed = dict.fromkeys(("complete", "complete2", "complete3"), 1)
        nothing = {"task_group": "", "num_tasks": 0, "num_updates": 0}
        fields |= closed | {"num_task_groups": 1, "task_group_array": [nothing]}
        fields |= {"unknown12b": [1, *[0] * 7]}
    else:
        reward = _journal_reward(plan, version, kind_of, name_of)
        # Versions from 562 to 1095 have the reward in the message itself.
        fields |= {
            "task_groups_completed": done, "num_task_groups": len(groups),
            "task_group_array": groups, "display_quest_helper": int(taken.is_tracked),
            "reward_data": reward, **reward,
        }  # fmt: skip
    has_progress = not is_closed and any(
        row["update_currentval"] for group in groups for row in group["update_array"]
    )
    is_updated = has_progress if is_old else pop_up is not None and not is_closed
    fields |= {"journal_updated": int(is_updated), "update": int(is_updated)}
    if pop_up is not None:
        fields |= _pop_up(taken, plan, order, pop_up, is_closed=is_closed)
    return fields


def _is_group_done(taken: TakenQuest, plan: QuestPlan, at: int) -> bool:
    return all(number in taken.done for number in plan.groups[at].steps)


def _group_order(taken: TakenQuest, plan: QuestPlan) -> list[int]:
    """Return the places of the groups as clients have them: those that are done come first."""
    return sorted(range(len(plan.groups)), key=lambda at: (not _is_group_done(taken, plan, at), at))


def _group(taken: TakenQuest, plan: QuestPlan, at: int) -> dict[str, Any]:
    group = plan.groups[at]
    has_last_text = group.has_last_text and _is_group_done(taken, plan, at)
    # A group that is done and has its last text is shown without tasks (recorded).
    steps = [] if has_last_text else [plan.steps[number] for number in group.steps]
    return {
        "task_group": group.text,
        "num_tasks": len(steps),
        "task_array": [
            {"task": one.text, "task_completed": int(taken.is_done(one.number))} for one in steps
        ],
        "num_updates": len(steps),
        "update_array": [
            {
                "index": at & _U8, "update_currentval": min(taken.count(one.number), _U16),
                "update_maxval": min(one.quantity, _U16), "icon": icon_of(one),
            }
            for at, one in enumerate(steps)
        ],
        "waypoint": 0,
        "unknown4": NO_WAYPOINT,
        "map_array": [{"map_name": "", "map_unknown": 0, "num_locations": 0}] * len(steps),
    }  # fmt: skip


def icon_of(step: Step) -> int:
    """Return the icon of a step as clients are shown it."""
    return (step.icon or PLAIN_ICON) & _U16


def _pop_up(
    taken: TakenQuest, plan: QuestPlan, order: Sequence[int], pop_up: PopUp, *, is_closed: bool
) -> dict[str, Any]:
    step = plan.steps.get(pop_up.step)
    if step is None:
        return {}
    shown = {"onscreen_update_icon": icon_of(step), "onscreen_update_text": step.text}
    if pop_up.has_failed:
        return shown | {"onscreen_update_count": 1, "onscreen_update_text2": "failed"}
    at = plan.group_of(step.number)
    group, place = plan.groups[at], order.index(at)
    has_last_text = group.has_last_text and _is_group_done(taken, plan, at)
    if is_closed:
        text = plan.completed_text or group.text
        return shown | {
            "update_task_number": 1, "onscreen_update": 1, "onscreen_update_text": text,
        }  # fmt: skip
    text = pop_up.name or (group.text if has_last_text else step.text)
    return shown | {
        "update_taskgroup_number": place,
        "update_task_number": place if has_last_text else group.steps.index(step.number),
        "onscreen_update": 1, "onscreen_update_count": 1, "onscreen_update_text": text,
    }  # fmt: skip


# -- rewards ----------------------------------------------------------------------------------


def _promised(plan: QuestPlan) -> QuestReward:
    """Return what windows say before the quest is completed."""
    return QuestReward() if plan.hides_reward else plan.reward


def _journal_reward(
    plan: QuestPlan, version: int, kind_of: KindOf, name_of: NameOf
) -> dict[str, Any]:  # fmt: skip
    reward = _promised(plan)
    return {
        "unknown8": LEAD, "reward": REWARD_TITLE, "min_coin": reward.coins,
        "max_coin": reward.most_coins, "text": reward.comment,
        **gift_fields(version, reward, kind_of, name_of),
    }  # fmt: skip


def offer_fields(
    player: Player, plan: QuestPlan, kind_of: KindOf, name_of: NameOf
) -> dict[str, Any]:  # fmt: skip
    """Return the fields of the window that offers a quest."""
    reward, version = _promised(plan), player.client.version
    fields = {
        "title": plan.title, "description": plan.description, "level": plan.level & _U8,
        "quest_difficulty": color(player, plan.level), "min_coin": reward.coins,
        "max_coin": reward.most_coins, "text": reward.comment, "reward": REWARD_TITLE,
        "accept_command": f"{ACCEPT} {plan.number}", "decline_command": f"{DECLINE} {plan.number}",
        "unknown4b": world_rules(version).offer_flag,
        **gift_fields(version, reward, kind_of, name_of),
    }  # fmt: skip
    if world_rules(version).older_windows:
        # Older clients show the least coins alone (recorded).
        fields |= {"unknown": OFFER_LEAD}
    return fields


def pending_fields(
    player: Player, one: PendingReward, kind_of: KindOf, name_of: NameOf
) -> tuple[str, dict[str, Any]]:  # fmt: skip
    """Return the struct of the window of a reward that waits, and its fields."""
    return reward_fields(
        player.client.version, one.reward, kind_of, name_of, title=one.title, text=one.text,
        level=one.level, difficulty=one.difficulty,
    )  # fmt: skip
