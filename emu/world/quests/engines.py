"""The interface of engines, which give quests their steps: scripts, or the phases of a file."""

from __future__ import annotations

from typing import Protocol

from emu.quests.journal import TakenQuest
from emu.quests.plans import QuestPlan, Step
from emu.world.actors.player import Player


class QuestEngine(Protocol):
    """Gives the plans of quests their steps, and acts when something happens to one.

    Nothing of it raises: an engine reports the faults of its authors itself.
    """

    def begin(self, plan: QuestPlan) -> bool | None:
        """Add steps, needs and rewards to a master; return False if that failed.

        None: not now; it has to be asked again.
        """

    def criteria(self, player: Player, plan: QuestPlan) -> int | None:
        """Return 0 if the engine itself does not let a player take a quest.

        Any other number is the mark that the quest's giver then has; None: the quest's own.
        """

    def accepted(self, player: Player, taken: TakenQuest) -> None:
        """Act on a quest that was taken just now."""

    def declined(self, player: Player, plan: QuestPlan, giver: int) -> None:
        """Act on an offer that was refused."""

    def dropped(self, player: Player, taken: TakenQuest) -> None:
        """Act on a quest that its player gives up; it is still in the journal."""

    def progressed(self, player: Player, taken: TakenQuest, step: Step, amount: int) -> None:
        """Act on a step that was counted."""

    def done(self, player: Player, taken: TakenQuest, step: Step) -> bool:
        """Act on a step that is done; return False if that failed: the step is then undone."""

    def failed(self, player: Player, taken: TakenQuest, step: Step) -> None:
        """Act on a step that has failed."""

    def completed(self, player: Player, taken: TakenQuest) -> None:
        """Act on a quest whose steps are all done."""

    def restored(self, player: Player, taken: TakenQuest) -> bool:
        """Rebuild a player's plan from its progress; return whether its reward is due."""


class NoEngine:
    """The engine of quests that consist of texts alone."""

    def begin(self, plan: QuestPlan) -> bool:
        """Return whether there is nothing to add."""
        return not plan.script

    def criteria(self, _player: Player, _plan: QuestPlan) -> int | None:
        """Let everybody take it."""
        return None

    def accepted(self, player: Player, taken: TakenQuest) -> None:
        """Do nothing."""

    def declined(self, player: Player, plan: QuestPlan, giver: int) -> None:
        """Do nothing."""

    def dropped(self, player: Player, taken: TakenQuest) -> None:
        """Do nothing."""

    def progressed(self, player: Player, taken: TakenQuest, step: Step, amount: int) -> None:
        """Do nothing."""

    def done(self, _player: Player, _taken: TakenQuest, _step: Step) -> bool:
        """Do nothing."""
        return True

    def failed(self, player: Player, taken: TakenQuest, step: Step) -> None:
        """Do nothing."""

    def completed(self, player: Player, taken: TakenQuest) -> None:
        """Do nothing."""

    def restored(self, _player: Player, _taken: TakenQuest) -> bool:
        """Do nothing."""
        return False
