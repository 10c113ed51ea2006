"""The open tasks of a client that plays, in the order in which it does them.

Quests with a wanted word come first. A quest that has not advanced for some minutes is set aside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from emu.client.evening.journal import OpenQuest, SeenJournal
from emu.client.evening.reading import (
    GOOD,
    fit,
    has_word,
    is_crafting,
    is_peaceful,
    is_visit,
    names_somebody,
)
from emu.client.evening.visits import LONG_AGO
from emu.client.world.windows import QuestTask
from emu.times import Monotonic

SET_ASIDE: Final = 600.0
"""A quest that has not advanced for so long is no reason to stay, to look around or to try things.
"""
PATIENT: Final = 1500.0
"""The same for a first quest."""
MOST_TRIES: Final = 12
"""How often it does something for a task here before it also looks at those elsewhere."""
MOST_OPEN: Final = 60
"""With so many open quests it takes up only first ones: a journal holds 75."""
HAILS: Final = 3
"""How often it hails somebody for the next quest of a chain."""


@dataclass(frozen=True, slots=True)
class _Progress:
    """What a quest looked like when it has advanced last."""

    tasks: tuple[QuestTask, ...]
    since: Monotonic
    zone: str
    """The zone of `Travels` in which the player was."""


class Agenda:
    """The order of one player's tasks."""

    def __init__(
        self, journal: SeenJournal, first: Sequence[str],
        is_hopeless: Callable[[str], bool] = lambda _zone: False,
        is_only_way: Callable[[str], bool] = lambda _zone: False,
    ) -> None:  # fmt: skip
        """`first` are words of the titles or categories of quests that it does first.

        Those with the first of these words come before those with the second one, and so on.
        `is_hopeless` says whether it is too weak for a zone of `Travels`, and can become stronger,
        `is_only_way` whether first quests alone lead to another level, and not away from a zone.
        """
        self._is_hopeless = is_hopeless
        self._is_only_way = is_only_way
        self._journal = journal
        self._first = first
        self._progress: dict[int, _Progress] = {}
        self._tries: Counter[str] = Counter()
        self._now = LONG_AGO
        self._grounds: dict[str, str] = {}
        """The zone in which it has fought last for each task, by the text."""
        self._recalled: dict[int, str] = {}
        """Where quests had advanced before this session."""
        self._texts: set[str] = set()
        """The texts of all tasks that the journal has had."""
        self._resumed: set[tuple[str, tuple[QuestTask, ...]]] = set()
        """The zones in which it has taken up again what it had set aside, with the tasks."""
        self._givers: dict[str, int] = {}
        """With whom first quests have ended, the last one last, and how often it hails them yet."""

    def ended(self, giver: str) -> None:
        """Note that a first quest has ended with somebody: there may be a next one."""
        self._givers.pop(giver, None)
        if giver:
            self._givers[giver] = HAILS

    def hailed(self, name: str) -> None:
        """Note that it has hailed somebody."""
        if name in self._givers:
            self._givers[name] -= 1
            if not self._givers[name]:
                del self._givers[name]

    def next_of_chains(self) -> list[QuestTask]:
        """Return the tasks to ask for the next quests of chains, the newest first."""
        return [
            QuestTask(f"Speak with {name}.", "", False, 0, 1) for name in reversed(self._givers)
        ]

    def look(self, zone: str, now: Monotonic) -> list[QuestTask]:
        """Note which quests have advanced, in which zone; return their tasks."""
        self._now = now
        advanced: list[QuestTask] = []
        for number, quest in self._journal.open.items():
            known = self._progress.get(number)
            if known is None or known.tasks != quest.tasks:
                where = self._recalled.pop(number, zone) if quest.tasks else zone
                self._progress[number] = _Progress(quest.tasks, now, where)
                advanced += quest.tasks
                for task in quest.tasks:
                    self._texts.add(task.text)
                    self._tries.pop(task.text, None)
        return advanced

    def zones(self) -> dict[int, str]:
        """Return where each open quest has advanced last, by number."""
        return {number: one.zone for number, one in self._progress.items()}

    def recall(self, zones: Mapping[int, str]) -> None:
        """Go on with what `zones` has returned another time."""
        self._recalled.update(zones)

    def is_over(self, task: QuestTask) -> bool:
        """Return whether a task of the journal is done, or gone; its count may have changed."""
        return task.text in self._texts and all(
            one.text != task.text for quest in self._journal.open.values()
            for one in quest.open_tasks
        )  # fmt: skip

    def resume(self, zone: str, is_here: Callable[[QuestTask], bool]) -> None:
        """Take up what it has set aside and what is to be done in the zone into which it comes.

        It does so once for each zone, until the quest advances.
        """
        for number, one in self._progress.items():
            which = zone, one.tasks
            if which not in self._resumed and self._is_aside(number) and any(
                is_here(task) for task in one.tasks if not task.is_done
            ):  # fmt: skip
                self._resumed.add(which)
                self._progress[number] = replace(one, since=self._now)

    def is_fresh(self, task: QuestTask) -> bool:
        """Return whether it has hardly tried a task since that has advanced."""
        return self._tries[task.text] < MOST_TRIES

    def tried(self, task: QuestTask) -> None:
        """Note that it has done something for a task: others come before it the next time."""
        self._tries[task.text] += 1

    def tasks(self, *, is_aside: bool = False) -> list[QuestTask]:
        """Return the open tasks of quests that advance, or of those that it has set aside.

        Those of first quests come first, then those that were tried least.
        """
        found = [
            (self._rank(quest), self._tries[task.text], task)
            for number, quest in reversed(list(self._journal.open.items()))
            if self._is_aside(number) is is_aside for task in quest.open_tasks
        ]  # fmt: skip
        return [task for *_, task in sorted(found, key=lambda one: one[:2])]

    def first_tasks(self) -> list[QuestTask]:
        """Return the open tasks of the first quests that advance."""
        wanted = {
            task for number, quest in self._journal.open.items()
            if self.is_first(quest) and not self._is_aside(number)
            for task in quest.open_tasks
        }  # fmt: skip
        return [task for task in self.tasks() if task in wanted]

    def is_too_weak(self, left: Collection[str]) -> bool:
        """Return whether a first quest waits until it is stronger, but for zones that it `left`."""
        return any(
            self.is_first(quest) and self._progress[number].zone not in left
            and self._is_too_hard(number)
            for number, quest in self._journal.open.items() if number in self._progress
        )  # fmt: skip

    def _is_too_hard(self, quest: int) -> bool:
        """Return whether it is too weak for the zone of a quest, and has to do more than go there.

        To find the overseer of a city it need not be stronger, wherever the task has come up.
        """
        return self._is_hopeless(self._progress[quest].zone) and any(
            not names_somebody(task.text) and not is_visit(task.text)
            for task in self._journal.open[quest].open_tasks
        )

    def is_first(self, quest: OpenQuest) -> bool:
        """Return whether a quest is done before others."""
        return self._rank(quest) < len(self._first)

    def open_first(self) -> set[int]:
        """Return the numbers of the first quests that are open."""
        return {number for number, quest in self._journal.open.items() if self.is_first(quest)}

    def wants(self, title: str, giver: str) -> bool:
        """Return whether it takes up a quest that somebody offers, by its title.

        While a first quest advances, that is another first quest, or one that a task of these is
        about: by its title, or because the task names who offers it.
        """
        if has_word(title, self._first):
            return True
        if len(self._journal.open) >= MOST_OPEN:
            return False
        tasks = self.first_tasks()
        return not tasks or any(
            fit(name, f"{task.text} {task.group}") >= GOOD
            for task in tasks for name in (title, giver)
        )  # fmt: skip

    def names_thing(self, name: str) -> bool:
        """Return whether an open task may want a thing with a name."""
        return any(
            fit(name, f"{task.text} {task.group}") >= GOOD
            for quest in self._journal.open.values() for task in quest.open_tasks
        )  # fmt: skip

    def fought(self, task: QuestTask, zone: str) -> None:
        """Note that it has begun a fight for a task in a zone of `Travels`."""
        self._grounds[task.text] = zone

    def grounds_of(self, task: QuestTask) -> list[str]:
        """Return where it has fought for a task, and where a task with a count has advanced."""
        ground = self._grounds.get(task.text)
        advanced = self.zones_of(task) if task.count else []
        return [ground, *advanced] if ground is not None else advanced

    def zones_of(self, task: QuestTask) -> list[str]:
        """Return the zones in which a quest with a task has advanced last."""
        return [one.zone for one in self._progress.values() if task in one.tasks]

    def wild_texts(self, zone: str, *, first_only: bool) -> Iterator[str]:
        """Yield the texts of tasks that have come up in a zone and are no talks.

        With `first_only` those of other quests are left out while a first quest advances.
        """
        first = self.first_tasks() if first_only else []
        for task in first or self.tasks():
            if zone in self.zones_of(task) and not is_peaceful(task.text):
                yield task.text

    def _rank(self, quest: OpenQuest) -> int:
        """Return the place of the first wanted word that a quest has; their number without one."""
        text = f"{quest.title} {quest.category}"
        ranks = (rank for rank, word in enumerate(self._first) if has_word(text, (word,)))
        return next(ranks, len(self._first))

    def _is_aside(self, quest: int) -> bool:
        progress = self._progress.get(quest)
        if progress is None or quest not in self._journal.open:
            return False
        if any(is_crafting(task.text) for task in self._journal.open[quest].open_tasks):
            return True  # it makes nothing
        if self._is_too_hard(quest):
            return True
        is_first = self.is_first(self._journal.open[quest])
        if is_first and self._is_only_way(progress.zone):
            return False
        return self._now - progress.since > (PATIENT if is_first else SET_ASIDE)
