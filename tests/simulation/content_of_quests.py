"""Quests of our own for the content of the simulation, and the script of who gives them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.simulation.content_of_things import ORE, STACK, SWORD, Tables

HERALD = "a herald"
HERALD_SCRIPT = "SpawnScripts/Simulation/Herald.lua"


@dataclass(frozen=True)
class QuestGift:
    """What a quest gives each time that it is completed."""

    coins: int
    things: dict[int, int]
    """How many of each kind for sure."""
    choices: tuple[int, ...] = ()
    """Of these kinds one thing is chosen."""


HUNT, FETCH = 701, 702
"""The quests: two wolves, and three apples. Both are taken again and again."""
GIFTS = {HUNT: QuestGift(25, {SWORD: 1}, (STACK, ORE)), FETCH: QuestGift(11, {})}
TALK = """
function hailed(NPC, Spawn)
    FaceTarget(NPC, Spawn)
    for quest = 701, 702 do
        if QuestStepIsComplete(Spawn, quest, 1) and not QuestStepIsComplete(Spawn, quest, 2) then
            SetStepComplete(Spawn, quest, 2)
            return
        end
    end
    local quest = MakeRandomInt(701, 702)
    if not HasQuest(Spawn, quest) then
        OfferQuest(NPC, Spawn, quest)
    end
end
"""
_QUEST = """
function Init(Quest)
    SetQuestRepeatable(Quest)
    {first}
    AddQuestStepCompleteAction(Quest, 1, "First")
end
function First(Quest, QuestGiver, Player)
    UpdateQuestTaskGroupDescription(Quest, 1, "That is done.")
    AddQuestStepChat(Quest, 2, "Tell the herald.", 1, "Report.", 11)
    AddQuestStepCompleteAction(Quest, 2, "Reported")
end
function Reported(Quest, QuestGiver, Player)
    GiveQuestReward(Quest, Player)
end
function Reload(Quest, QuestGiver, Player, Step)
    if Step == 1 then First(Quest, QuestGiver, Player)
    elseif Step == 2 then Reported(Quest, QuestGiver, Player) end
end
"""


def scripts(wolves: Iterable[int]) -> dict[str, str]:
    """Return the scripts by their paths; `wolves` are the kinds of creatures to hunt."""
    kinds = ", ".join(map(str, wolves))
    hunt = f'AddQuestStepKill(Quest, 1, "Hunt two wolves.", 2, 100, "Hunt.", 11, {kinds})'
    fetch = 'AddQuestStepObtainItem(Quest, 1, "Have three apples.", 3, 100, "Fetch.", 11, 501)'
    return {
        HERALD_SCRIPT: TALK,
        "Quests/Simulation/hunt.lua": _QUEST.replace("{first}", hunt),
        "Quests/Simulation/fetch.lua": _QUEST.replace("{first}", fetch),
    }


def tables() -> Tables:
    """Return the quests with what they give."""
    details: list[dict[str, Any]] = []
    for quest, gift in GIFTS.items():
        rows = [("Coin", gift.coins, 0)]
        rows += [("Item", item, count) for item, count in gift.things.items()]
        rows += [("Selectable", item, 1) for item in gift.choices]
        for subject, value, count in rows:
            details.append({"id": len(details) + 1, "quest_id": quest, "type": "Reward",
                            "subtype": subject, "value": value, "quantity": count})  # fmt: skip
    named = ((HUNT, "Two Wolves", "hunt"), (FETCH, "Three Apples", "fetch"))
    return {
        "quests": [
            {"quest_id": quest, "name": name, "type": "Errands", "zone": "Anywhere", "level": 1,
             "description": "Please.", "completed_text": "Thanks.", "deleteable": 1,
             "shareable_flag": 7, "lua_script": f"Quests/Simulation/{file}.lua"}
            for quest, name, file in named
        ],
        "quest_details": details,
    }  # fmt: skip
