"""Functions that build and change quests: steps, texts, needs and rewards.

In `Init` they change the master. With the quest of a player they change the player's copy, and its
journal is sent again. Source: docs/guides/quests.md#plans.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from emu.quests.plans import QuestPlan, QuestSpot, Step, StepKind, limited
from emu.scripts.signatures import FunctionTable, read_fraction, read_unsigned
from emu.world.scripts.bodies import Body, shown
from emu.world.scripts.host import Scripts
from emu.world.scripts.quest_events import ScriptQuest

PLANS: Final = FunctionTable()
MOST_IDS: Final = 100
MOST_SPOTS: Final = 50
LARGEST: Final = 0x7FFFFFFF
LARGEST_SIGNED: Final = 0xFFFF


def _changed(scripts: Scripts, quest: ScriptQuest) -> None:
    """Show a player that a script has changed its quest."""
    if quest.player is not None and not quest.is_restoring:
        scripts.quests.touched(quest.player, quest.plan.number)


def _ids(values: Sequence[Any]) -> frozenset[int]:
    """Return the numbers of a list up to the first that is none."""
    found = []
    for value in values[:MOST_IDS]:
        number = read_unsigned(value) if value is not None else 0
        if not number:
            break
        found.append(number)
    return frozenset(found)


def _add(
    scripts: Scripts, quest: ScriptQuest | None, kind: StepKind, step: int, text: str,
    quantity: int, percent: float, group: str, icon: int, ids: Sequence[Any], item: int = 0,
) -> None:  # fmt: skip
    if quest is None:
        return
    made = Step(
        step, kind, shown(text), min(quantity, LARGEST), percent, icon=max(0, icon),
        ids=_ids(ids), usable_item=item,
    )  # fmt: skip
    if quest.plan.add_step(made, shown(group)):
        _changed(scripts, quest)


# -- steps ----------------------------------------------------------------------------------------


@PLANS("AddQuestStep", "Q quest, u step, t text, u quantity, f percent, t group?, n icon?,"
       " u usable_item?, ...")  # fmt: skip
def add_plain(
    scripts: Scripts, quest: ScriptQuest | None, step: int, text: str, quantity: int,
    percent: float, group: str, icon: int, item: int, *ids: Any,
) -> None:  # fmt: skip
    """Add a step that only scripts count."""
    _add(scripts, quest, StepKind.PLAIN, step, text, quantity, percent, group, icon, ids, item)


@PLANS("AddQuestStepChat", "Q quest, u step, t text, u quantity, t group?, n icon?, ...")
def add_talk(
    scripts: Scripts, quest: ScriptQuest | None, step: int, text: str, quantity: int, group: str,
    icon: int, *ids: Any,
) -> None:  # fmt: skip
    """Add a step of talking to spawns of these kinds; their scripts do it."""
    _add(scripts, quest, StepKind.TALK, step, text, quantity, 100.0, group, icon, ids)


def _counted(name: str, kind: StepKind, what: str) -> None:
    """Declare a function that adds a step with a chance."""

    def add(
        scripts: Scripts, quest: ScriptQuest | None, step: int, text: str, quantity: int,
        percent: float, group: str, icon: int, *ids: Any,
    ) -> None:  # fmt: skip
        _add(scripts, quest, kind, step, text, quantity, percent, group, icon, ids)

    add.__doc__ = f"Add a step that counts {what}; each counts with a chance in percent."
    signature = "Q quest, u step, t text, u quantity, f percent, t group?, n icon?, ..."
    PLANS(name, signature)(add)


_counted("AddQuestStepKill", StepKind.KILL, "deaths of spawns of these kinds")
_counted("AddQuestStepKillSelfUpdate", StepKind.KILL_SELF, "spawns that the player has killed")
_counted("AddQuestStepKillByRace", StepKind.KILL_RACE, "deaths of spawns of these races")
_counted("AddQuestStepObtainItem", StepKind.OBTAIN, "things in the player's bags")
_counted("AddQuestStepHarvest", StepKind.HARVEST, "things that the player gathers")
_counted("AddQuestStepCraft", StepKind.CRAFT, "things that the player makes")
_counted("AddQuestStepSpell", StepKind.SPELL, "casts of these spells")


def _spots(values: Sequence[Any], size: int) -> tuple[QuestSpot, ...]:
    """Return the places of a list of numbers, up to one at 0, 0, 0."""
    found: list[QuestSpot] = []
    for at in range(0, min(len(values), size * MOST_SPOTS) - 2, size):
        x, y, z = (read_fraction(one) for one in values[at : at + 3])
        if not (x or y or z):
            break
        zone = read_unsigned(values[at + 3]) if size > 3 and at + 3 < len(values) else 0
        found.append(QuestSpot(x, y, z, zone))
    return tuple(found)


def _add_places(
    scripts: Scripts, quest: ScriptQuest | None, kind: StepKind, step: int, text: str,
    distance: float, group: str, icon: int, spots: tuple[QuestSpot, ...],
) -> None:  # fmt: skip
    if quest is None:
        return
    made = Step(step, kind, shown(text), 1, icon=max(0, icon), spots=spots, radius=distance)
    if quest.plan.add_step(made, shown(group)):
        _changed(scripts, quest)


@PLANS("AddQuestStepLocation", "Q quest, u step, t text, f distance, t group?, n icon?, ...")
def add_place(
    scripts: Scripts, quest: ScriptQuest | None, step: int, text: str, distance: float, group: str,
    icon: int, *values: Any,
) -> None:  # fmt: skip
    """Add a step of standing at one of some places, each with x, y and z."""
    spots = _spots(values, 3)
    _add_places(scripts, quest, StepKind.PLACE, step, text, distance, group, icon, spots)


@PLANS("AddQuestStepZoneLoc", "Q quest, u step, t text, f distance, t group?, n icon?, ...")
def add_zone_place(
    scripts: Scripts, quest: ScriptQuest | None, step: int, text: str, distance: float, group: str,
    icon: int, *values: Any,
) -> None:  # fmt: skip
    """Add a step of standing at one of some places, each with x, y, z and its zone."""
    spots = _spots(values, 4)
    _add_places(scripts, quest, StepKind.PLACE_IN_ZONE, step, text, distance, group, icon, spots)


def _action(name: str, which: str, when: str) -> None:
    """Declare a function that names what a step calls."""

    def act(_scripts: Scripts, quest: ScriptQuest | None, step: int, function: str) -> None:
        if quest is not None:
            quest.plan.set_action(step, **{which: function})

    act.__doc__ = f"Name the function that is called when a step {when}."
    PLANS(name, "Q quest, u step, t function")(act)


_action("AddQuestStepCompleteAction", "done", "is done")
_action("AddQuestStepProgressAction", "progress", "was counted")
_action("AddQuestStepFailureAction", "failed", "has failed")


@PLANS("SetQuestCompleteAction", "Q quest, t function")
def set_complete_action(_scripts: Scripts, quest: ScriptQuest | None, function: str) -> None:
    """Name the function that is called when all steps of a quest are done."""
    if quest is not None:
        quest.plan.on_complete = function


@PLANS("RemoveQuestStep", "P player, Q quest, u step")
def remove_step(scripts: Scripts, _body: Body | None, quest: ScriptQuest | None, step: int) -> None:
    """Remove a step from a quest."""
    if quest is not None and quest.plan.remove(step):
        _changed(scripts, quest)


@PLANS("ResetQuestStep", "Q quest, u step, t text, t group")
def reset_step(
    scripts: Scripts, quest: ScriptQuest | None, step: int, text: str, group: str
) -> None:
    """Let a step begin anew, with other texts for it and its group."""
    if quest is None or step not in quest.plan.steps:
        return
    if text:
        quest.plan.describe(step, shown(text))
    if group:
        quest.plan.rename_group(quest.plan.group_of(step) + 1, shown(group))
    if quest.taken is not None and not quest.is_restoring:
        quest.taken.reset(step)
    _changed(scripts, quest)


# -- texts ----------------------------------------------------------------------------------------


@PLANS("UpdateQuestStepDescription", "Q quest, u step, t text")
def describe_step(scripts: Scripts, quest: ScriptQuest | None, step: int, text: str) -> None:
    """Give a step another text."""
    if quest is not None and quest.plan.describe(step, shown(text)):
        _changed(scripts, quest)


@PLANS("UpdateQuestTaskGroupDescription", "Q quest, u group, t text, 1 bullets?")
def describe_group(
    scripts: Scripts, quest: ScriptQuest | None, group: int, text: str, _bullets: bool
) -> None:
    """Give a group of steps its last text; groups count from 1, in the order they came."""
    if quest is not None and quest.plan.describe_group(group, shown(text)):
        _changed(scripts, quest)


def _text(name: str, field: str, what: str) -> None:
    """Declare a function that sets a text of a quest."""

    def act(scripts: Scripts, quest: ScriptQuest | None, text: str) -> None:
        if quest is not None:
            setattr(quest.plan, field, shown(text))
            _changed(scripts, quest)

    act.__doc__ = f"Set {what} of a quest."
    PLANS(name, "Q quest, t text")(act)


_text("UpdateQuestDescription", "description", "the description")
_text("UpdateQuestZone", "zone", "the zone")
_text("SetCompletedDescription", "completed_text", "the closing text")


@PLANS("RegisterQuest", "Q quest, t name, t type, t zone, n level, t text")
def register(
    _scripts: Scripts, quest: ScriptQuest | None, name: str, category: str, zone: str, level: int,
    text: str,
) -> None:  # fmt: skip
    """Name a quest, its heading, zone, level and text; all are needed."""
    if quest is None or not all((name, category, zone, text)):
        return
    plan = quest.plan
    plan.title, plan.category, plan.zone = shown(name), shown(category), shown(zone)
    plan.level, plan.description = max(0, min(level, 255)), shown(text)


# -- what it is -----------------------------------------------------------------------------------


@PLANS("SetQuestRepeatable", "Q quest")
def set_repeatable(_scripts: Scripts, quest: ScriptQuest | None) -> None:
    """Let players take a quest again that they have completed."""
    if quest is not None:
        quest.plan.is_repeatable = True


@PLANS("SetQuestYellow", "Q quest")
def set_yellow(scripts: Scripts, quest: ScriptQuest | None) -> None:
    """Show a quest in yellow in the journal."""
    if quest is not None:
        quest.plan.is_yellow = True
        _changed(scripts, quest)


@PLANS("SetCompleteFlag", "Q quest")
def set_ready(scripts: Scripts, quest: ScriptQuest | None) -> None:
    """Show in the journal that a quest can be handed in."""
    if quest is not None:
        quest.plan.has_complete_flag = True
        _changed(scripts, quest)


@PLANS("SetQuestFeatherColor", "Q quest, n number")
def set_feather(_scripts: Scripts, quest: ScriptQuest | None, number: int) -> None:
    """Set the color of the mark over who gives a quest: 1 purple, 2 green, 3 blue."""
    if quest is not None:
        quest.plan.feather = number if 0 <= number <= 3 else 0


@PLANS("SetQuestFlags", "Q quest, u number")
def set_flags(scripts: Scripts, quest: ScriptQuest | None, number: int) -> None:
    """Set flags of a quest, which scripts read again."""
    if quest is not None:
        quest.plan.flags = number & 0xFFFFFFFF
        if quest.taken is not None and quest.player is not None:
            quest.taken.flags = quest.plan.flags
            scripts.quests.journals.changed(quest.player)


@PLANS("QuestReturnNPC", "Q quest, u database_id")
def set_returner(_scripts: Scripts, quest: ScriptQuest | None, number: int) -> None:
    """Set the kind of spawn that takes a quest back."""
    if quest is not None:
        quest.plan.returner = number


# -- what it gives --------------------------------------------------------------------------------


@PLANS("AddQuestRewardCoin", "Q quest, u copper, u silver, u gold, u platinum")
def add_coins(
    _scripts: Scripts, quest: ScriptQuest | None, copper: int, silver: int, gold: int, platinum: int
) -> None:
    """Let a quest give coins."""
    if quest is not None:
        coins = copper + 100 * silver + 10_000 * gold + 1_000_000 * platinum
        quest.plan.rewarded(coins=min(coins, LARGEST), most_coins=0)


@PLANS("AddQuestRewardItem", "Q quest, u item, u number?")
def add_item(_scripts: Scripts, quest: ScriptQuest | None, item: int, number: int) -> None:
    """Let a quest give things."""
    if quest is not None and 0 < item <= LARGEST:
        items = limited(quest.plan.reward.items, (item, min(max(1, number), LARGEST_SIGNED)))
        quest.plan.rewarded(items=items)


@PLANS("AddQuestSelectableRewardItem", "Q quest, u item, n number")
def add_choice(_scripts: Scripts, quest: ScriptQuest | None, item: int, number: int) -> None:
    """Let a quest give one of several things, which the player chooses."""
    if quest is not None and 0 < item <= LARGEST:
        one = item, min(max(1, number), LARGEST_SIGNED)
        quest.plan.rewarded(choices=limited(quest.plan.reward.choices, one))


@PLANS("AddQuestRewardFaction", "Q quest, u faction, n amount")
def add_faction(_scripts: Scripts, quest: ScriptQuest | None, faction: int, amount: int) -> None:
    """Let a quest change what a faction thinks of the player."""
    if quest is not None and faction:
        quest.plan.rewarded(factions=limited(quest.plan.reward.factions, (faction, amount)))


@PLANS("SetQuestRewardExp", "Q quest, u number")
def set_experience(_scripts: Scripts, quest: ScriptQuest | None, number: int) -> None:
    """Let a quest give experience."""
    if quest is not None:
        quest.plan.rewarded(experience=min(number, LARGEST))


@PLANS("SetQuestRewardComment", "Q quest, t text")
def set_comment(_scripts: Scripts, quest: ScriptQuest | None, text: str) -> None:
    """Set the line about the reward in the window of an offer."""
    if quest is not None:
        quest.plan.rewarded(comment=shown(text))


@PLANS("SetQuestRewardStatus", "Q quest, u status, u least, u most")
def set_status(
    _scripts: Scripts, quest: ScriptQuest | None, status: int, least: int, most: int
) -> None:
    """Let a quest give status."""
    if quest is not None:
        quest.plan.rewarded(
            status=min(status, LARGEST), least_status=min(least, LARGEST),
            most_status=min(most, LARGEST),
        )  # fmt: skip


@PLANS("SetStatusTmpReward", "Q quest, u number")
def set_gift_status(_scripts: Scripts, quest: ScriptQuest | None, number: int) -> None:
    """Let the next window of `GiveQuestItem` give status."""
    if quest is not None:
        quest.plan.gift_status = min(number, LARGEST)


@PLANS("SetCoinTmpReward", "Q quest, u number")
def set_gift_coins(_scripts: Scripts, quest: ScriptQuest | None, number: int) -> None:
    """Let the next window of `GiveQuestItem` give coins, in copper."""
    if quest is not None:
        quest.plan.gift_coins = min(number, LARGEST)


# -- what it asks for -----------------------------------------------------------------------------


def _need(name: str, field: str, what: str, letter: str = "n number") -> None:
    """Declare a function that adds a number of which a character needs one, or all."""

    def act(_scripts: Scripts, quest: ScriptQuest | None, number: int) -> None:
        if quest is not None:
            plan: QuestPlan = quest.plan
            known = getattr(plan.needs, field)
            plan.demand(**{field: (*known, number)})

    act.__doc__ = f"Let a quest ask for {what}."
    PLANS(name, f"Q quest, {letter}")(act)


_need("AddQuestPrereqQuest", "quests", "a completed quest; for all of several", "u quest2")
_need("AddQuestPrereqClass", "classes", "a class; for one of several")
_need("AddQuestPrereqRace", "races", "a race; for one of several")
_need("AddQuestPrereqModelType", "models", "a model; for one of several")
_need("AddQuestPrereqTradeskillClass", "tradeskill_classes", "a tradeskill class")


@PLANS("SetQuestPrereqLevel", "Q quest, n number")
def need_level(_scripts: Scripts, quest: ScriptQuest | None, number: int) -> None:
    """Let a quest ask for a level."""
    if quest is not None:
        quest.plan.demand(least_level=max(0, number))


@PLANS("AddQuestPrereqTradeskillLevel", "Q quest, n number")
def need_trade_level(_scripts: Scripts, quest: ScriptQuest | None, number: int) -> None:
    """Let a quest ask for a tradeskill level."""
    if quest is not None:
        quest.plan.demand(tradeskill_level=max(0, number))


@PLANS("AddQuestPrereqItem", "Q quest, u item, u number")
def need_item(_scripts: Scripts, quest: ScriptQuest | None, item: int, number: int) -> None:
    """Note a thing that a quest asks for; nothing tests it, as in EQ2Emulator."""
    if quest is not None and item:
        quest.plan.demand(items=limited(quest.plan.needs.items, (item, max(1, number))))


@PLANS("AddQuestPrereqFaction", "Q quest, u faction, n least, n most")
def need_standing(
    _scripts: Scripts, quest: ScriptQuest | None, faction: int, least: int, most: int
) -> None:
    """Let a quest ask for a standing with a faction; one of several is enough."""
    if quest is not None and faction:
        quest.plan.demand(standings=(*quest.plan.needs.standings, (faction, least, most)))
