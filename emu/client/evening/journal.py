"""The quests of a client that plays, as its journal shows them."""

from __future__ import annotations

from dataclasses import dataclass, field

from emu.client.world.windows import JournalListed, QuestShown, QuestTask


@dataclass(slots=True)
class OpenQuest:
    """A quest that is not complete."""

    number: int
    title: str
    tasks: tuple[QuestTask, ...] = ()
    done: set[str] = field(default_factory=set)
    """The texts of the tasks that were seen done."""

    category: str = ""
    """The line of the journal under which it stands, for example "Hallmark"."""
    was_inspected: bool = False
    """Whether the player has asked for its tasks: the list at an entry has titles only."""

    @property
    def open_tasks(self) -> list[QuestTask]:
        """Return the tasks that are not done."""
        return [one for one in self.tasks if not one.is_done]


class SeenJournal:
    """The open quests by number, and what is complete."""

    def __init__(self) -> None:
        self.open: dict[int, OpenQuest] = {}
        self.complete: dict[int, str] = {}
        """The titles of completed quests by number."""
        self.changes = 0
        """Rises with every change: what somebody has to say may be another thing then."""

    def listed(self, event: JournalListed) -> list[str]:
        """Handle a part of the list; return a line for each quest that is new or complete."""
        lines = []
        for row in event.rows:
            if row.is_open:
                if row.quest not in self.open:
                    self.open[row.quest] = OpenQuest(row.quest, row.title)
                    self.changes += 1
                    lines.append(f"begun: {row.title} ({row.quest})")
            elif row.quest not in self.complete:
                self.complete[row.quest] = row.title
                self.open.pop(row.quest, None)
                self.changes += 1
                lines.append(f"done: {row.title} ({row.quest})")
        return lines

    def shown(self, event: QuestShown) -> list[str]:
        """Handle one quest; return a line for each task that is new or done."""
        if event.is_complete or event.quest in self.complete:
            return []
        quest = self.open.setdefault(event.quest, OpenQuest(event.quest, event.title))
        before = {(one.text, one.is_done, one.count) for one in quest.tasks}
        quest.tasks, quest.category = event.tasks, event.category
        lines = []
        for task in event.tasks:
            if (task.text, task.is_done, task.count) in before:
                continue
            self.changes += 1
            count = f" {task.count}/{task.needed}" if task.needed > 1 else ""
            lines.append(f"{event.title}: {'done: ' if task.is_done else ''}{task.text}{count}")
        return lines
