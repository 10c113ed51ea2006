"""Scripts of quests: their handles, and the functions that are called when something happens.

A quest's script belongs to its number: all players share its file. `Init` runs once, on the master;
what happens to a player's quest calls functions with the player's own copy. After a login `Reload`
rebuilds that copy; whatever such a call says or moves has no effect, because it did so before.
Source: docs/guides/quests.md#steps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

from emu.quests.journal import TakenQuest
from emu.quests.plans import QuestPlan, Step
from emu.scripts.signatures import Handle, HandleKind, read_unsigned
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.quests.component import QuestParts
from emu.world.scripts.bodies import Body, Homes
from emu.world.scripts.calls import CallAnswer, Calls

NO_GIVER: Final = Handle(HandleKind.NPC, None)
"""Stands for a giver that is not there; tests for nil do not see it."""


@dataclass(slots=True, eq=False)
class ScriptQuest:
    """A quest as scripts have it: the master, or the copy of a player."""

    master: QuestPlan
    player: Player | None = None
    taken: TakenQuest | None = None
    is_restoring: bool = False
    is_due: bool = False
    """Whether its reward was asked for while it was rebuilt."""
    handle: Handle = field(init=False)

    def __post_init__(self) -> None:
        self.handle = Handle(HandleKind.QUEST, self)

    @property
    def name(self) -> str:
        """The title, for people."""
        return self.master.title

    @property
    def plan(self) -> QuestPlan:
        """What its functions change."""
        taken = self.taken
        return self.master if taken is None or taken.plan is None else taken.plan


class RestoredPlayer(Body):
    """A player while a quest of it is rebuilt.

    Functions of quests know it, and questions for facts that only the player changes; for all
    others it is a spawn of its own that nobody sees, in a zone in which nothing stands.
    """

    __slots__ = ("restored",)

    def __init__(self, homes: Homes, player: Player) -> None:
        zone = player.zone
        ghost = Spawn.of(player.spawn.template(), 0, player.position)
        super().__init__(ghost, homes.absent(zone.definition))
        self.restored = player
        self.handle = Handle(HandleKind.PLAYER, self)


def quester(body: Body | None) -> Player | None:
    """Return the player that a question is about, also while a quest of it is rebuilt."""
    if isinstance(body, RestoredPlayer):
        return body.restored
    return body.player if body is not None else None


class QuestScripts:
    """Calls the functions of quests' scripts."""

    def __init__(self, calls: Calls, homes: Homes, parts: QuestParts) -> None:
        self._calls = calls
        self._homes = homes
        self._parts = parts
        self._masters: dict[int, ScriptQuest] = {}
        self._open_to_all: set[int] = set()
        """The quests whose scripts ask for nothing themselves."""
        self._taken: dict[tuple[int, int], ScriptQuest] = {}
        """The quests of players that scripts have seen, by character and quest."""
        self._awaited: set[str] = set()
        """Scripts of quests that are being compiled."""

    # -- handles --------------------------------------------------------------------------------

    def of(self, player: Player, taken: TakenQuest) -> ScriptQuest:
        """Return a player's quest as scripts have it: one object for each."""
        key = player.id, taken.number
        found = self._taken.get(key)
        if found is None or found.taken is not taken or found.player is not player:
            if found is not None:
                found.handle.end()
            master = taken.plan
            assert master is not None  # noqa: S101  # scripts see no quest that is gone
            found = self._taken[key] = ScriptQuest(master, player, taken)
        return found

    def left(self, player: Player) -> None:
        """End the handles of a player who leaves the world."""
        for key in [key for key in self._taken if key[0] == player.id]:
            self._taken.pop(key).handle.end()

    def end(self, player: Player, number: int) -> None:
        """End the handle of a quest that its player has no more."""
        found = self._taken.pop((player.id, number), None)
        if found is not None:
            found.handle.end()

    def _giver(self, player: Player, number: int) -> Body | Handle:
        """Return the nearest spawn of the kind that has given a quest, in the player's zone."""
        home = self._homes.get(player.zone)
        found = [*home.of_spawn(number)] if number and home is not None else []
        if not found:
            return NO_GIVER
        return min(found, key=lambda one: one.spawn.position.distance_to(player.position))

    def _call(
        self, player: Player, taken: TakenQuest, name: str, *more: float
    ) -> CallAnswer | None:
        """Call a function with a player's quest; None without a name."""
        plan = taken.plan
        if not name or plan is None:
            return None
        return self._calls.run(
            plan.script, name, self.of(player, taken).handle, self._giver(player, taken.giver),
            self._homes.player(player), *more,
        )  # fmt: skip

    # -- as an engine of quests -------------------------------------------------------------------

    def _compiled(self, script: str) -> None:
        """Give the players their quests of a script that can run now."""
        self._awaited.discard(script)
        self._parts.journals.reload(script)
        for player in self._parts.quests.world.players:
            self._parts.feathers.changed(player)

    def begin(self, plan: QuestPlan) -> bool | None:
        """Call `Init` with a new master; None while its file is being compiled."""
        has_file = self._calls.files.has_file(plan.script)
        if not has_file:
            if has_file is None and plan.script not in self._awaited:
                self._awaited.add(plan.script)
                self._calls.files.when_compiled(plan.script, partial(self._compiled, plan.script))
            return has_file
        old = self._masters.get(plan.number)
        if old is not None:
            old.handle.end()
        quest = self._masters[plan.number] = ScriptQuest(plan)
        self._open_to_all.discard(plan.number)
        answer = self._calls.run(plan.script, "Init", quest.handle)
        return not answer.has_failed

    def criteria(self, player: Player, plan: QuestPlan) -> int | None:
        """Ask `ReceiveQuestCriteria`, which few scripts have: its number is a mark, 0 refuses."""
        quest = self._masters.get(plan.number)
        if quest is None or plan.number in self._open_to_all:
            return None
        answer = self._calls.run(
            plan.script, "ReceiveQuestCriteria", quest.handle, NO_GIVER,
            self._homes.player(player),
        )  # fmt: skip
        if not answer.is_found:
            self._open_to_all.add(plan.number)
            return None
        return None if answer.value is True else read_unsigned(answer.value)

    def accepted(self, player: Player, taken: TakenQuest) -> None:
        """Call `Accepted`."""
        self._call(player, taken, "Accepted")

    def declined(self, player: Player, plan: QuestPlan, giver: int) -> None:
        """Call `Declined`, with the master: the player has no copy."""
        quest = self._masters.get(plan.number)
        if quest is not None:
            self._calls.run(
                plan.script, "Declined", quest.handle, self._giver(player, giver),
                self._homes.player(player),
            )  # fmt: skip

    def dropped(self, player: Player, taken: TakenQuest) -> None:
        """Call `Deleted`."""
        self._call(player, taken, "Deleted")

    def progressed(self, player: Player, taken: TakenQuest, step: Step, amount: int) -> None:
        """Call the progress action of a step."""
        self._call(player, taken, step.actions.progress, amount)

    def done(self, player: Player, taken: TakenQuest, step: Step) -> bool:
        """Call the complete action of a step; return False if it failed."""
        answer = self._call(player, taken, step.actions.done)
        return answer is None or not answer.has_failed

    def failed(self, player: Player, taken: TakenQuest, step: Step) -> None:
        """Call the failure action of a step."""
        self._call(player, taken, step.actions.failed)

    def completed(self, player: Player, taken: TakenQuest) -> None:
        """Call the complete action of a quest."""
        plan = taken.plan
        self._call(player, taken, plan.on_complete if plan is not None else "")

    def restored(self, player: Player, taken: TakenQuest) -> bool:
        """Call `Reload` for each step that is done, in the order of their numbers.

        It is called with 0 first. Many scripts have a `Reload` that does nothing, fails, adds other
        steps, or gives them other texts: if the plan is not as it was stored, or no step is open,
        `Accepted` and the complete actions of the steps are called in its place. If that does not
        bring back what was stored either, what `Reload` made counts. Returns whether the script
        asks for the reward.
        """
        if taken.plan is None:
            return False
        quest, shadow = self.of(player, taken), RestoredPlayer(self._homes, player)
        quest.is_restoring, quest.is_due = True, False
        try:
            self._reload(quest, taken, shadow)
            reloaded, was_due, before = taken.plan, quest.is_due, _likeness(quest, taken)
            if not all(before):
                quest.is_due = False
                self._repeat(quest, taken, shadow)
                after = _likeness(quest, taken)
                if not after.has_steps or after <= before:
                    taken.plan, quest.is_due = reloaded, was_due
        finally:
            quest.is_restoring = False
            shadow.end()
        return quest.is_due

    def _reload(self, quest: ScriptQuest, taken: TakenQuest, shadow: Body) -> None:
        script, last = quest.plan.script, 0
        for number in (0, *sorted(taken.done)):
            last = number
            self._calls.run(script, "Reload", quest.handle, NO_GIVER, shadow, number)
        self._calls.run(script, "CurrentStep", quest.handle, NO_GIVER, shadow, last)

    def _repeat(self, quest: ScriptQuest, taken: TakenQuest, shadow: Body) -> None:
        """Call `Accepted` and the actions of the steps that are done, on the plan as it began.

        They are called in the order in which the steps were done, and each one finds those done
        that were done before it. The stand-in is the giver, too:
        `Accepted` talks with a giver that is there, and asks how far away it is.
        """
        master = self._masters.get(taken.number)
        if master is None or taken.plan is None:
            return
        flags, taken.plan = taken.plan.flags, master.plan.copy()
        taken.plan.flags = flags
        script, done = taken.plan.script, taken.done
        taken.done = ()
        try:
            self._calls.run(script, "Accepted", quest.handle, shadow, shadow)
            for number in done:
                taken.done += (number,)
                step = taken.plan.steps.get(number)
                if step is not None and step.actions.done:
                    self._calls.run(script, step.actions.done, quest.handle, shadow, shadow)
        finally:
            taken.done = done


class _Likeness(NamedTuple):
    """How much a plan that was rebuilt is like the one that was stored."""

    goes_on: bool
    """Whether it has an open step, or its reward is due; also if nothing is done yet."""
    has_steps: bool
    """Whether it has the steps that were stored, or none were."""
    has_texts: bool
    """Whether it has the texts that were stored, or none were."""


def _likeness(quest: ScriptQuest, taken: TakenQuest) -> _Likeness:
    plan = taken.plan
    assert plan is not None  # noqa: S101  # it is being rebuilt
    return _Likeness(
        quest.is_due or not taken.done or next(taken.open_steps(), None) is not None,
        not taken.known or plan.steps.keys() == taken.known,
        not taken.texts or plan.digest == taken.texts,
    )
