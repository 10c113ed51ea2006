"""Quests of a character of EQ2Emulator's world database.

A quest without a date of completion is open; its progress counts steps by their numbers. Which
steps that ends is known to the quest's script alone, so the world notes it when the journal is used
first (`emu.world.quests.journals`). Source of the columns: docs/protocol/world/data.md#characters.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from emu.facts import U32
from emu.quests.journal import MOST_COMPLETED, MOST_QUESTS, Completion, Journal, TakenQuest
from emu.sqldump.report import Columns, moment, number, numbered
from emu.times import UNKNOWN


@dataclass(slots=True)
class ImportedQuests:
    """The rows of one character about quests."""

    journal: Journal = field(default_factory=Journal)
    progress: defaultdict[int, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    """How often the subject of a step has happened, by quest and step."""

    def add_quest(self, columns: Columns) -> None:
        """Add a quest that the character has or had. Raises `ValueError`."""
        quest = numbered(columns, "quest_id")
        given = moment(columns, "given_date")
        completed = moment(columns, "completed_date")
        times = number(columns, "complete_count", most=0xFFFF)
        journal = self.journal
        is_open = completed == UNKNOWN
        if is_open:
            if len(journal.open) >= MOST_QUESTS:
                raise ValueError(f"a journal has at most {MOST_QUESTS} open quests")
            taken = TakenQuest(quest, given, number(columns, "quest_giver", most=U32))
            taken.flags = number(columns, "quest_flags", most=U32) or None
            taken.is_tracked = number(columns, "tracked") != 0
            taken.is_hidden = number(columns, "hidden") != 0
            journal.open[quest] = taken
        else:
            times = max(1, times)
        if times:
            if len(journal.completed) >= MOST_COMPLETED:
                raise ValueError(f"a journal has at most {MOST_COMPLETED} completed quests")
            journal.completed[quest] = Completion(times, given if is_open else completed)

    def add_progress(self, columns: Columns) -> None:
        """Add how far a step is. Raises `ValueError`."""
        quest = numbered(columns, "quest_id")
        step = number(columns, "step_id", most=U32)
        self.progress[quest][step] = number(columns, "progress", most=U32)

    @property
    def quests(self) -> str:
        """The journal as a character stores it."""
        for quest, taken in self.journal.open.items():
            taken.counts = {step: count for step, count in self.progress[quest].items() if count}
        return self.journal.text
