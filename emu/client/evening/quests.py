"""The quests of a client that plays: it finds the spawn that a task names, and goes there.

Whoever has the mark of a quest is hailed, then everybody once who has a name. When there is nothing
to do, the player looks around, and fights what gives experience. A quest that does not advance is
set aside. If lines say that there are levels elsewhere only, the player looks for the way out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from emu.client.evening.errands import Errand
from emu.client.evening.exploring import CELL, Exploration
from emu.client.evening.fighting import Fighting
from emu.client.evening.hints import Hints
from emu.client.evening.journal import SeenJournal
from emu.client.evening.reading import (
    GOOD,
    LEAVING,
    WEAK,
    fit,
    has_word,
    is_peaceful,
    is_placing,
    may_be_way,
    resemblance,
    words_of,
)
from emu.client.evening.seen import SeenSpawn, SeenSpawns
from emu.client.evening.shopping import Shopping
from emu.client.evening.travels import KnownWay, Travels
from emu.client.world import WorldClientCore
from emu.client.world.events import (
    DialogOpened,
    LineShown,
    ScreenShown,
    WaysShown,
    WorldEvent,
    ZoneToLoad,
)
from emu.client.world.windows import GoodsShown, QuestTask, VerbsShown
from emu.times import Monotonic

TALK_REACH: Final = 4.0
AGAIN: Final = 15.0
"""Between two visits to the same ghost for the same task; doubled after each visit.

