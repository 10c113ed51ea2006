"""Quests in memory, and a world with the quest of the recordings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from emu.content.rows import Row
from emu.quests.plans import QuestPlan, QuestReward
from emu.quests.staged import StagedQuest
from tests.support.world import item_kinds as kinds
from tests.support.world.script_scenes import ScriptScene

CRABS = 900001
"""The quest of the recordings `fight-*-quest-a`."""
CRAB, GUARD, HEAL, BAG, MITTS = 901, 902, 110012, 20902, 11637
OTHER_BAG, FOOD = 20903, 36211
ROWS = (
    'id = 20902, name = "Bag 20902", icon = 500, weight = 10, tier = 3, bags = {slots = 4}',
    'id = 20903, name = "Bag 20903", icon = 500, weight = 10, tier = 3, bags = {slots = 4}',
    (
        'id = 36211, name = "Food 36211", icon = 311, weight = 10, tier = 4, stack = 20,'
        " foods = {level = 10, duration = 1800.0}"
    ),
)
"""The things that the quest of the recordings gives, as they were recorded."""
CRABS_SCRIPT = """
function Init(Quest)
    AddQuestStepKill(Quest, 1, "Drive two shore crabs from the beach.", 2, 100,
        "The beach must be safe.", 75, 901)
    AddQuestStepProgressAction(Quest, 1, "Progress")
    AddQuestStepCompleteAction(Quest, 1, "Killed")
    SetQuestRewardComment(Quest, "Anikra pays what she promised.")
end
function Accepted(Quest, Giver, Player) SendMessage(Player, "You take on the crabs.", "yellow") end
function Declined(Quest, Giver, Player) SendMessage(Player, "Another time, then.", "yellow") end
function Deleted(Quest, Giver, Player) SendMessage(Player, "You gave it up.", "yellow") end
function Progress(Quest, Giver, Player, amount)
    SendMessage(Player, "One crab less.", "yellow")
end
function Killed(Quest, Giver, Player)
    UpdateQuestTaskGroupDescription(Quest, 1, "The beach is safe.")
    AddQuestStepLocation(Quest, 2, "Look over the beach from the dune.", 6,
        "See whether more come.", 0, 20, -7, 243)
    AddQuestStepCompleteAction(Quest, 2, "Looked")
end
function Looked(Quest, Giver, Player)
    UpdateQuestTaskGroupDescription(Quest, 2, "No more crabs come.")
    AddQuestStepSpell(Quest, 3, "Cast Minor Healing.", 1, 100, "Practise.", 0, 110012)
    AddQuestStepObtainItem(Quest, 4, "Find a thing.", 1, 100, "Practise.", 180, 20902)
    AddQuestStepHarvest(Quest, 5, "Gather something.", 1, 100, "Practise.", 0, 11637)
    AddQuestStepCompleteAction(Quest, 3, "Cast")
    AddQuestStepCompleteAction(Quest, 5, "Gathered")
end
function Cast(Quest, Giver, Player)
    UpdateQuestStepDescription(Quest, 3, "I cast the spell.")
end
function Gathered(Quest, Giver, Player)
    AddQuestStepChat(Quest, 6, "Tell Guard Tanglor.", 1, "Report.", 0, 902)
    AddQuestStepCompleteAction(Quest, 6, "Reported")
end
function Reported(Quest, Giver, Player)
    UpdateQuestTaskGroupDescription(Quest, 4, "Guard Tanglor knows.")
    GiveQuestReward(Quest, Player)
end
function Reload(Quest, Giver, Player, Step)
    if Step == 1 then Killed(Quest, Giver, Player)
    elseif Step == 2 then Looked(Quest, Giver, Player)
    elseif Step == 3 then Cast(Quest, Giver, Player)
    elseif Step == 5 then Gathered(Quest, Giver, Player)
    elseif Step == 6 then Reported(Quest, Giver, Player) end
end
"""


class QuestsInMemory:
    """The quests of a world, without a content file."""

    def __init__(
        self,
        plans: Iterable[QuestPlan] = (),
        staged: Mapping[int, StagedQuest] | None = None,
        factions: Mapping[int, Row] | None = None,
    ) -> None:
        self.plans = {one.number: one for one in plans}
        self.staged = dict(staged or {})
        self._factions = factions or {}

    def plan(self, number: int) -> QuestPlan | None:
        staged = self.staged.get(number)
        if staged is not None:
            return staged.master()
        found = self.plans.get(number)
        return found.copy() if found is not None else None

    def faction(self, number: int) -> Row | None:
        return self._factions.get(number)


def crabs_plan(**values: Any) -> QuestPlan:
    """The plan of the quest of the recordings, as its row has it."""
    reward = QuestReward(
        experience=120, coins=1234, items=((BAG, 1),),
        choices=((OTHER_BAG, 1), (FOOD, 1)), factions=((11, 250),),
    )  # fmt: skip
    return QuestPlan(
        CRABS, "Crabs on the Beach", "Isle of Refuge", "Isle of Refuge", 2, 2,
        "Anikra wants the beach to be safe.", "The beach is safe.", "Quests/crabs.lua",
        is_shareable=7, reward=reward, **values,
    )  # fmt: skip


class QuestScene(ScriptScene):
    """A player beside spawns with scripts, in a world with quests."""

    def __init__(
        self, folder: Path, version: int = 546, *, plans: Iterable[QuestPlan] = (),
        scripts: Mapping[str, str] | None = None, staged: Mapping[int, StagedQuest] | None = None,
        **values: Any,
    ) -> None:  # fmt: skip
        for name, source in (scripts or {"Quests/crabs.lua": CRABS_SCRIPT}).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source)
        faction: Any = {"id": 11, "name": "The City of Qeynos", "default": 0}
        content = QuestsInMemory(plans or [crabs_plan()], staged, {11: faction})
        # The recorded player has level 3.
        super().__init__(folder, version, quests=content, **{"level": 3, **values})
        self.harness.kinds = kinds.item_kinds(ROWS)
        self.harness.parts.items.kinds = self.harness.kinds
        self.parts = self.harness.parts.quests
        self.parts.journals._kinds = self.harness.kinds  # as the items' above
        self.quests = self.parts.quests
        self.seen = 0

    @property
    def journal(self) -> Any:
        return self.quests.journal(self.player)

    def turn(self) -> None:
        """Let everything happen that waits for the next turn."""
        self.harness.run(0.3)

    def names(self) -> list[str]:
        """The names of the messages about quests since the last time."""
        new, self.seen = self.client.log[self.seen :], len(self.client.log)
        wanted = ("Quest", "Reward", "PlaySound")
        return [name for name, _ in new if any(word in name for word in wanted)]

    def accept(self, number: int = CRABS) -> None:
        assert self.quests.offer(self.player, number)
        self.client.types(f"/q_accept_pending_quest {number}")
        self.turn()

    def kill(self, number: int, name: str = "a shore crab") -> None:
        """Let the player kill a spawn of a kind of the content file."""
        victim = self.spawn("", name)
        dealing = victim.look.dealing._replace(number=number)
        victim.look = replace(victim.look, dealing=dealing)
        self.harness.parts.minds.harm.kill(self.zone, victim, self.player.spawn)
