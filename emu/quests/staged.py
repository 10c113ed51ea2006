"""Quests of files: phases of steps, one after the other, with what their givers say.

All steps of a phase are open together; the next phase begins when the last of them is done. The
quest is completed with the last phase. Source: docs/guides/quests.md#files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from emu.quests.journal import TakenQuest
from emu.quests.plans import QuestPlan, Step

ACCEPT: Final = "I will help you."
DECLINE: Final = "Not now."


@dataclass(frozen=True, slots=True)
class StepTalk:
    """What a spawn says at a step of talking, and the answer that does the step."""

    says: str
    answer: str
    reply: str = ""
    """What it says then; empty: its window closes."""


@dataclass(frozen=True, slots=True)
class Phase:
    """Steps that are open together."""

    text: str
    done: str
    """The text of their group once all are done; empty: it stays."""
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Giver:
    """The spawn that gives a quest, and what it says."""

    name: str
    """Its name; empty: the quest is offered to whoever enters its zone."""
    zone: int = 0
    """The zone in which it is; 0 for any."""
    says: str = ""
    accept: str = ACCEPT
    decline: str = DECLINE
    busy: str = ""
    thanks: str = ""


@dataclass(frozen=True, slots=True)
class StagedQuest:
    """One quest of a file."""

    plan: QuestPlan
    """Without steps."""
    giver: Giver
    phases: tuple[Phase, ...]
    accepted: str = ""
    """A line that the player reads then; also the next three."""
    declined: str = ""
    dropped: str = ""
    completed: str = ""
    talks: dict[int, StepTalk] = field(default_factory=dict)
    """By the number of the step."""
    gives: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    """Things that the player gets when a step is done, by its number."""
    takes: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    """Things that the player loses then."""

    def master(self) -> QuestPlan:
        """Return the plan with the steps of the first phase."""
        plan = self.plan.copy()
        self._add(plan, 0)
        return plan

    def _add(self, plan: QuestPlan, at: int) -> None:
        phase = self.phases[at]
        for step in phase.steps:
            plan.add_step(step, phase.text)

    def phase_of(self, number: int) -> int:
        """Return the place of the phase that has a step; -1 if none has."""
        return next(
            (
                at for at, phase in enumerate(self.phases)
                if any(one.number == number for one in phase.steps)
            ), -1,
        )  # fmt: skip

    def went_on(self, taken: TakenQuest, number: int) -> bool:
        """Bring a plan up to a step that is done; return whether the quest is at its end."""
        plan, at = taken.plan, self.phase_of(number)
        if plan is None or at < 0:
            return False
        phase = self.phases[at]
        if not all(one.number in taken.done for one in phase.steps):
            return False
        if phase.done:
            plan.describe_group(plan.group_of(number) + 1, phase.done)
        if at + 1 < len(self.phases):
            self._add(plan, at + 1)
            return False
        if plan.completed_text:
            plan.description = plan.completed_text
        return True

    def restored(self, taken: TakenQuest) -> bool:
        """Rebuild the plan of a quest from its progress; return whether it is at its end."""
        is_over = False
        for phase in self.phases:
            for step in phase.steps:
                if step.number in taken.done:
                    is_over = self.went_on(taken, step.number) or is_over
        return is_over