After a change of the journal or of the level the next visit may come at once.
"""
TRAVELS_ON: Final = 5.0
"""Between two legs of a journey in one zone; doubled after each."""
LATER: Final = 120.0
ONCE_MORE: Final = 400.0
"""Between two visits without a reason."""
WAITING: Final = 3.0
"""How long it waits for what follows a hail or a use."""
TALK_GOES_ON: Final = 30.0
"""How long after a dialog it looks for nobody else."""
USING: Final = 6.5
"""How long it stands still after it has begun to use a thing: some take 5 seconds."""
WALK_TIME: Final = 90.0
SLOWEST: Final = 4.0
"""The speed, in world units per second, with which it plans a journey."""
SET_ASIDE: Final = 600.0
"""A quest that has not advanced for so long is no reason to stay, to look around or to try things.
"""
MOST_KILLS: Final = 8
"""How many of a name it kills for a task that does not advance by that."""
MOST_WAYS: Final = 2
"""How often it takes a way to another zone at one state of the journal."""
ABOVE: Final = 1
"""How many levels above its own an enemy may have."""
BELOW: Final = 3
LONG_AGO: Final = Monotonic(-1e9)
BUYING: Final = frozenset(("buy", "purchase", "merchant"))
FROM_MERCHANT: Final = "frommerchant"
CREATURE: Final = "creature"
"""What a task calls those of which any will do."""
TALKING: Final = ("hail",)
ATTACKING: Final = ("attack",)


class Questing:
    """The quests of one player."""

    def __init__(
        self, core: WorldClientCore, spawns: SeenSpawns, journal: SeenJournal,
        fighting: Fighting, *, note: Callable[[str, str], None], preferred: Sequence[str],
        refused: Sequence[str],
    ) -> None:  # fmt: skip
        self._core = core
        self._spawns = spawns
        self._journal = journal
        self._fighting = fighting
        self._note = note
        self._preferred = preferred
        self._refused = refused
        self._plan: Errand | None = None
        self._verbs: VerbsShown | None = None
        self._busy_until = Monotonic(0.0)
        self._visits: dict[tuple[str, str], tuple[int, Monotonic]] = {}
        self._state: tuple[int, int] = (0, 0)
        self._met: set[str] = set()
        """Names that were hailed."""
        self._talkers: set[str] = set()
        """Names that have answered with a dialog."""
        self._shopping = Shopping(core, note)
        self._used: tuple[KnownWay, Monotonic] | None = None
        """The thing that was used last, and when."""
        self.wanted = ""
        """What it chooses in the window of the thing that it uses."""
        self.travels = Travels()
        self._ways: dict[tuple[str, str], int] = {}
        """Zone and name of each thing that led to another zone; how often, at this state."""
        self._progress: dict[int, tuple[tuple[QuestTask, ...], Monotonic, str]] = {}
        """The tasks of each quest, when they have changed, and in which zone."""
        self._zone = ""
        self.hints = Hints()
        self.exploration = Exploration()
        self._now = LONG_AGO
        self._kills: Counter[tuple[str, str]] = Counter()
        """Fights for each task, by the text and the enemy's name, since the task has advanced."""
        self._journeys: Counter[tuple[str, str]] = Counter()
        """Journeys for each task, by its text and the zone."""
        self._known_towns: set[str] = set()
        self._placed: set[str] = set()
        """Tasks to place a thing for which it has parted with one."""
        self._last_hailed = ""
        self._talked_at = LONG_AGO
        self._tries: Counter[str] = Counter()

    # -- what it sees -----------------------------------------------------------------------------

    def handle_event(self, event: WorldEvent, now: Monotonic) -> None:
        """Handle an event of the client."""
        match event:
            case ZoneToLoad(file, description):
                self._arrive(file, description, now)
            case WaysShown(_, ways) if self._used is not None:
                self.travels.offered(self._used[0], [one.name for one in ways])
            case LineShown(_, text) | ScreenShown(text):
                self.hints.read(text, level=self._fighting.level, zone=self._zone)
            case VerbsShown():
                self._verbs = event
            case DialogOpened():
                self._talkers.add(self._last_hailed)
                self._talked_at = now
            case GoodsShown():
                self._shopping.deal(event, self._tasks())
            case _:
                pass

    def _arrive(self, file: str, description: str, now: Monotonic) -> None:
        used = None
        if self._used is not None and now < self._used[1] + WALK_TIME:
            used = self._used[0]
            way = self._zone, used.name
            self._ways[way] = self._ways.get(way, 0) + 1
        self.travels.arrive(description, used)
        self._used = self._plan = None
        self._zone, self.wanted = file, ""
        self.exploration.enter(file)

    @property
    def may_leave(self) -> bool:
        """Whether it would leave the zone: nothing is to be done here, or it has to."""
        return self._must_leave or (self.exploration.has_seen_all and not self._tasks())

    @property
    def _must_leave(self) -> bool:
        return self.hints.must_leave(self._fighting.level, self._zone)

    # -- what it does -----------------------------------------------------------------------------

    def think(self, now: Monotonic) -> None:
        """Go on with the plan, or make another one."""
        here = self._core.place
        spawns = self._spawns.all()
        self.exploration.look(here, spawns)
        self.travels.look(spawns)
        state = (self._journal.changes, self._fighting.level)
        if state != self._state:
            self._state = state
            self._visits = {key: (count, LONG_AGO) for key, (count, _) in self._visits.items()}
            self._ways = dict.fromkeys(self._ways, 0)
        for number, quest in self._journal.open.items():
            if self._progress.get(number, (None,))[0] != quest.tasks:
                self._progress[number] = (quest.tasks, now, self._zone)
                for task in quest.tasks:
                    for key in [one for one in self._kills if one[0] == task.text]:
                        del self._kills[key]
        self._now = now
        if now < self._busy_until:
            return
        if self._plan is None:
            self._plan = self._next_plan(now)
        if self._plan is not None and self._follow(self._plan, now):
            self._plan = None

    def _follow(self, plan: Errand, now: Monotonic) -> bool:
        """Go on with a plan; return whether it is over."""
        if now > plan.until:
            return True
        spawn = self._spawns.get(plan.index) if plan.index is not None else None
        place = spawn.place if spawn is not None else plan.place
        reach = TALK_REACH if plan.index is not None else CELL / 4
        if not self._fighting.approach(place, reach, now):
            return False
        if spawn is None:
            return True
        return self._use(plan, spawn, now)

    def _use(self, plan: Errand, spawn: SeenSpawn, now: Monotonic) -> bool:
        """Do what a plan wants with a ghost that is in reach; return whether that is done."""
        core = self._core
        if not plan.has_asked:
            self._verbs = None
            core.target(spawn.index)
            core.ask_verbs(spawn.index)
            plan.has_asked = True
            self._busy_until = Monotonic(now + 1.0)
            return False
        verbs = self._verbs.verbs if self._verbs is not None else ()
        commands = [command.casefold() for command, _ in verbs]
        self._busy_until = Monotonic(now + WAITING)
        if self._is_for_buying(plan) and FROM_MERCHANT in commands:
            self._shopping.may_buy = True
            core.use(spawn.index, FROM_MERCHANT)
            return True
        if not commands or any(one in TALKING for one in commands):
            self._last_hailed = spawn.name
            self._met.add(spawn.name)
            core.command("hail")
        elif commands[0] in ATTACKING:
            self._fighting.attack(spawn.index, now)
        else:
            self._note("use", f"{spawn.name}: {commands[0]}")
            self._used = (KnownWay(spawn.name, spawn.place), now)
            self.wanted = plan.choice
            self._busy_until = Monotonic(now + USING)
            core.use(spawn.index, commands[0])
        return True

    def _is_for_buying(self, plan: Errand) -> bool:
        return plan.task is not None and bool(BUYING & set(words_of(plan.task.text)))

    # -- plans ------------------------------------------------------------------------------------

    def _tasks(self, *, is_aside: bool = False) -> list[QuestTask]:
        """Return the open tasks of quests that advance, or of those that it has set aside.

        Those of preferred quests come first, then those that were tried least.
        """
        found = [
            (not has_word(quest.title, self._preferred), self._tries[task.text], task)
            for number, quest in reversed(list(self._journal.open.items()))
            if self._is_aside(number) is is_aside for task in quest.open_tasks
        ]  # fmt: skip
        return [task for *_, task in sorted(found, key=lambda one: one[:2])]

    def _is_aside(self, quest: int) -> bool:
        progress = self._progress.get(quest)
        return progress is not None and self._now - progress[1] > SET_ASIDE

    def _next_plan(self, now: Monotonic) -> Errand | None:
        tasks = [*self._tasks(), *self.hints.tasks(self._journal.changes)]
        plan = self._through_town(now) or self._plan_of(tasks, now)
        if plan is not None or self._fighting.enemy is not None:
            return plan
        # Whoever has just talked may have more to say: its script goes on after a while.
        if now < self._talked_at + TALK_GOES_ON and not self._journal.open:
            return None
        if self._must_leave:
            return self._exit(now) or self._marked(now) or self._around(now)
        return (
            self._marked(now) or self._errand_aside(now) or self._thing(now) or self._unmet(now)
            or self._on_the_spot(now) or self._plan_aside(now) or self._around(now)
        )  # fmt: skip

    def _through_town(self, now: Monotonic) -> Errand | None:
        """Return the way to a mark, a new part of a town or a town if a level needs somebody."""
        if self._must_leave or not self.hints.is_stopped(self._fighting.level):
            return None
        if self.exploration.has_seen_all:
            self._known_towns.add(self.travels.zone)
        elif self.travels.zone in self.travels.towns() and self._fighting.enemy is None:
            return self._marked(now) or self._unseen_place(now)
        for town in self.travels.towns():
            way = self.travels.way_to(town)
            is_new = town not in self._known_towns and town != self.travels.zone
            if is_new and way is not None and self._may_visit(f"to {town}", "town", now, LATER):
                return self._by(way, None, now)
        return None

    def _plan_aside(self, now: Monotonic) -> Errand | None:
        """Return the plan for a task that it has set aside, if no fight gives experience."""
        is_stopped = self.hints.is_stopped(self._fighting.level) and not self._tasks()
        return self._plan_of(self._tasks(is_aside=True), now) if is_stopped else None

    def _errand_aside(self, now: Monotonic) -> Errand | None:
        """Return the way to somebody in sight whom a quest names that it has set aside."""
        for task in self._tasks(is_aside=True):
            for one in self._near():
                is_meant = fit(one.name, task.text) >= GOOD
                if is_meant and self._may_visit(one.name, task.text, now, ONCE_MORE):
                    return self._visit(one, "talk", now, task)
        return None

    def _plan_of(self, tasks: Sequence[QuestTask], now: Monotonic) -> Errand | None:
        """Return the plan for the first task that has one; None also if it begins a fight."""
        for task in tasks:
            plan = self._plan_for(task, now)
            if plan is not None or self._fighting.enemy is not None:
                self._tries[task.text] += 1
                return plan
        return None

    def _exit(self, now: Monotonic) -> Errand | None:
        """Return the way to a thing whose name says that it leads out of the zone."""
        for one in self._near():
            if has_word(one.name, LEAVING) and self._may_visit(one.name, "exit", now, LATER):
                return self._visit(one, "use", now)
        return self._seen_before(lambda name: has_word(name, LEAVING), "exit", None, now)

    def _place_thing(self, task: QuestTask) -> None:
        """Part with the newest thing for a task to place it; houses hold no things yet."""
        if is_placing(task.text) and task.text not in self._placed:
            self._placed.add(task.text)
            self._fighting.part_with_newest()

    def _plan_for(self, task: QuestTask, now: Monotonic) -> Errand | None:
        """Return how a task goes on; a fight begins at once.

        The text of the task names whom it is about; the text above it may name others as well.
        """
        self._place_thing(task)
        plan = self._plan_by(task.text, task, now, AGAIN)
        if plan is not None or self._fighting.enemy is not None:
            return plan
        return (
            self._remembered(task.text, task, now)
            or self._journey(task, now)
            or self._plan_by(f"{task.text} {task.group}", task, now, ONCE_MORE)
        )

    def _journey(self, task: QuestTask, now: Monotonic) -> Errand | None:
        """Return the way to a zone that a task means; another one each time if there are more."""
        zones = self.travels.destinations(task.text)
        zones = zones or self.travels.destinations(task.group, is_prose=True)
        for zone in sorted(zones, key=lambda zone: self._journeys[task.text, zone]):
            if zone == self.travels.zone:
                continue
            way = self.travels.way_to(zone)
            if way is not None and self._may_visit(f"to {zone}", task.text, now, TRAVELS_ON):
                self._journeys[task.text, zone] += 1
                return self._by(way, task, now)
        return None

    def _by(self, way: KnownWay, task: QuestTask | None, now: Monotonic) -> Errand:
        """Return the errand that takes a way to another zone."""
        here = self._core.place
        same = [one for one in self._spawns.all() if one.name == way.name]
        nearest = min(same, key=lambda one: way.place.distance_to(one.place), default=None)
        until = Monotonic(now + WALK_TIME + here.distance_to(way.place) / SLOWEST)
        if nearest is None or way.place.distance_to(nearest.place) > CELL:
            return Errand(way.place, None, "look", task, until)
        return Errand(nearest.place, nearest.index, "use", task, until, way.choice)

    def _plan_by(self, text: str, task: QuestTask, now: Monotonic, pause: float) -> Errand | None:
        """Return the way to somebody in sight whom a text of a task names, or begin a fight."""
        found = [
            (fit(one.name, text), one) for one in self._spawns.all()
            if not one.is_dead and not has_word(one.name, self._refused)
        ]  # fmt: skip
        # "Report the goblins' death to Mizan" is no task to kill goblins.
        is_calm = is_peaceful(task.text)
        good = [
            (much, one) for much, one in found
            if much >= GOOD and not (is_calm and one.is_enemy)
        ]  # fmt: skip
        here = self._core.place
        good.sort(key=lambda pair: (-pair[0], here.distance_to(pair[1].place)))
        for _, one in good:
            if one.is_enemy:
                if self._fighting.may_attack(one, now) and self._is_weak(one):
                    if self._kills[task.text, one.name] >= MOST_KILLS:
                        continue
                    self._kills[task.text, one.name] += 1
                    self._fighting.attack(one.index, now)
                    return None
            elif self._may_visit(one.name, task.text, now, pause):
                return self._visit(one, "talk", now, task)
        if not good and not is_calm and not self._fights_any(text, now):
            self._fights_like(text, now)
        return None

    def _fights_any(self, text: str, now: Monotonic) -> bool:
        """Attack the nearest enemy if a text means every creature; return whether there is one."""
        if CREATURE not in words_of(text):
            return False
        nearest = next(iter(self._weak(now)), None)
        if nearest is not None:
            self._fighting.attack(nearest.index, now)
        return nearest is not None

    def _fights_like(self, text: str, now: Monotonic) -> bool:
        """Attack an enemy whose name resembles a text; return whether there is one."""
        found = [(resemblance(one.name, text), one) for one in self._weak(now)]
        like = [(much, one) for much, one in found if much >= WEAK]
        if not like:
            return False
        here = self._core.place
        _, one = max(like, key=lambda pair: (pair[0], -here.distance_to(pair[1].place)))
        # Only now and then: the search for somebody whose name fits must go on.
        if not self._may_visit(f"like {one.name}", text, now, LATER):
            return False
        self._fighting.attack(one.index, now)
        return True

    def _remembered(self, text: str, task: QuestTask, now: Monotonic) -> Errand | None:
        """Return the way to where somebody was seen whom a task names."""
        return self._seen_before(lambda name: fit(name, text) >= GOOD, task.text, task, now)

    def _seen_before(
        self, is_meant: Callable[[str], bool], why: str, task: QuestTask | None, now: Monotonic
    ) -> Errand | None:
        """Return the way to where a name was seen that is not in sight."""
        here = self._core.place
        names = {one.name for one in self._spawns.all()}
        for name, place in self._spawns.remembered.items():
            if name in names or has_word(name, self._refused) or not is_meant(name):
                continue
            if here.distance_to(place) >= CELL and self._may_visit(f"place of {name}", why, now):
                return Errand(place, None, "look", task, Monotonic(now + WALK_TIME))
        return None

    def _weak(self, now: Monotonic) -> list[SeenSpawn]:
        """Return the enemies that it would attack, the nearest first."""
        here = self._core.place
        found = [
            one for one in self._spawns.all()
            if self._fighting.may_attack(one, now) and self._is_weak(one)
        ]  # fmt: skip
        return sorted(found, key=lambda one: here.distance_to(one.place))

    def _is_weak(self, one: SeenSpawn) -> bool:
        return one.level <= self._fighting.level + ABOVE

    def _visit(
        self, one: SeenSpawn, what: str, now: Monotonic, task: QuestTask | None = None
    ) -> Errand:
        return Errand(one.place, one.index, what, task, Monotonic(now + WALK_TIME))

    def _may_visit(self, name: str, why: str, now: Monotonic, pause: float = AGAIN) -> bool:
        """Return whether it goes to somebody again after some seconds, and count that."""
        key = f"{self._zone} {name}", why
        count, last = self._visits.get(key, (0, LONG_AGO))
        if now - last < min(pause * 2 ** min(count - 1, 10), max(pause, ONCE_MORE)):
            return False
        self._visits[key] = (count + 1, now)
        return True

    def _near(self) -> Iterator[SeenSpawn]:
        """Yield those who live, are no enemies and not refused, the nearest first."""
        return (one for one in self._peaceful() if not has_word(one.name, self._refused))

    def _peaceful(self) -> Iterator[SeenSpawn]:
        """Yield those who live and are no enemies, the nearest first."""
        here = self._core.place
        for one in sorted(self._spawns.all(), key=lambda one: here.distance_to(one.place)):
            if not one.is_enemy and not one.is_dead:
                yield one

    def _marked(self, now: Monotonic) -> Errand | None:
        """Return the way to the nearest mark of a quest."""
        for one in self._near():
            if one.mark and self._may_visit(one.name, "mark", now, ONCE_MORE):
                return self._visit(one, "talk", now)
        return None

    def _unmet(self, now: Monotonic) -> Errand | None:
        """Return the way to somebody who was not met, or who may have something new to say."""
        for one in self._near():
            if not one.name[:1].isupper() or not one.level:
                continue
            may_have_news = one.name not in self._met or one.name in self._talkers
            if may_have_news and self._may_visit(one.name, "unmet", now, ONCE_MORE):
                return self._visit(one, "talk", now)
        return None

    def _thing(self, now: Monotonic) -> Errand | None:
        """Return the way to a thing that can be used, if a task waits or nothing else is here.

        Without a task that advances only what may lead to another zone is of use.
        """
        has_tasks = bool(self._tasks())
        if not has_tasks and not self.exploration.has_seen_all:
            return None
        for one in self._near():
            is_way = (self._zone, one.name) in self._ways
            if is_way or (one.level and one.name[:1].isupper()):
                continue
            which = f"{one.name} {one.place[:3]}"
            is_of_use = has_tasks or may_be_way(one.name)
            if is_of_use and self._may_visit(which, "thing", now, ONCE_MORE):
                return self._visit(one, "use", now)
        return None

    def _on_the_spot(self, now: Monotonic) -> Errand | None:
        """Return the way to somebody for a task that names nobody, or begin a fight.

        "I need to judge the traitors." has come up in this zone, so they may be anybody here.
        """
        if not self.exploration.has_seen_all:
            return None
        texts = [
            task.text for number, (tasks, _, zone) in self._progress.items()
            if zone == self._zone and number in self._journal.open and not self._is_aside(number)
            for task in tasks if not task.is_done and not is_peaceful(task.text)
        ]  # fmt: skip
        for text in texts:
            # Whom it refuses elsewhere may be the one to be judged.
            for one in self._peaceful():
                which = f"{one.name} {one.index}"
                # A talk has more answers than one visit gives.
                pause = AGAIN if one.name in self._talkers else ONCE_MORE
                if one.level and self._may_visit(which, text, now, pause):
                    return self._visit(one, "talk", now)
            for one in self._weak(now):
                if self._kills[text, one.name] < MOST_KILLS:
                    self._kills[text, one.name] += 1
                    self._fighting.attack(one.index, now)
                    return None
        return None

    def _around(self, now: Monotonic) -> Errand | None:
        """Go where it was not, or fight for experience; with a task the first thing first."""
        if self._fighting.enemy is not None:
            return None
        if not self._tasks():
            self._prey(now)
            return self._new_place(now)
        errand = self._new_place(now)
        if errand is None:
            self._prey(now)
        return errand

    def _prey(self, now: Monotonic) -> None:
        """Attack the nearest enemy of about its own level, if that gives experience."""
        here, level = self._core.place, self._fighting.level
        if self.hints.is_stopped(level):
            return
        prey = [
            one for one in self._spawns.all()
            if self._fighting.may_attack(one, now) and level - BELOW <= one.level <= level
        ]  # fmt: skip
        if prey:
            nearest = min(prey, key=lambda one: here.distance_to(one.place))
            self._fighting.attack(nearest.index, now)

    def _new_place(self, now: Monotonic) -> Errand | None:
        """Return the way to where it was not; without one the way to another zone."""
        if self._fighting.enemy is not None:
            return None
        return self._unseen_place(now) or self._way_out(now)

    def _unseen_place(self, now: Monotonic) -> Errand | None:
        """Return the way to where it was not."""
        place = self.exploration.next_place(self._core.place)
        until = Monotonic(now + WALK_TIME)
        return Errand(place, None, "look", None, until) if place is not None else None

    def _way_out(self, now: Monotonic) -> Errand | None:
        """Return the way to another zone: what is open may be done there.

        Ways that were taken in vain come last, when it has looked around here again and again.
        """
        ways = [one for one in self._near() if (self._zone, one.name) in self._ways]
        for one in sorted(ways, key=lambda one: self._ways[self._zone, one.name]):
            if self._is_open_way(one.name) and self._may_visit(one.name, "way", now, LATER):
                return self._visit(one, "use", now)
        return self._seen_before(
            lambda name: self._is_open_way(name) or self._is_new_way(name), "way", None, now
        )

    def _is_new_way(self, name: str) -> bool:
        return may_be_way(name) and (self._zone, name) not in self._ways

    def _is_open_way(self, name: str) -> bool:
        most = MOST_WAYS * self.exploration.rounds.get(self._zone, 1)
        return self._ways.get((self._zone, name), most) < most
