"""Attempts of a client that plays at things that no task names: marks, people, things.

Each is tried once until the journal, the level or the zone's exploration goes on: a player who
tried all the things of a square again and again would never see the rest of the zone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from emu.client.evening.agenda import Agenda
from emu.client.evening.errands import Errand, visit
from emu.client.evening.journeys import PlayerJourneys
from emu.client.evening.reading import is_gathering, is_hunt, may_be_way
from emu.client.evening.visits import ONCE_MORE, PastVisits
from emu.times import Monotonic

NOT_AGAIN: Final = 1e8
"""The pause before a second try that is made only after a change."""
MOST_TRIES: Final = 3
"""How many things of one name it tries before a change: forty crates of a square are all alike."""
HARVESTING: Final = ("gather", "mine", "chop", "fish", "trap", "collect", "forest")
"""The verbs of what grows again everywhere; it is of use only to a task that wants it gathered."""


class Tries:
    """What one player tries."""

    def __init__(
        self, agenda: Agenda, journeys: PlayerJourneys, visits: PastVisits,
        is_unfinished: Callable[[], bool] = bool,
    ) -> None:  # fmt: skip
        """`is_unfinished` says whether the last talk has answers yet that were never given."""
        self._agenda = agenda
        self._journeys = journeys
        self._visits = visits
        self._is_unfinished = is_unfinished
        self._last_talker = ""
        """Who has talked last; empty when it has gone back there."""
        self.met: set[str] = set()
        """Names that were hailed."""
        self.talkers: set[str] = set()
        """Names that have answered with a dialog."""
        self._nodes: set[str] = set()
        """Names of what can be harvested."""
        self._tried: Counter[str] = Counter()
        """How many things of each name it has tried since the last change."""

    def talked(self, name: str) -> None:
        """Note that somebody has answered with a dialog."""
        self.talkers.add(name)
        self._last_talker = name

    def talks_on(self, name: str) -> bool:
        """Return whether it hails somebody again at once: the talk has ended, but it may go on.

        It does so once for each talk.
        """
        if name != self._last_talker or not self._is_unfinished():
            return False
        self._last_talker = ""
        return True

    def renew(self) -> None:
        """Let each next try come at once: the journal or the level has changed."""
        self._visits.renew()
        self._tried.clear()

    def is_wanted(self, name: str, verb: str) -> bool:
        """Return whether a thing is of use by its verb, and note what can be harvested."""
        if verb not in HARVESTING:
            return True
        self._nodes.add(name)
        return self._wants_harvest

    def mark(self, now: Monotonic) -> Errand | None:
        """Return the way to the nearest mark of a quest."""
        for one in self._journeys.near_and_safe():
            if one.mark and self._visits.may_begin(one.name, "mark", now, ONCE_MORE):
                return visit(one, "talk", now)
        return None

    def person(self, now: Monotonic) -> Errand | None:
        """Return the way to somebody who was not met, or who may have something new to say."""
        for one in self._journeys.near_and_safe():
            if not one.name[:1].isupper() or not one.level:
                continue
            may_have_news = one.name not in self.met or one.name in self.talkers
            if may_have_news and self._is_new(one.name, "unmet", now):
                return visit(one, "talk", now)
        return None

    def thing(self, now: Monotonic, *, is_short_of_time: bool = False) -> Errand | None:
        """Return the way to a thing that can be used, if a task waits or nothing else is here.

        Without a task that advances only what may lead to another zone is of use, and such a thing
        only where the zone was seen as a whole: what a task wants may be around the next corner.
        """
        has_tasks = bool(self._agenda.tasks())
        has_seen_all = self._journeys.exploration.has_seen_all
        tries_ways = has_seen_all and not self._hunts_here()
        if not has_tasks and not has_seen_all:
            return None
        unwanted = set() if self._wants_harvest else self._nodes
        things = list(self._journeys.near_and_safe())
        if is_short_of_time:
            things = [one for one in things if one.shows_verb] or things
        for one in things:
            is_way = self._journeys.is_way(one.name) or self._journeys.travels.is_vain(one.name)
            if is_way or (one.level and one.name[:1].isupper()) or one.name in unwanted:
                continue
            is_of_use = tries_ways if may_be_way(one.name) else has_tasks
            if not is_of_use or self._tried[self._key(one.name)] >= MOST_TRIES:
                continue
            if self._is_new(f"{one.name} {one.place[:3]}", "thing", now):
                self._tried[self._key(one.name)] += 1
                return visit(one, "use", now)
        return None

    def _hunts_here(self) -> bool:
        """Return whether all that it does first is to hunt what it has seen in this zone."""
        tasks, travels = self._agenda.first_tasks(), self._journeys.travels
        return bool(tasks) and all(
            is_hunt(task.text) and travels.zone in travels.homes_of_foes(task.text)
            for task in tasks
        )  # fmt: skip

    def _is_new(self, name: str, why: str, now: Monotonic) -> bool:
        """Return whether it has not tried something since the last change; count the try."""
        return self._visits.may_begin(name, self._key(why), now, NOT_AGAIN)

    def _key(self, text: str) -> str:
        """Return a text with the zone, and how often it has seen that as a whole."""
        zone = self._journeys.zone
        return f"{text} in {zone} {self._journeys.exploration.rounds.get(zone, 0)}"

    @property
    def _wants_harvest(self) -> bool:
        return any(is_gathering(task.text) for task in self._agenda.tasks())
