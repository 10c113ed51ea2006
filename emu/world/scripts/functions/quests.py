"""Functions for quests of players: what they have, how far they are, and what happens to them.

Source: docs/guides/quests.md#steps.
"""

from __future__ import annotations

from typing import Any, Final

from emu.quests.journal import TakenQuest
from emu.scripts.signatures import FunctionTable, Handle, read_unsigned
from emu.world.actors.player import Player
from emu.world.scripts.bodies import Body, QuestRequirement, shown
from emu.world.scripts.host import Scripts
from emu.world.scripts.quest_events import ScriptQuest, quester

QUESTS: Final = FunctionTable()
MOST_GIFTS: Final = 20
"""Things of one window in the middle of a quest."""
LARGEST_NUMBER: Final = 0x7FFFFFFF


def _taken(scripts: Scripts, body: Body | None, quest: int) -> TakenQuest | None:
    player = quester(body)
    return scripts.quests.journal(player).open.get(quest) if player is not None else None


def _owner(quest: ScriptQuest | None, body: Body | None) -> Player | None:
    """Return the player of a call with both a quest and a player."""
    if quest is not None and quest.player is not None:
        return quest.player
    return quester(body)


# -- asking ---------------------------------------------------------------------------------------


@QUESTS("HasQuest", "P player, u quest")
def has_quest(scripts: Scripts, body: Body | None, quest: int) -> bool | None:
    """Return whether a player has a quest that is not turned in."""
    player = quester(body)
    return None if player is None else scripts.quests.journal(player).has(quest)


@QUESTS("GetQuestStep", "P player, u quest")
def get_step(scripts: Scripts, body: Body | None, quest: int) -> int:
    """Return the number of the first step that is not done; 0 without the quest, or at its end."""
    taken = _taken(scripts, body, quest)
    return taken.current_step if taken is not None else 0


@QUESTS("HasCompletedQuest", "P player, u quest")
def has_completed(scripts: Scripts, body: Body | None, quest: int) -> bool:
    """Return whether a player has ever completed a quest."""
    player = quester(body)
    return player is not None and quest in scripts.quests.journal(player).completed


@QUESTS("GetQuestCompleteCount", "P player, u quest")
def times_completed(scripts: Scripts, body: Body | None, quest: int) -> int:
    """Return how often a player has completed a quest."""
    player = quester(body)
    return scripts.quests.journal(player).times(quest) if player is not None else 0


@QUESTS("HasPendingQuest", "P player, u quest")
def has_offer(scripts: Scripts, body: Body | None, quest: int) -> bool:
    """Return whether a player was offered a quest and has not answered."""
    player = quester(body)
    return player is not None and quest in scripts.quests.journal(player).offered


@QUESTS("CanReceiveQuest", "P player, u quest")
def can_receive(scripts: Scripts, body: Body | None, quest: int) -> bool | None:
    """Return whether a player may take a quest: what the quest asks for, the player has."""
    player = quester(body)
    return None if player is None else scripts.quests.may_take(player, quest)


@QUESTS("QuestIsComplete", "P player, u quest")
def is_complete(scripts: Scripts, body: Body | None, quest: int) -> bool | None:
    """Return whether all steps of a quest are done that a player has; nothing without it."""
    taken = _taken(scripts, body, quest)
    return taken.has_all_done if taken is not None else None


@QUESTS("QuestStepIsComplete", "P player, u quest, u step?")
def is_step_done(scripts: Scripts, body: Body | None, quest: int, step: int) -> bool:
    """Return whether a step of a player's quest is done."""
    taken = _taken(scripts, body, quest)
    return taken is not None and taken.is_done(step)


@QUESTS("GetQuestStepProgress", "P player, u quest, u step")
def get_progress(scripts: Scripts, body: Body | None, quest: int, step: int) -> int:
    """Return how often a step of a player's quest was counted."""
    taken = _taken(scripts, body, quest)
    return taken.count(step) if taken is not None else 0


@QUESTS("GetTaskGroupStep", "P player, u quest")
def get_group(scripts: Scripts, body: Body | None, quest: int) -> int:
    """Return the place of the first group of steps that is not done, counted from 1."""
    taken = _taken(scripts, body, quest)
    return taken.current_group if taken is not None else 0


@QUESTS("GetQuest", "P player, u quest")
def get_quest(scripts: Scripts, body: Body | None, quest: int) -> Handle | None:
    """Return a quest that a player has."""
    player, taken = quester(body), _taken(scripts, body, quest)
    if player is None or taken is None or taken.plan is None:
        return None
    return scripts.quest_scripts.of(player, taken).handle


@QUESTS("GetQuestFlags", "Q quest")
def get_flags(_scripts: Scripts, quest: ScriptQuest | None) -> int:
    """Return the flags of a quest that scripts have set."""
    return quest.plan.flags if quest is not None else 0


@QUESTS("HasQuestRewardItem", "Q quest, u item")
def has_reward_item(_scripts: Scripts, quest: ScriptQuest | None, item: int) -> bool:
    """Return whether a quest gives a thing, surely or as a choice."""
    if quest is None:
        return False
    reward = quest.plan.reward
    return any(item == one for one, _ in (*reward.items, *reward.choices))


# -- offers -------------------------------------------------------------------------------------


