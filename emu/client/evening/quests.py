"""The quests of a client that plays: it finds the spawn that a task names, and goes there.

Whoever has the mark of a quest is hailed, then everybody once who has a name. When there is nothing
to do, the player looks around, and fights what gives experience.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from emu.client.evening.fighting import Fighting
from emu.client.evening.journal import SeenJournal
from emu.client.evening.reading import GOOD, WEAK, fit, has_word, is_peaceful, resemblance, words_of
from emu.client.evening.seen import SeenSpawn, SeenSpawns
from emu.client.world import WorldClientCore
from emu.client.world.events import DialogOpened, WorldEvent, ZoneToLoad
from emu.client.world.surroundings import Place
from emu.client.world.windows import Good, GoodsShown, QuestTask, VerbsShown
from emu.times import Monotonic

TALK_REACH: Final = 4.0
AGAIN: Final = 15.0
"""Between two visits to the same ghost for the same task."""
MOST_VISITS: Final = 6
"""Visits at one state of the journal; further ones come after `LATER`."""
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
CELL: Final = 25.0
"""Side of the squares by which it knows where it was."""
ABOVE: Final = 1
"""How many levels above its own an enemy may have."""
BELOW: Final = 3
BUYING: Final = frozenset(("buy", "purchase", "merchant"))
FROM_MERCHANT: Final = "frommerchant"
TALKING: Final = ("hail",)
ATTACKING: Final = ("attack",)


@dataclass(slots=True)
class Errand:
    """Somewhere to go, and what to do there."""

    place: Place
    index: int | None
    what: str
    """``talk``, ``look``, or the verb of a use."""
    task: QuestTask | None
    until: Monotonic
    has_asked: bool = False
    """Whether the verbs were asked for."""


class Questing:
    """The quests of one player."""

    def __init__(
        self, core: WorldClientCore, spawns: SeenSpawns, journal: SeenJournal,
        fighting: Fighting, *, note: Callable[[str, str], None], refused: Sequence[str],
    ) -> None:  # fmt: skip
        self._core = core
        self._spawns = spawns
        self._journal = journal
        self._fighting = fighting
        self._note = note
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
        self._wanted: Good | None = None
        """What it would buy if it had the coins."""
        self._used: tuple[str, Monotonic] | None = None
        """The name of the thing that was used last, and when."""
        self._ways: set[str] = set()
        """Names of things that led to another zone."""
        self._may_buy = False
        self._last_hailed = ""
        self._talked_at = Monotonic(-1e9)
        self._has_looked = False
        """Whether it has found nothing new to do in this zone."""
        self._been: set[tuple[int, int]] = set()
        self._tries: Counter[str] = Counter()

    # -- what it sees -----------------------------------------------------------------------------

    def handle_event(self, event: WorldEvent, now: Monotonic) -> None:
        """Handle an event of the client."""
        match event:
            case ZoneToLoad():
                if self._used is not None and now < self._used[1] + WALK_TIME:
                    self._ways.add(self._used[0])
                self._used = self._plan = None
                self._has_looked = False
                self._been.clear()
                self._visits.clear()
            case VerbsShown():
                self._verbs = event
            case DialogOpened():
                self._talkers.add(self._last_hailed)
                self._talked_at = now
            case GoodsShown():
                self._deal(event)
            case _:
                pass

    def _deal(self, event: GoodsShown) -> None:
        """Buy what a task names; sell for it what the merchant wants, one thing after the other.

        The list of what the merchant sells comes first, then the one of what it buys.
        """
        owned = self._core.possessions
        coins = owned.coins if owned is not None else 0
        if self._wanted is not None and self._wanted.price > coins:
            carried = {one.unique for one in owned.things()} if owned is not None else set()
            sold = next((one for one in event.goods if one.unique in carried and one.price), None)
            if sold is not None:
                self._note("sell", f"{sold.name} for {sold.price} c")
                self._core.command(f"sell_to_merchant {sold.item} 1")
            self._wanted = None
            return
        self._wanted = None
        if not self._may_buy:
            return
        self._may_buy = False
        for task in self._tasks():
            for good in event.goods:
                if fit(good.name, f"{task.text} {task.group}") >= GOOD:
                    if good.price > coins:
                        self._wanted = good
                        return
                    self._note("buy", f"{good.name} for {good.price} c")
                    self._core.command(f"buy_from_merchant {good.item} 1")
                    return

    @property
    def may_leave(self) -> bool:
        """Whether it would leave the zone: it has no open quest, and knows everybody here."""
        return not self._journal.open and self._has_looked

    # -- what it does -----------------------------------------------------------------------------

    def think(self, now: Monotonic) -> None:
        """Go on with the plan, or make another one."""
        here = self._core.place
        self._been.add(_cell(here))
        state = (self._journal.changes, self._fighting.level)
        if state != self._state:
            self._state = state
            self._visits.clear()
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
            self._may_buy = True
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
            self._used = (spawn.name, now)
            self._busy_until = Monotonic(now + USING)
            core.use(spawn.index, commands[0])
        return True

    def _is_for_buying(self, plan: Errand) -> bool:
        return plan.task is not None and bool(BUYING & set(words_of(plan.task.text)))

    # -- plans ------------------------------------------------------------------------------------

    def _tasks(self) -> list[QuestTask]:
        """Return the open tasks; those that were tried least come first."""
        found = [
            task for quest in reversed(list(self._journal.open.values()))
            for task in quest.open_tasks
        ]  # fmt: skip
        return sorted(found, key=lambda one: self._tries[one.text])

    def _next_plan(self, now: Monotonic) -> Errand | None:
        for task in self._tasks():
            if (plan := self._plan_for(task, now)) is not None:
                self._tries[task.text] += 1
                return plan
            if self._fighting.enemy is not None:
                self._tries[task.text] += 1
                return None
        # Whoever has just talked may have more to say: its script goes on after a while.
        if now < self._talked_at + TALK_GOES_ON and not self._journal.open:
            return None
        return self._marked(now) or self._thing(now) or self._unmet(now) or self._around(now)

    def _plan_for(self, task: QuestTask, now: Monotonic) -> Errand | None:
        """Return how a task goes on; a fight begins at once."""
        text = f"{task.text} {task.group}"
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
                    self._fighting.attack(one.index, now)
                    return None
            elif self._may_visit(one.name, task.text, now):
                return self._visit(one, "talk", now, task)
        if not good and not is_calm and self._fights_like(text, now):
            return None
        return self._remembered(text, task, now)

    def _fights_like(self, text: str, now: Monotonic) -> bool:
        """Attack an enemy whose name resembles a text; return whether there is one."""
        found = [
            (resemblance(one.name, text), one) for one in self._spawns.all()
            if self._fighting.may_attack(one, now) and self._is_weak(one)
        ]  # fmt: skip
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
        here = self._core.place
        names = {one.name for one in self._spawns.all()}
        for name, place in self._spawns.remembered.items():
            if name in names or fit(name, text) < GOOD or here.distance_to(place) < CELL:
                continue
            if self._may_visit(f"place of {name}", task.text, now):
                return Errand(place, None, "look", task, Monotonic(now + WALK_TIME))
        return None

    def _is_weak(self, one: SeenSpawn) -> bool:
        return one.level <= self._fighting.level + ABOVE

    def _visit(
        self, one: SeenSpawn, what: str, now: Monotonic, task: QuestTask | None = None
    ) -> Errand:
        return Errand(one.place, one.index, what, task, Monotonic(now + WALK_TIME))

    def _may_visit(self, name: str, why: str, now: Monotonic, pause: float = AGAIN) -> bool:
        """Return whether it goes to somebody again after some seconds, and count that."""
        count, last = self._visits.get((name, why), (0, Monotonic(-1e9)))
        if now - last < (pause if count < MOST_VISITS else max(pause, LATER)):
            return False
        self._visits[name, why] = (count + 1, now)
        return True

    def _near(self) -> Iterator[SeenSpawn]:
        """Yield those who live and are no enemies, the nearest first."""
        here = self._core.place
        for one in sorted(self._spawns.all(), key=lambda one: here.distance_to(one.place)):
            if not one.is_enemy and not one.is_dead and not has_word(one.name, self._refused):
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
        """Return the way to a thing that can be used, if a task waits."""
        if not self._tasks():
            return None
        for one in self._near():
            if one.name not in self._ways and (not one.level or not one.name[:1].isupper()):
                which = f"{one.name} {one.place[:3]}"
                if self._may_visit(which, "thing", now, ONCE_MORE):
                    return self._visit(one, "use", now)
        return None

    def _around(self, now: Monotonic) -> Errand | None:
        """Go where it was not, or fight for experience; with a task the first thing first."""
        if not self._tasks():
            self._prey(now)
            return self._new_place(now)
        errand = self._new_place(now)
        if errand is None:
            self._prey(now)
        return errand

    def _prey(self, now: Monotonic) -> None:
        """Attack the nearest enemy of about its own level."""
        here, level = self._core.place, self._fighting.level
        prey = [
            one for one in self._spawns.all()
            if self._fighting.may_attack(one, now) and level - BELOW <= one.level <= level
        ]  # fmt: skip
        if prey:
            nearest = min(prey, key=lambda one: here.distance_to(one.place))
            self._fighting.attack(nearest.index, now)

    def _new_place(self, now: Monotonic) -> Errand | None:
        """Return the way to a spawn where it was not; without one begin the round anew."""
        if self._fighting.enemy is not None:
            return None
        here = self._core.place
        new = [one for one in self._spawns.all() if _cell(one.place) not in self._been]
        if not new:
            self._has_looked = True
            self._been.clear()
            return self._way_out(now)
        nearest = min(new, key=lambda one: here.distance_to(one.place))
        self._been.add(_cell(nearest.place))
        return Errand(nearest.place, None, "look", None, Monotonic(now + WALK_TIME))

    def _way_out(self, now: Monotonic) -> Errand | None:
        """Return the way to a thing that led to another zone: what is open may be done there."""
        for one in self._near():
            if one.name in self._ways and self._may_visit(one.name, "way", now, ONCE_MORE):
                return self._visit(one, "use", now)
        return None


def _cell(place: Place) -> tuple[int, int]:
    return int(place.x // CELL), int(place.z // CELL)
