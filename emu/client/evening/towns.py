"""The search of a client that plays for somebody of a town, who gives a quest or whom a task names.

It sees the towns that it knows as a whole, one after the other, and then goes to new zones.
"""

from __future__ import annotations

from collections.abc import Sequence

from emu.client.evening.errands import Errand
from emu.client.evening.journeys import PlayerJourneys
from emu.client.evening.tries import Tries
from emu.client.evening.visits import LATER, PastVisits
from emu.times import Monotonic


class TownSearch:
    """The towns that one player looks through."""

    def __init__(self, journeys: PlayerJourneys, tries: Tries, visits: PastVisits) -> None:
        self._journeys = journeys
        self._tries = tries
        self._visits = visits
        self._known: set[str] = set()
        """The towns where it has met all people."""

    def way(self, now: Monotonic, *, takes_quests: bool) -> Errand | None:
        """Return the way to a mark, a new part of a town or a town.

        Who does not take quests seeks somebody for a task, also in other parts of a city, and where
        it has met but a few people and hardly an enemy: there may be a town, too.
        """
        travels, towns = self._journeys.travels, self._journeys.travels.towns()
        likely = [] if takes_quests else travels.likely_towns()
        if self._journeys.exploration.has_surveyed:
            self._known.add(travels.zone)
        if travels.zone in towns or travels.zone in likely:
            mark = self._tries.mark(now) if takes_quests else None
            plan = mark or self._journeys.far_place(now)
            if plan is not None:
                return plan
        plan = self._to_one_of(towns, now)
        if plan is None and not takes_quests:
            plan = self._journeys.new_part_of_city(now) or self._to_one_of(likely, now)
        return plan or self._journeys.new_zone(now, is_lost=not takes_quests)

    def _to_one_of(self, towns: Sequence[str], now: Monotonic) -> Errand | None:
        for town in towns:
            way = self._journeys.travels.way_to(town)
            if way is None or town in self._known or town == self._journeys.travels.zone:
                continue
            if self._visits.may_begin(f"to {town}", "town", now, LATER):
                return self._journeys.by(way, None, now)
        return None