@QUESTS("OfferQuest", "S spawn?, P player, u quest, b forced?")
def offer(
    scripts: Scripts, giver: Body | None, body: Body | None, quest: int, forced: bool
) -> None:
    """Offer a player a quest of a spawn by a window; with `forced` the player has it at once."""
    if body is None or body.player is None:
        return
    standing = giver.standing if giver is not None else None
    number = standing.template.id if standing is not None else 0
    scripts.quests.offer(body.player, quest, number, is_forced=forced)


@QUESTS("ProvidesQuest", "S spawn, u quest")
def provides(scripts: Scripts, body: Body | None, quest: int) -> None:
    """Let a spawn show a mark to all players who may take a quest."""
    if body is not None and body.player is None and quest:
        scripts.feathers.provide(body.home.zone, body.spawn, quest)


@QUESTS("SetRequiredQuest", "S spawn, u quest, n step, 1 private?, 1 keep?, n flag?")
def require_quest(
    scripts: Scripts, body: Body | None, quest: int, step: int, is_private: bool, is_kept: bool,
    _flag: int,
) -> None:  # fmt: skip
    """Let only players use a spawn who have a quest at a step; at any step with 0.

    With `private` the others do not see it either. With `keep` it stays for those who are further.
    """
    if body is None or body.player is not None or not quest:
        return
    players = [scripts.player_body(one) for one in scripts.players_in(body.home)]
    journal = scripts.quests.journal
    requirement = QuestRequirement(journal, quest, step, is_kept, is_private)
    body.home.requirements.require(body, requirement, players)


# -- what happens -------------------------------------------------------------------------------


@QUESTS("SetStepComplete", "P player, u quest, u step")
def complete_step(scripts: Scripts, body: Body | None, quest: int, step: int) -> None:
    """End a step of a player's quest as done, in the player's next turn."""
    if body is not None and body.player is not None:
        scripts.quests.complete_later(body.player, quest, step)


@QUESTS("AddStepProgress", "P player, u quest, u step, u amount")
def add_progress(scripts: Scripts, body: Body | None, quest: int, step: int, amount: int) -> None:
    """Count a step of a player's quest, in the player's next turn."""
    if body is not None and body.player is not None and amount:
        scripts.quests.progress_later(body.player, quest, step, min(amount, LARGEST_NUMBER))


@QUESTS("SetStepFailed", "P player, u quest, u step")
def fail_step(scripts: Scripts, body: Body | None, quest: int, step: int) -> None:
    """End a step of a player's quest as failed, in the player's next turn."""
    if body is not None and body.player is not None:
        scripts.quests.fail_later(body.player, quest, step)


@QUESTS("GiveQuestReward", "Q quest, P player")
def give_reward(scripts: Scripts, quest: ScriptQuest | None, body: Body | None) -> None:
    """Complete a player's quest in its next turn, and give what it gives."""
    player = _owner(quest, body)
    if quest is None or player is None:
        return
    if quest.is_restoring:
        quest.is_due = True
    else:
        scripts.quests.finish_later(player, quest.plan.number)


@QUESTS("GiveQuestItem", "Q quest, P player, t text, u item, ...")
def give_item(
    scripts: Scripts, quest: ScriptQuest | None, body: Body | None, text: str, item: int,
    *more: Any,
) -> bool:  # fmt: skip
    """Give a player things in the middle of a quest by a window; false while one is open."""
    player = _owner(quest, body)
    if quest is None or player is None:
        return False
    if quest.is_restoring:
        # It gave them before; those of the next window follow.
        quest.plan.gift_coins = quest.plan.gift_status = 0
        return False
    taken = scripts.quests.journal(player).open.get(quest.plan.number)
    if taken is None:
        return False
    numbers = [item, *map(read_unsigned, more[: MOST_GIFTS - 1])]
    things = tuple((one, 1) for one in numbers if 0 < one <= LARGEST_NUMBER)
    return scripts.quests.rewards.gift(player, taken, shown(text), things)


@QUESTS("DeleteQuest", "P player, u quest, b even_if_forbidden?")
def delete_quest(scripts: Scripts, body: Body | None, quest: int, forced: bool) -> None:
    """Take a quest from a player."""
    if body is not None and body.player is not None:
        scripts.quests.drop(body.player, quest, is_forced=forced)


@QUESTS("DeleteAllQuests", "P player, b even?")
def delete_all(scripts: Scripts, body: Body | None, forced: bool) -> None:
    """Take all quests from a player."""
    if body is not None and body.player is not None:
        for number in list(scripts.quests.journal(body.player).open):
            scripts.quests.drop(body.player, number, is_forced=forced)


@QUESTS("SetQuestTimer", "Q quest, P player, u step, u seconds, t function")
def set_timer(
    scripts: Scripts, quest: ScriptQuest | None, body: Body | None, step: int, seconds: int,
    function: str,
) -> None:  # fmt: skip
    """Give a step so many seconds from now on; it fails when they are over, and the call comes."""
    player = _owner(quest, body)
    if quest is None or player is None or quest.taken is None:
        return
    quest.plan.set_action(step, failed=function)
    if not quest.is_restoring:  # a time that is running was stored with the journal
        scripts.quests.set_time(player, quest.taken, step, min(seconds, LARGEST_NUMBER))


@QUESTS("SetQuestTimerComplete", "Q quest, P player")
def end_timer(scripts: Scripts, quest: ScriptQuest | None, body: Body | None) -> None:
    """Let no step of a quest fail by its time any more."""
    player = _owner(quest, body)
    if quest is not None and player is not None and quest.taken is not None:
        scripts.quests.end_times(player, quest.taken)
