"""The quests of a client that plays: it finds the spawn that a task names, and goes there.

Whoever has the mark of a quest is hailed, then everybody once who has a name. When there is nothing
to do, the player looks around, and fights what gives experience. A quest that does not advance is
set aside. If lines say that there are levels elsewhere only, the player looks for the way out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from emu.client.evening.agenda import Agenda
from emu.client.evening.errands import CLOSE_REACH, WALK_TIME, Errand, visit
from emu.client.evening.exploring import CELL
from emu.client.evening.fears import Danger
from emu.client.evening.fighting import Fighting
from emu.client.evening.hints import Hints
from emu.client.evening.journal import SeenJournal
from emu.client.evening.journeys import PlayerJourneys
from emu.client.evening.pauses import Pauses
from emu.client.evening.placing import Placing
from emu.client.evening.prey import ABOVE, BELOW, Prey
from emu.client.evening.reading import (
    GOOD,
    fit,
    has_word,
    is_hunt,
    is_peaceful,
    is_placing,
    is_visit,
    may_have_choices,
    names_person,
    names_somebody,
    words_of,
)
from emu.client.evening.repairs import Repairs
from emu.client.evening.seen import SeenSpawn, SeenSpawns
from emu.client.evening.shopping import Shopping
from emu.client.evening.towns import TownSearch
from emu.client.evening.tries import Tries
from emu.client.evening.visits import AGAIN, LATER, LONG_AGO, ONCE_MORE, PastVisits
from emu.client.world import WorldClientCore
from emu.client.world.events import (
    DialogOpened,
    LineShown,
    ScreenShown,
    WaysShown,
    WorldEvent,
    ZoneToLoad,
)
from emu.client.world.surroundings import Place
from emu.client.world.windows import GoodsShown, QuestTask, VerbsShown
from emu.times import Monotonic

LOOKS_AROUND: Final = 5.0
"""How long it stands where it has come into a zone: who is there comes in sight one by one."""
WAITING: Final = 3.0
"""How long it waits for what follows a hail or a use."""
TALK_GOES_ON: Final = 30.0
"""How long after a dialog it looks for nobody else."""
USING: Final = 6.5
"""How long it stands still after it has begun to use a thing: some take 5 seconds."""
FAR: Final = 40.0
"""From how far away a place is far, in world units."""
MOST_KILLS: Final = 8
"""How many of a name it kills for a task that does not advance by that."""
TOO_FAR: Final = "too far away"
"""What the world says to a verb from too far away."""
CREATURE: Final = "creature"
"""What a task calls those of which any will do."""
TALKING: Final = ("hail",)
ATTACKING: Final = ("attack",)


class Questing:
    """The quests of one player."""

    def __init__(
        self, core: WorldClientCore, spawns: SeenSpawns, journal: SeenJournal,
        fighting: Fighting, *, note: Callable[[str, str], None], first: Sequence[str],
        refused: Sequence[str], hunts: bool = False, is_unfinished: Callable[[], bool] = bool,
    ) -> None:  # fmt: skip
        """`first` are words of the quests that it does first.

        If it `hunts`, it does the others only where no fight helps. `is_unfinished` is of `Tries`.
        """
        self._core = core
        self._spawns = spawns
        self._journal = journal
        self._fighting = fighting
        self._note = note
        self.agenda = Agenda(journal, first, self._is_hopeless, self._is_only_way)
        self._hunts = hunts
        self._refused = refused
        self._prey = Prey(core, spawns, fighting)
        self._plan: Errand | None = None
        self._last_use: Errand | None = None
        """The errand whose thing it has used last."""
        self._arrived_for: QuestTask | None = None
        """The task for which it has come to where it is."""
        self._verbs: VerbsShown | None = None
        self._busy_until = Monotonic(0.0)
        self._visits = PastVisits()
        self.journeys = PlayerJourneys(core, spawns, self._visits, refused, self._dangers)
        self._state: tuple[int, int] = (0, 0)
        self._open_first: set[int] = set()
        """The first quests that were open at the last change."""
        self._tries = Tries(self.agenda, self.journeys, self._visits, is_unfinished)
        self._towns = TownSearch(self.journeys, self._tries, self._visits)
        self._shopping = Shopping(core, note)
        self._repairs = Repairs(core, self.journeys, self._visits, note)
        self._placing = Placing(core, note)
        self._pauses = Pauses(core, self.journeys, fighting)
        self.hints = Hints()
        self._kills: Counter[tuple[str, str]] = Counter()
        """Fights for each task, by the text and the enemy's name, since the task has advanced."""
        self._left: set[str] = set()
        """The zones of `Travels` that it had to leave for another level."""
        self._last_hailed = ""
        self._giver = ""
        """The name of whom or what it has hailed or used last."""
        self._talked_at = LONG_AGO
        self._called_at = LONG_AGO
        """When a thing that it has used for a hunt has talked to it."""

    # -- what it sees -----------------------------------------------------------------------------

    def handle_event(self, event: WorldEvent, now: Monotonic) -> None:
        """Handle an event of the client."""
        self._placing.handle_event(event)
        match event:
            case ZoneToLoad(file, description):
                self.journeys.arrive(file, description, now)
                self.agenda.resume(self.journeys.travels.zone, self.journeys.is_here)
                self._arrived_for = self._last_use.task if self._last_use is not None else None
                self._plan = None
                self._busy_until = Monotonic(now + LOOKS_AROUND)
            case WaysShown(_, ways):
                self.journeys.offered([one.name for one in ways])
            case LineShown(_, text) if TOO_FAR in text:
                self._goes_closer(now)
            case LineShown(_, text) | ScreenShown(text):
                self.journeys.read(text)
                self.hints.read(text, level=self._fighting.level, zone=self.journeys.zone)
                if self._must_leave:
                    self._left.add(self.journeys.travels.zone)
            case VerbsShown():
                self._verbs = event
            case DialogOpened():
                self._tries.talked(self._last_hailed)
                self._talked_at = now
                self._call(now)
            case GoodsShown():
                self._repairs.deal(event)
                self._shopping.deal(event, self.agenda.tasks())
            case _:
                pass

    def _call(self, now: Monotonic) -> None:
        """Note that the thing talks that it has used last: it may call whom a task wants killed."""
        used = self._last_use.task if self._last_use is not None else None
        if used is None or not is_hunt(used.text):
            return
        self._called_at = now
        for task in self.agenda.tasks():
            if task.group == used.group:
                self.agenda.fought(task, self.journeys.travels.zone)

    def _goes_closer(self, now: Monotonic) -> None:
        """Go once more, and closer, to what it has just used from too far away."""
        plan = self._last_use
        if plan is not None and plan.reach > CLOSE_REACH:
            until = Monotonic(now + WALK_TIME)
            self._plan = replace(plan, has_asked=False, reach=CLOSE_REACH, until=until)
        self._last_use = None

    def _is_hopeless(self, zone: str) -> bool:
        """Return whether it has died too often in a zone, and can get a level elsewhere."""
        fears, level = self._fighting.fears, self._fighting.level
        is_capped = zone == self.journeys.travels.zone and self.hints.is_stopped(level)
        return fears.is_deadly(zone, level, is_capped=is_capped) and not self._is_only_way(zone)

    def _is_only_way(self, zone: str) -> bool:
        """Return whether quests alone, such as those of a zone, lead to another level."""
        may_stay = not self._must_leave and zone not in self._left
        return may_stay and self.hints.is_stopped(self._fighting.level)

    @property
    def may_leave(self) -> bool:
        """Whether it would leave the zone: it has to, means to, or has nothing to do here."""
        used = self._last_use
        if self._must_leave or (used is not None and used.leaves):
            return True
        tasks = self.agenda.first_tasks() if self._hunts else self.agenda.tasks()
        return self.journeys.exploration.has_seen_all and not tasks

    @property
    def is_underway(self) -> bool:
        """Whether it goes somewhere far away."""
        plan = self._plan
        return plan is not None and self._core.place.distance_to(plan.place) > FAR

    @property
    def _must_leave(self) -> bool:
        return self.hints.must_leave(self._fighting.level, self.journeys.zone)

    def wants(self, title: str) -> bool:
        """Return whether it takes up a quest that is offered now."""
        return not self._hunts or self.agenda.wants(title, self._giver)

    # -- what it does -----------------------------------------------------------------------------

    def think(self, now: Monotonic) -> None:
        """Go on with the plan, or make another one."""
        self.journeys.look()
        state = (self._journal.changes, self._fighting.level)
        if state != self._state:
            if self._open_first & self._journal.complete.keys():
                self.hints.renew()
                self.agenda.ended(self._last_hailed)
            self._open_first = self.agenda.open_first()
            self._state = state
            self._tries.renew()
            self.journeys.renew()
        for task in self.agenda.look(self.journeys.travels.zone, now):
            for key in [one for one in self._kills if one[0] == task.text]:
                del self._kills[key]
        if now < self._busy_until:
            return
        if self._plan is None:
            self._plan = self._repairs.errand(now) or self._next_plan(now)
        if self._plan is not None and self._follow(self._plan, now):
            self._plan = None

    def _follow(self, plan: Errand, now: Monotonic) -> bool:
        """Go on with a plan; return whether it is over."""
        # On the way to a grate a task may end; it would go through the grate for nothing.
        if now > plan.until or (plan.task is not None and self.agenda.is_over(plan.task)):
            return True
        spawn = self._spawns.get(plan.index) if plan.index is not None else None
        place = self._spawns.place_now(spawn, now) if spawn is not None else plan.place
        reach = plan.reach if plan.index is not None else CELL / 4
        if not self._fighting.approach(place, reach, now):
            return False
        if spawn is None:
            self._arrived_for = plan.task
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
        if self._repairs.ask(spawn.index, commands):
            return True
        if self._shopping.ask(spawn.index, plan.task, commands):
            return True
        self._giver = spawn.name
        if plan.task is not None and is_visit(plan.task.text) and not may_have_choices(spawn.name):
            self.journeys.look_near(plan.task, spawn.place)
        if not commands or any(one in TALKING for one in commands):
            self._last_hailed = spawn.name
            self._tries.met.add(spawn.name)
            self._last_use = None
            self.agenda.hailed(spawn.name)
            core.command("hail")
        elif commands[0] in ATTACKING:
            self._fighting.attack(spawn.index, now)
        elif self.journeys.leads_back(plan, spawn, commands[0]):
            return True
        elif plan.task is not None or self._tries.is_wanted(spawn.name, commands[0]):
            self._note("use", f"{spawn.name}: {commands[0]}")
            self.journeys.use(plan, spawn, now)
            self._last_use = plan
            self._busy_until = Monotonic(now + USING)
            core.use(spawn.index, commands[0])
        return True

    def _next_plan(self, now: Monotonic) -> Errand | None:
        if now < self._called_at + TALK_GOES_ON:
            self._fights_whom_it_called(now)
            return None
        # If a first quest waits until it is stronger, fights come before the other first ones.
        is_training = self._hunts and self.agenda.is_too_weak(self._left)
        first = [] if is_training else self.agenda.first_tasks()
        if self._pauses.is_due(first, now):
            return self._pauses.way(first, now)
        return self._plan_with(first, now)

    def _plan_with(self, first: list[QuestTask], now: Monotonic) -> Errand | None:
        # What it has come for, what else is here and was not tried in vain, and the others.
        here = [
            task for task in first if self.agenda.is_fresh(task) and self.journeys.is_here(task)
        ]
        first.sort(key=lambda task: (task != self._arrived_for, task not in here))
        self._arrived_for = None
        plan = self._behind_a_sign(first, now) or self._plan_of(first[: len(here)], now)
        if plan is None and self._fighting.enemy is None:
            plan = (self._surveys(now) if here else None) or self._plan_of(first, now)
        if plan is None and self._fighting.enemy is None:
            plan = self._looks_for(first, now)
        follows = self._hunts and bool(first)
        if plan is None and self._fighting.enemy is None:
            others = [one for one in self.agenda.tasks() if one not in first]
            if follows or (self._hunts and self.hints.is_stopped(self._fighting.level)):
                others = []  # it follows a first quest, or looks for who gives the next level
            plan = self._plan_of([*others, *self.hints.tasks(self._journal.changes)], now)
        is_fighting = self._fighting.enemy is not None
        if plan is not None or is_fighting or self._fights_whom_it_met(now):
            return plan
        # Whoever has just talked may have more to say: its script goes on after a while.
        if now < self._talked_at + TALK_GOES_ON and not self._journal.open:
            return None
        if self._must_leave:
            return self.journeys.exit(now) or self._tries.mark(now) or self._around(now)
        if follows:
            return (
                self._surveys(now) or self._tries.thing(now) or self._tries.person(now)
                or self._on_the_spot(now) or self._around(now)
            )  # fmt: skip
        tries = self._tries
        return (
            tries.mark(now) or self._errand_aside(now) or tries.thing(now) or tries.person(now)
            or self._on_the_spot(now) or self._plan_aside(now) or self._around(now)
        )  # fmt: skip

    def _surveys(self, now: Monotonic) -> Errand | None:
        """See all of a zone once: what a first task names may stand around a corner.

        Where the time is short it tries the things in sight first.
        """
        is_short = self._fighting.is_short_of_time
        plan = self._tries.thing(now, is_short_of_time=True) if is_short else None
        plan = plan or self.journeys.far_place(now, self.agenda.first_tasks())
        if plan is None and not self.journeys.exploration.has_seen_all:
            plan = self.journeys.unseen_place(now)
        return plan

    def _fights_whom_it_called(self, now: Monotonic) -> None:
        """Attack those who come: who addresses the audience of an arena waits for the bears."""
        for task in self.agenda.tasks():
            if is_hunt(task.text) and self._fighting.enemy is None:
                self._plan_by(task.text, task, now, ONCE_MORE)

    def _behind_a_sign(self, first: Sequence[QuestTask], now: Monotonic) -> Errand | None:
        """Return the way to a sign of no known zone if prey must be here and was never seen here.

        "The arena in the warehouse of northern Qeynos" is behind such a sign.
        """
        for task in first:
            if is_hunt(task.text) and self.journeys.is_here(task):
                names = self.journeys.travels.foes_here()
                if not any(fit(name, task.text) >= GOOD for name in names):
                    return self.journeys.odd_way(now, task)
        return None

    def _looks_for(self, first: Sequence[QuestTask], now: Monotonic) -> Errand | None:
        """Return the way to what may lead on with the tasks of first quests, or to fights."""
        plan = self.journeys.search(first, now)
        if plan is None and any(self.journeys.is_here(task) for task in first):
            plan = self.journeys.odd_way(now) or self.journeys.far_place(now)
        if plan is None and not any(self.journeys.knows_where(task) for task in first):
            plan = self._through_town(first, now)
        if plan is None and self._hunts and not first:
            plan = self._plan_of(self.agenda.next_of_chains(), now) or self._tries.mark(now)
            plan = plan or self._hunt(now)
        return plan

    def _hunt(self, now: Monotonic) -> Errand | None:
        """Fight for experience where there are enemies of its level, or go there."""
        level, fears = self._fighting.level, self._fighting.fears
        if not level or self.hints.is_stopped(level) or self._must_leave:
            return None
        self._fights_for_experience(now)
        ground = self.journeys.travels.hunting_ground(
            level - BELOW, level,
            fears=lambda name: fears.fears(name, level, now),
            is_deadly=lambda zone: fears.is_deadly(zone, level),
        )  # fmt: skip
        if self._fighting.enemy is not None or ground is None:
            return None
        if ground == self.journeys.travels.zone:
            return self.journeys.unseen_place(now)
        way = self.journeys.travels.way_to(ground)
        if way is None or not self._may_visit(f"to {ground}", "hunt", now, LATER):
            return None
        return self.journeys.by(way, None, now)

    def _through_town(self, first: Sequence[QuestTask], now: Monotonic) -> Errand | None:
        """Return the way through towns if a level needs somebody, or all first tasks name one."""
        if self._must_leave or self._fighting.enemy is not None:
            return None
        if not self.hints.is_stopped(self._fighting.level):
            if not first or not all(names_person(task.text) for task in first):
                return None
            is_here = any(self.journeys.travels.zone in self.agenda.zones_of(one) for one in first)
            if is_here and not self.journeys.exploration.has_surveyed:
                return None  # it looks around here first
        return self._towns.way(now, takes_quests=not first)

    def _plan_aside(self, now: Monotonic) -> Errand | None:
        """Return the plan for a task that it has set aside, if no fight gives experience."""
        is_stopped = self.hints.is_stopped(self._fighting.level) and not self.agenda.tasks()
        return self._plan_of(self.agenda.tasks(is_aside=True), now) if is_stopped else None

    def _errand_aside(self, now: Monotonic) -> Errand | None:
        """Return the way to somebody in sight whom a quest names that it has set aside."""
        for task in self.agenda.tasks(is_aside=True):
            for one in self.journeys.near():
                is_meant = fit(one.name, task.text) >= GOOD
                if is_meant and self._may_visit(one.name, task.text, now, ONCE_MORE):
                    return visit(one, "talk", now, task)
        return None

    def _plan_of(self, tasks: Sequence[QuestTask], now: Monotonic) -> Errand | None:
        """Return the plan for the first task that has one; None also if it begins a fight."""
        for task in tasks:
            plan = self._plan_for(task, now)
            if plan is not None or self._fighting.enemy is not None:
                self.agenda.tried(task)
                return plan
        return None

    def _back(self, task: QuestTask, now: Monotonic) -> Errand | None:
        """Return the way to where a task has come up that names nobody and no zone."""
        if task.needed > 1 or names_somebody(task.text) or self.journeys.zones_of(task):
            return None
        return self.journeys.back(task, self.agenda.zones_of(task), now)

    def _goes_on(self, task: QuestTask, now: Monotonic) -> Errand | None:
        """Return the way to where it has fought for a task, if it has left that by dying."""
        return self.journeys.back(task, self.agenda.grounds_of(task), now)

    def _plan_for(self, task: QuestTask, now: Monotonic) -> Errand | None:
        """Return how a task goes on; a fight begins at once.

        The text of the task names whom it is about; the text above it may name others as well.
        """
        if is_placing(task.text):
            self._placing.place_newest(task.text, now)
        plan = self._goes_on(task, now) or self._plan_by(task.text, task, now, AGAIN)
        if plan is not None or self._fighting.enemy is not None:
            return plan
        return (
            self._remembered(task.text, task, now)
            or self.journeys.journey(task, now)
            or self.journeys.place_here(task, now)
            or self._plan_by(f"{task.text} {task.group}", task, now, ONCE_MORE)
            or self._back(task, now)
        )

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
            if much >= GOOD and not self.journeys.is_of_no_use(one, task, text)
            and not (one.is_enemy and (is_calm or not self._may_attack(one, task, now)))
        ]  # fmt: skip
        good.sort(key=lambda pair: (-pair[0], self._prey.effort(pair[1])))
        for _, one in good:
            if one.is_enemy:
                if self._kills[task.text, one.name] < MOST_KILLS:
                    self._kills[task.text, one.name] += 1
                    self.agenda.fought(task, self.journeys.travels.zone)
                    self._fighting.attack(one.index, now, self._prey.leads_to(task.text))
                    return None
            elif self._tries.talks_on(one.name) or self._may_visit(one.name, task.text, now, pause):
                return visit(one, "talk", now, task)
        if not good and not is_calm:
            is_needed = self._is_needed(task)
            if not self._fights_any(text, task, now):
                self._fights_like(text, now, is_needed)
        return None

    def _may_attack(self, one: SeenSpawn, task: QuestTask, now: Monotonic) -> bool:
        may = self._fighting.may_attack(one, now, is_needed=self._is_needed(task))
        return may and self._prey.is_weak(one)

    def _is_needed(self, task: QuestTask) -> bool:
        """Return whether it has no way to go on but by a task, also if that has killed it."""
        return task in self.agenda.first_tasks() or self.hints.is_stopped(self._fighting.level)

    def _dangers(self, place: Place) -> int | None:
        """Return how dangerous a place of the present zone is; None if it stays away."""
        danger = self._fighting.danger(place)
        # Whom it needs for another level may stand where it has died: it goes there last.
        is_stopped = self.hints.is_stopped(self._fighting.level)
        return None if danger is Danger.THERE and not is_stopped else danger

    def _fights_any(self, text: str, task: QuestTask, now: Monotonic) -> bool:
        """Attack the nearest enemy if a task means every creature here; return whether it does."""
        zones = self.journeys.zones_of(task)
        if CREATURE not in words_of(text) or (zones and self.journeys.travels.zone not in zones):
            return False
        return self._fights_one(
            self._prey.weak(now, is_needed=self._is_needed(task)), task.text, now
        )

    def _fights_like(self, text: str, now: Monotonic, is_needed: bool) -> None:
        """Attack an enemy whose name resembles a text."""
        one = self._prey.like(text, now, is_needed=is_needed)
        # Only now and then: the search for somebody whose name fits must go on.
        if one is not None and self._may_visit(f"like {one.name}", text, now, LATER):
            self._fighting.attack(one.index, now)

    def _remembered(self, text: str, task: QuestTask, now: Monotonic) -> Errand | None:
        """Return the way to where somebody was seen whom a task names, if it may be of use."""
        return self.journeys.seen_before(
            lambda name: fit(name, text) >= GOOD and self._may_seek(name, task, now),
            task.text, task, now,
        )  # fmt: skip

    def _may_seek(self, name: str, task: QuestTask, now: Monotonic) -> bool:
        """Return whether it would go to an enemy that is not in sight; to others always."""
        enemy, own = self.journeys.travels.level_of_foe(name), self._fighting.level
        if enemy is None:
            return True
        is_feared = self._fighting.fears.fears(name, own, now, is_needed=self._is_needed(task))
        return enemy <= own + ABOVE and not is_feared and not is_peaceful(task.text)

    def _may_visit(self, name: str, why: str, now: Monotonic, pause: float = AGAIN) -> bool:
        return self._visits.may_begin(name, why, now, pause)

    def _on_the_spot(self, now: Monotonic) -> Errand | None:
        """Return the way to somebody for a task that names nobody, or begin a fight.

        "I need to judge the traitors." has come up in this zone, so they may be anybody here.
        """
        if not self.journeys.exploration.has_seen_all:
            return None
        is_needed = bool(self.agenda.first_tasks())
        for text in self.agenda.wild_texts(self.journeys.travels.zone, first_only=self._hunts):
            # Whom it refuses elsewhere may be the one to be judged.
            for one in self._spawns.peaceful(self._core.place):
                which = f"{one.name} {one.index}"
                # A talk has more answers than one visit gives.
                pause = AGAIN if one.name in self._tries.talkers else ONCE_MORE
                if one.level and self._may_visit(which, text, now, pause):
                    return visit(one, "talk", now)
            if self._fights_one(self._prey.weak(now, is_needed=is_needed), text, now):
                return None
        return None

    def _fights_whom_it_met(self, now: Monotonic) -> bool:
        """Attack whom a talk for a task of this zone has made an enemy, before others are."""
        met = [one for one in self._prey.weak(now, is_needed=True) if one.name in self._tries.met]
        here = self.journeys.travels.zone
        texts = self.agenda.wild_texts(here, first_only=self._hunts) if met else ()
        return any(self._fights_one(met, text, now) for text in texts)

    def _fights_one(self, enemies: Sequence[SeenSpawn], text: str, now: Monotonic) -> bool:
        """Attack the first of some enemies that a task may mean; return False without one."""
        for one in enemies:
            if self._kills[text, one.name] < MOST_KILLS:
                self._kills[text, one.name] += 1
                self._fighting.attack(one.index, now)
                return True
        return False

    def _around(self, now: Monotonic) -> Errand | None:
        """Go where it was not, or fight for experience; with a task the first thing first."""
        if self._fighting.enemy is not None:
            return None
        if not self.agenda.tasks():
            self._fights_for_experience(now)
            return self._new_place(now)
        errand = self._new_place(now)
        if errand is None:
            self._fights_for_experience(now)
        return errand

    def _fights_for_experience(self, now: Monotonic) -> None:
        """Attack the nearest enemy of about its own level, if that gives experience."""
        prey = None if self.hints.is_stopped(self._fighting.level) else self._prey.worthy(now)
        if prey is not None:
            self._fighting.attack(prey.index, now)

    def _new_place(self, now: Monotonic) -> Errand | None:
        """Return the way to where it was not; without one the way to another zone."""
        if self._fighting.enemy is not None:
            return None
        return self.journeys.unseen_place(now) or self.journeys.way_out(now)
