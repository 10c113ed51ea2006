"""The journeys of a client that plays: to a zone, to a place, to what it has not seen yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from emu.client.evening.errands import WALK_TIME, Errand, visit
from emu.client.evening.exploring import CELL, Dangers, Exploration
from emu.client.evening.places import PlaceSearch
from emu.client.evening.reading import (
    GOOD,
    LEAVING,
    TECHNICAL,
    fit,
    has_full_name,
    has_word,
    is_hunt,
    is_named_way,
    is_peaceful,
    is_sign,
    is_visit,
    landmarks,
    leads_to,
    may_be_way,
    may_have_choices,
    names_part_of,
    sides_of,
    words_of,
)
from emu.client.evening.seen import SeenSpawn, SeenSpawns
from emu.client.evening.travels import KnownWay, Travels
from emu.client.evening.visits import AGAIN, LATER, PastVisits
from emu.client.world import WorldClientCore
from emu.client.world.surroundings import Place
from emu.client.world.windows import QuestTask
from emu.times import Monotonic

TRAVELS_ON: Final = 5.0
"""Between two legs of a journey in one zone; doubled after each."""
SLOWEST: Final = 4.0
"""The speed, in world units per second, with which it plans a journey."""
MOST_WAYS: Final = 2
"""How often it takes a way to another zone at one state of the journal."""
WRONG_SIDE: Final = 10
"""How much worse than its dangers a place is that is on another side of the zone than a task says.
"""
NOTHING: Final = "Nothing happens"
"""What the world says to a verb that does nothing."""
NO_CHOICE: Final = "none"
"""What it chooses in the window of a thing of which it only wants to know where it leads."""


class PlayerJourneys:
    """The journeys of one player."""

    def __init__(
        self, core: WorldClientCore, spawns: SeenSpawns, visits: PastVisits,
        refused: Sequence[str], dangers: Dangers,
    ) -> None:  # fmt: skip
        """`dangers` rates the places of the present zone."""
        self._core = core
        self._spawns = spawns
        self._visits = visits
        self._refused = refused
        self._dangers = dangers
        self.zone = ""
        """The file of the present zone."""
        self.travels = Travels()
        self.exploration = Exploration()
        self._places = PlaceSearch()
        self.wanted = ""
        """What it chooses in the window of the thing that it uses."""
        self._used: tuple[KnownWay, Monotonic] | None = None
        """The thing that was used last, and when."""
        self._ways: dict[tuple[str, str], int] = {}
        """Zone and name of each thing that led to another zone; how often, at this state."""
        self._looked_into: set[tuple[str, str, tuple[float, float, float]]] = set()
        """The things of which it has looked where they lead: zone, name and place."""
        self._sides: dict[tuple[str, str], set[tuple[int, int]]] = {}
        """The sides of each zone that tasks have named, by the text above them."""
        self._journeys: Counter[tuple[str, str]] = Counter()
        """How many journeys it has begun for each task, by its text and the zone."""

    # -- what it sees -----------------------------------------------------------------------------

    def arrive(self, file: str, description: str, now: Monotonic) -> None:
        """Note that the player comes into a zone."""
        used = None
        if self._used is not None and now < self._used[1] + WALK_TIME:
            used = self._used[0]
            way = self.zone, used.name
            self._ways[way] = self._ways.get(way, 0) + 1
        self.travels.arrive(description, used)
        self._used = None
        self.zone, self.wanted = file, ""
        self.exploration.enter(file)
        self._places.arrive()
        self._visits.zone = file

    def look(self) -> None:
        """Note where the player is, and what it sees."""
        here, spawns = self._core.place, self._spawns.all()
        self.exploration.look(here, spawns)
        self._places.stand(here)
        self.travels.look(spawns)
        self.travels.guess_way_back(here, spawns)

    def offered(self, descriptions: Sequence[str]) -> None:
        """Note where the window of the thing leads that was used last."""
        if self._used is not None:
            self.travels.offered(self._used[0], descriptions)

    def read(self, text: str) -> None:
        """Read a line: it may say that the thing does nothing that was used last."""
        if NOTHING in text and self._used is not None:
            self.travels.led_nowhere(self._used[0])
            self._used = None

    def use(self, plan: Errand, spawn: SeenSpawn, now: Monotonic) -> None:
        """Note that a thing is used, which may lead to another zone."""
        self._used = (KnownWay(spawn.name, spawn.place), now)
        self.travels.doubt(self._used[0])
        if is_named_way(spawn.name) or plan.leaves:
            self.travels.use(spawn.name)
        self.wanted = plan.choice

    def leads_back(self, plan: Errand, spawn: SeenSpawn, verb: str) -> bool:
        """Return whether a thing that it tries as something new leads to where it was already.

        A new sign is used for the zone behind it; its verb may say that it knows that one.
        """
        travels = self.travels
        is_new = not self.is_way(spawn.name) and not travels.is_known_way(spawn.name, travels.zone)
        if plan.task is not None or not is_new:
            return False
        if not travels.reads(KnownWay(spawn.name, spawn.place), verb):
            return False
        self._ways[self.zone, spawn.name] = 0
        return True

    def renew(self) -> None:
        """Let each way be of use again: the journal or the level has changed."""
        self.travels.renew()
        self._ways = dict.fromkeys(self._ways, 0)

    def is_way(self, name: str) -> bool:
        """Return whether a thing of the present zone has led to another one."""
        return (self.zone, name) in self._ways

    def is_of_no_use(self, one: SeenSpawn, task: QuestTask, text: str) -> bool:
        """Return whether a text has the words of a thing only because both name a zone.

        A bell that leads there is of no use any more either if the player is in that zone.
        """
        if may_have_choices(one.name):
            return self.is_here(task)
        if TECHNICAL in one.name and is_hunt(task.text) and not may_be_way(one.name):
            return True  # "I must kill one gnoll" means no "gnoll_tent"
        if is_named_way(one.name) and self.travels.is_vain(one.name):
            return True
        if is_sign(one.name) and not leads_to(one.name, text):
            return True  # "the two southern guard towers" are not behind a "zone_to_qey_south"
        is_part = TECHNICAL in one.name and fit(one.name, text) <= GOOD
        if is_part and is_peaceful(task.text) and self.travels.knows_person(text):
            return True  # "take the goblin blood to Mizan" means no "goblin_tent01" on the way
        is_thing = TECHNICAL in one.name and not may_be_way(one.name)
        return is_thing and self.travels.is_of_zone(one.name, text)

    # -- where it goes ----------------------------------------------------------------------------

    def journey(self, task: QuestTask, now: Monotonic) -> Errand | None:
        """Return the way to a zone that a task means; another one each time if there are more."""
        by_sign = self._by_sign(task.text, task, now)
        if by_sign is not None:
            return by_sign
        zones = self.zones_of(task)
        for zone in sorted(zones, key=lambda zone: self._journeys[task.text, zone]):
            if zone == self.travels.zone:
                continue
            # It may have come from there by a way that leads in one direction, or only once.
            plan = None if self.travels.is_sure(zone) else self._by_sign(zone, task, now)
            if plan is not None:
                return plan
            way = self.travels.way_to(zone)
            if way is not None and self._visits.may_begin(f"to {zone}", task.text, now, TRAVELS_ON):
                self._journeys[task.text, zone] += 1
                return self.by(way, task, now)
        return None

    def _by_sign(self, text: str, task: QuestTask, now: Monotonic) -> Errand | None:
        """Return the way to a sign that leads to a zone of a text to which it knows no way."""
        for zone, sign in self.travels.signs(text):
            way = sign if zone == self.travels.zone else self.travels.way_to(zone)
            which = f"{sign.name} of {zone}"
            if way is not None and self._visits.may_begin(which, task.text, now, TRAVELS_ON):
                return self.by(way, task, now)
        return None

    def back(self, task: QuestTask, zones: Sequence[str], now: Monotonic) -> Errand | None:
        """Return the way to a zone where a task has come up or advanced.

        The player may have died there.
        """
        for zone in zones:
            way = self.travels.way_to(zone)
            which = f"back to {zone}"
            if way is not None and self._visits.may_travel(which, task.text, now, LATER):
                return self.by(way, task, now)
        return None

    def place_here(self, task: QuestTask, now: Monotonic) -> Errand | None:
        """Return the way to a point for a task to visit a place of this zone.

        That is one near a thing which the task names, or else one near the arrival. Whom a task
        wants killed "near the fog" may come when the player does.
        """
        marks = landmarks(task.text) if is_hunt(task.text) else frozenset()
        if not is_visit(task.text) and not marks:
            return None
        seen = [(one.name, one.place) for one in self._spawns.all()]
        for name, place in [*self._spawns.remembered.items(), *seen]:
            is_mark = not marks.isdisjoint(words_of(name.replace(TECHNICAL, " ")))
            is_meant = TECHNICAL in name and (is_mark or fit(name, task.text) >= GOOD)
            if is_meant and not self.travels.is_of_zone(name, task.text):
                self.look_near(task, place)
        here = self._core.place
        point = self._places.next_near(self.zone, task.text, here)
        if point is None and not marks:
            zones = self.travels.destinations(task.text)
            if zones and self.travels.zone not in zones:
                return None
            point = self._places.next_place(self.zone, task.text if zones else "")
        if point is None:
            return None
        until = Monotonic(now + AGAIN + here.distance_to(point) / SLOWEST)
        return Errand(point, None, "look", task, until)

    def look_near(self, task: QuestTask, place: Place) -> None:
        """Note that a thing is at a place which a task to visit names: what it means is near."""
        self._places.look_near(self.zone, task.text, place)

    def knows_where(self, task: QuestTask) -> bool:
        """Return whether it is in a zone that a task means, or knows a way there."""
        if self.travels.signs(task.text):
            return True
        travels = self.travels
        return any(
            zone == travels.zone or travels.way_to(zone) or travels.signs(zone)
            for zone in self.zones_of(task)
        )

    def is_here(self, task: QuestTask) -> bool:
        """Return whether a task means the present zone."""
        return self.travels.zone in self.zones_of(task)

    def zones_of(self, task: QuestTask) -> list[str]:
        """Return the zones that a task means, or else the text above it."""
        zones = self.travels.destinations(task.text)
        if not zones and is_hunt(task.text):
            zones = self.travels.homes_of_foes(task.text)
        names = has_full_name(task.text)  # the text above it may name who has given the task
        return zones or self.travels.destinations(task.group, is_prose=True, has_people=not names)

    def search(self, tasks: Sequence[QuestTask], now: Monotonic) -> Errand | None:
        """Return the way to a bell or the like whose window may show a zone that a task means."""
        if all(self.knows_where(task) for task in tasks):
            return None
        for one in self.near():
            which = self.zone, one.name, one.place[:3]
            is_new = which not in self._looked_into and not has_word(one.name, LEAVING)
            if is_new and may_have_choices(one.name):
                self._looked_into.add(which)
                return Errand(
                    one.place, one.index, "use", None, Monotonic(now + WALK_TIME), NO_CHOICE
                )
        return None

    def odd_way(self, now: Monotonic, task: QuestTask | None = None) -> Errand | None:
        """Return the way to a sign that names no zone that it knows: each one once.

        The arena "in the warehouse of northern Qeynos" is behind a
        "zone_to_qey_epic01_int_p19_cache", which has come with its quest.
        """
        for one in self.near():
            which = self.zone, one.name, one.place[:3]
            if not is_sign(one.name) or which in self._looked_into or self.is_way(one.name):
                continue
            if not self.travels.names_zone(one.name):
                self._looked_into.add(which)
                return visit(one, "use", now, task)
        return None

    def new_zone(self, now: Monotonic, *, is_lost: bool = False) -> Errand | None:
        """Return the way to a sign that it has never taken, or to a zone where it was never.

        Who `is_lost` with a task goes first to zones that windows have named: signs lead into wild
        country as well.
        """
        by_sign, by_name = self._by_new_sign, self._to_new_zone
        first, last = (by_name, by_sign) if is_lost else (by_sign, by_name)
        return first(now) or last(now)

    def new_part_of_city(self, now: Monotonic) -> Errand | None:
        """Return the way to a sign that it has never taken, and that names the city around it.

        "zone_to_fprt_west" in East Freeport leads to another part of Freeport.
        """
        return self._by_new_sign(now, is_of_city=True)

    def _by_new_sign(self, now: Monotonic, *, is_of_city: bool = False) -> Errand | None:
        for zone, sign in self.travels.new_signs():
            if is_of_city and not names_part_of(sign.name, zone):
                continue
            way = sign if zone == self.travels.zone else self.travels.way_to(zone)
            which = f"{sign.name} of {zone}"
            may_go = way is not None and not has_word(sign.name, self._refused)
            if may_go and self._visits.may_begin(which, "new", now, LATER):
                assert way is not None  # noqa: S101  # `may_go`
                return self.by(way, None, now)
        return None

    def _to_new_zone(self, now: Monotonic) -> Errand | None:
        for zone in self.travels.new_zones():
            way, is_refused = self.travels.way_to(zone), has_word(zone, self._refused)
            if way and not is_refused and self._visits.may_begin(f"to {zone}", "new", now, LATER):
                return self.by(way, None, now)
        return None

    def exit(self, now: Monotonic) -> Errand | None:
        """Return the way to a thing whose name says that it leads out of the zone."""
        for one in self.near():
            if has_word(one.name, LEAVING) and self._visits.may_begin(one.name, "exit", now, LATER):
                return visit(one, "use", now)
        return self.seen_before(lambda name: has_word(name, LEAVING), "exit", None, now)

    def by(self, way: KnownWay, task: QuestTask | None, now: Monotonic) -> Errand:
        """Return the errand that takes a way to another zone."""
        here = self._core.place
        same = [one for one in self._spawns.all() if one.name == way.name]
        nearest = min(same, key=lambda one: way.place.distance_to(one.place), default=None)
        until = Monotonic(now + WALK_TIME + here.distance_to(way.place) / SLOWEST)
        if nearest is None or way.place.distance_to(nearest.place) > CELL:
            return Errand(way.place, None, "look", task, until)
        return Errand(
            nearest.place, nearest.index, "use", task, until, way.choice, leaves=True
        )  # fmt: skip

    def seen_before(
        self, is_meant: Callable[[str], bool], why: str, task: QuestTask | None, now: Monotonic
    ) -> Errand | None:
        """Return the way to where a name was seen that is not in sight."""
        here = self._core.place
        names = {one.name for one in self._spawns.all()}
        for name, place in self._spawns.remembered.items():
            if name in names or has_word(name, self._refused) or not is_meant(name):
                continue
            if here.distance_to(place) >= CELL and self._visits.may_begin(
                f"place of {name}", why, now
            ):
                return Errand(place, None, "look", task, Monotonic(now + WALK_TIME))
        return None

    def unseen_place(self, now: Monotonic) -> Errand | None:
        """Return the way to where it was not."""
        place = self.exploration.next_place(self._core.place, self._dangers)
        until = Monotonic(now + WALK_TIME)
        return Errand(place, None, "look", None, until) if place is not None else None

    def far_place(self, now: Monotonic, tasks: Sequence[QuestTask] = ()) -> Errand | None:
        """Return the way to where it has passed nobody yet, until it has met all of a zone.

        If the tasks of this zone name one side of it, that comes first.
        """
        if self.exploration.has_surveyed:
            return None
        sides: set[tuple[int, int]] = set()
        for task in tasks:
            if self.is_here(task):
                # Who else the same text above the tasks is about is not far from there.
                known = self._sides.setdefault((self.zone, task.group), set())
                known |= sides_of(task.text)
                sides |= known
        middle = self.exploration.middle()

        def rated(place: Place) -> int | None:
            danger = self._dangers(place)
            if danger is None or len(sides) != 1:
                return danger
            ((right, up),) = sides
            is_there = right * (place.x - middle[0]) + up * (place.z - middle[1]) > 0.0
            return danger if is_there else danger + WRONG_SIDE

        place = self.exploration.next_far_place(self._core.place, rated)
        until = Monotonic(now + WALK_TIME)
        return Errand(place, None, "look", None, until) if place is not None else None

    def way_out(self, now: Monotonic) -> Errand | None:
        """Return the way to another zone: what is open may be done there.

        Ways that were taken in vain come last, when it has looked around here again and again.
        """
        ways = [one for one in self.near() if (self.zone, one.name) in self._ways]
        for one in sorted(ways, key=lambda one: self._ways[self.zone, one.name]):
            if self._is_open_way(one.name) and self._visits.may_begin(one.name, "way", now, LATER):
                return replace(visit(one, "use", now), leaves=True)
        return self.seen_before(
            lambda name: self._is_open_way(name) or self._is_new_way(name), "way", None, now
        )

    def _is_new_way(self, name: str) -> bool:
        return may_be_way(name) and (self.zone, name) not in self._ways

    def _is_open_way(self, name: str) -> bool:
        most = MOST_WAYS * self.exploration.rounds.get(self.zone, 1)
        return self._ways.get((self.zone, name), most) < most

    def near(self) -> Iterator[SeenSpawn]:
        """Yield those who live, are no enemies and not refused, the nearest first."""
        near = self._spawns.peaceful(self._core.place)
        return (one for one in near if not has_word(one.name, self._refused))

    def near_and_safe(self) -> Iterator[SeenSpawn]:
        """Yield those of `near` to whom it goes though it may have died there."""
        return (one for one in self.near() if self._dangers(one.place) is not None)
