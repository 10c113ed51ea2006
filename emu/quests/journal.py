"""The journal of one character: its quests with their progress, those completed, rewards that wait.

It is stored with the character as one text. A quest whose plan is gone keeps its progress: the
journal never forgets it. Source: docs/guides/quests.md#journal.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from emu.quests.plans import QuestPlan, QuestReward, Step
from emu.times import UNKNOWN, Moment

MOST_QUESTS: Final = 75
"""Open quests of one character, as in EQ2Emulator (recorded)."""
MOST_COMPLETED: Final = 4000
MOST_PENDING: Final = 50
"""Rewards that wait for their player."""
LONGEST_STORED: Final = 1000
"""Characters of the closing text of a reward that waits."""
NO_COUNTS: Final[Mapping[int, int]] = MappingProxyType({})
NO_ENDS: Final[Mapping[int, Moment]] = MappingProxyType({})
_U32: Final = 0xFFFFFFFF


class Progressed(enum.Enum):
    """What a change of a step has done."""

    NOTHING = enum.auto()
    COUNTED = enum.auto()
    DONE = enum.auto()


@dataclass(slots=True)
class TakenQuest:
    """A quest that a character has taken."""

    number: int
    accepted: Moment
    giver: int = 0
    """The kind of spawn that gave it; 0 for none, such as a thing or a place."""
    plan: QuestPlan | None = None
    """Its own copy; None until it is read, or if the quest is gone."""
    # Replaced when they change: most quests have empty ones, which then cost no memory.
    counts: Mapping[int, int] = field(default_factory=lambda: NO_COUNTS)
    done: tuple[int, ...] = ()
    """The steps that are done, in the order in which they were done: that rebuilds the plan."""
    failed: frozenset[int] = frozenset()
    ends: Mapping[int, Moment] = field(default_factory=lambda: NO_ENDS)
    """When the time of a step is over."""
    flags: int | None = None
    """What its script has set to read it again; None: nothing."""
    gifts: int = 0
    """How many rewards it has given before its end."""
    is_tracked: bool = True
    is_hidden: bool = False
    last_step: int = 0
    """The step that changed last."""
    known: frozenset[int] = frozenset()
    """The steps that the plan had when the journal was stored; empty for none."""
    texts: int = 0
    """The digest of the texts that the plan had then; 0 for none."""

    def is_done(self, number: int) -> bool:
        """Return whether a step is done."""
        return number in self.done

    def is_open(self, number: int) -> bool:
        """Return whether a step is there, not done and not failed."""
        return (
            self.plan is not None
            and number in self.plan.steps
            and number not in self.done
            and number not in self.failed
        )

    def open_steps(self) -> Iterator[Step]:
        """Yield the steps that are neither done nor failed, in the order of the plan."""
        if self.plan is not None:
            for number, step in list(self.plan.steps.items()):
                if number not in self.done and number not in self.failed:
                    yield step

    @property
    def current_step(self) -> int:
        """The number of the first step that is not done; 0 if there is none."""
        if self.plan is None:
            return 0
        return next((number for number in self.plan.steps if number not in self.done), 0)

    @property
    def current_group(self) -> int:
        """The place of the first group that is not done, counted from 1; 0 if there is none."""
        for at, group in enumerate(self.plan.groups if self.plan is not None else (), 1):
            if not all(number in self.done for number in group.steps):
                return at
        return 0

    @property
    def has_all_done(self) -> bool:
        """Whether it has steps, and all of them are done."""
        plan = self.plan
        return plan is not None and bool(plan.steps) and set(self.done) >= plan.steps.keys()

    def count(self, number: int) -> int:
        """Return how often the subject of a step has happened."""
        return self.counts.get(number, 0)

    def set_count(self, number: int, count: int) -> None:
        """Set how often the subject of a step has happened."""
        counts = {step: before for step, before in self.counts.items() if step != number}
        self.counts = {**counts, number: count} if count else counts

    def add_progress(self, number: int, amount: int) -> tuple[Progressed, int]:
        """Count a step; return what that has done, and how much was added.

        What is above the step's quantity does not count.
        """
        step = self.plan.steps.get(number) if self.plan is not None else None
        if step is None or amount <= 0 or not self.is_open(number):
            return Progressed.NOTHING, 0
        before = self.count(number)
        after = before + amount
        if step.quantity:
            after = min(after, step.quantity)
        if after > before:
            self.set_count(number, after)
            self.last_step = number
        if step.quantity and after >= step.quantity:
            self.done += (number,)
            return Progressed.DONE, after - before
        return (Progressed.COUNTED if after > before else Progressed.NOTHING), after - before

    def complete(self, number: int) -> bool:
        """End a step as done; return False if it is not open."""
        step = self.plan.steps.get(number) if self.plan is not None else None
        if step is None or not self.is_open(number):
            return False
        self.set_count(number, max(self.count(number), step.quantity))
        self.done += (number,)
        self.set_end(number, None)
        self.last_step = number
        return True

    def fail(self, number: int) -> bool:
        """End a step as failed; return False if it is not open."""
        if not self.is_open(number):
            return False
        self.failed |= {number}
        self.set_end(number, None)
        self.last_step = number
        return True

    def set_end(self, number: int, end: Moment | None) -> None:
        """Set when the time of a step is over; None for a step without a time."""
        ends = {step: moment for step, moment in self.ends.items() if step != number}
        self.ends = ends if end is None else {**ends, number: end}
        if not self.ends:
            self.ends = NO_ENDS

    def settle(self) -> bool:
        """Note as done what was counted often enough; return whether there was any such step."""
        steps = self.plan.steps.values() if self.plan is not None else ()
        full = [
            one.number for one in steps
            if self.is_open(one.number) and 0 < one.quantity <= self.count(one.number)
        ]  # fmt: skip
        self.done += tuple(full)
        return bool(full)

    def reset(self, number: int) -> None:
        """Let a step begin anew."""
        self.set_count(number, 0)
        self.done = tuple(one for one in self.done if one != number)
        self.failed -= {number}
        self.set_end(number, None)


@dataclass(frozen=True, slots=True)
class Completion:
    """How often a quest was completed, and when last."""

    times: int
    last: Moment


@dataclass(slots=True)
class PendingReward:
    """A reward that its player has not answered yet."""

    quest: int
    turn: str
    """What is different for all rewards of a quest: how often that was completed, or a gift."""
    title: str
    """The name of the quest, also if that is gone later."""
    text: str
    reward: QuestReward
    """What it gives, without experience that was given already; its coins are settled."""
    has_coins: bool = False
    """Whether its coins were moved already."""
    is_taken: bool = False
    """Whether its things are being moved: after a crash nobody knows whether they were."""
    attempt: int = 0
    level: int = 0
    difficulty: int = 0

    @property
    def key(self) -> str:
        """What names it among those of its character."""
        return f"{self.quest}-{self.turn}"


class Journal:
    """The journal of one character."""

    __slots__ = ("completed", "offered", "open", "pending", "points_due", "thanked")

    def __init__(self, text: str = "") -> None:
        """Read a stored text; what it does not understand is left out."""
        stored = _object(text)
        self.open: dict[int, TakenQuest] = {}
        for number, value in _numbered(stored.get("open"), MOST_QUESTS):
            self.open[number] = _taken(number, value)
        self.completed: dict[int, Completion] = {}
        for number, value in _numbered(stored.get("done"), MOST_COMPLETED):
            if _are_whole(value, 2):
                self.completed[number] = Completion(value[0], Moment(float(value[1])))
        pending = stored.get("rewards")
        self.pending: list[PendingReward] = [
            found
            for one in (pending if isinstance(pending, list) else [])[:MOST_PENDING]
            if (found := _pending(one)) is not None
        ]
        self.thanked: dict[int, tuple[int, int]] = {
            number: (value[0], value[1])
            for number, value in _numbered(stored.get("thanked"))
            if _are_whole(value, 2)
        }
        """The last gift of each quest that gave status: how often the quest was completed before,
        and which of its gifts it was. A quest that is given up and taken again does not give more.
        """
        self.points_due = _whole(stored.get("points_due"))
        """Experience of collections whose things were given, and that was not given yet."""
        self.offered: dict[int, int] = {}
        """Quests that were offered and not answered, each with the kind of their giver."""

    @property
    def text(self) -> str:
        """The journal as it is stored; empty if there is nothing in it."""
        stored: dict[str, Any] = {}
        if self.open:
            stored["open"] = {str(one.number): _stored(one) for one in self.open.values()}
        if self.completed:
            stored["done"] = {
                str(number): [one.times, int(one.last)] for number, one in self.completed.items()
            }
        if self.pending:
            stored["rewards"] = [_stored_reward(one) for one in self.pending]
        if self.points_due:
            stored["points_due"] = self.points_due
        if self.thanked:
            stored["thanked"] = {str(number): [*one] for number, one in self.thanked.items()}
        return json.dumps(stored, separators=(",", ":"), ensure_ascii=True) if stored else ""

    def __bool__(self) -> bool:
        return bool(self.open or self.completed or self.pending or self.thanked or self.points_due)

    def has(self, number: int) -> bool:
        """Return whether a quest is in the journal and not turned in."""
        return number in self.open

    def times(self, number: int) -> int:
        """Return how often a quest was completed."""
        found = self.completed.get(number)
        return found.times if found is not None else 0

    def thanks(self, taken: TakenQuest) -> bool:
        """Note that the last gift of an open quest gives status; return False if it has before."""
        this = (self.times(taken.number), taken.gifts)
        if self.thanked.get(taken.number, (0, 0)) >= this:
            return False
        self.thanked[taken.number] = this
        return True

    def may_take(self, plan: QuestPlan) -> bool:
        """Return whether a quest is neither there nor completed for good, and may be added."""
        if plan.number in self.open or len(self.open) >= MOST_QUESTS:
            return False
        if plan.number in self.completed:
            return plan.is_repeatable
        # What is open is completed one day: a completion that is not noted could be had again.
        return len(self.completed) + len(self.open) < MOST_COMPLETED

    def take_quest(self, plan: QuestPlan, giver: int, moment: Moment) -> TakenQuest:
        """Take a quest; its plan is a copy."""
        taken = TakenQuest(plan.number, moment, giver, plan.copy())
        self.open[plan.number] = taken
        self.offered.pop(plan.number, None)
        return taken

    def drop(self, number: int) -> TakenQuest | None:
        """Remove an open quest."""
        return self.open.pop(number, None)

    def finish(self, number: int, moment: Moment) -> int:
        """Note an open quest as completed; return how often it was completed now."""
        self.open.pop(number, None)
        times = self.times(number) + 1
        self.completed[number] = Completion(times, moment)
        return times


# -- as it is stored --------------------------------------------------------------------------


def _stored(one: TakenQuest) -> dict[str, Any]:
    plan = one.plan
    values: dict[str, Any] = {
        "at": int(one.accepted),
        "giver": one.giver,
        "counts": {str(step): count for step, count in one.counts.items()},
        "steps": list(one.done),
        "failed": sorted(one.failed),
        "known": sorted(plan.steps if plan is not None else one.known),
        "texts": plan.digest if plan is not None else one.texts,
        "ends": {str(step): int(end) for step, end in one.ends.items()},
        "gifts": one.gifts,
        "untracked": not one.is_tracked,
        "hidden": one.is_hidden,
    }
    stored = {name: value for name, value in values.items() if value or name == "at"}
    if one.flags is not None:
        stored["flags"] = one.flags
    return stored


def _taken(number: int, value: Any) -> TakenQuest:
    stored: Mapping[str, Any] = value if isinstance(value, dict) else {}
    made = TakenQuest(number, Moment(float(_whole(stored.get("at")))) or UNKNOWN)
    made.giver = _whole(stored.get("giver"))
    made.counts = {step: _whole(one) for step, one in _numbered(stored.get("counts"))}
    made.done = tuple(dict.fromkeys(_steps(stored.get("steps"))))
    made.failed = frozenset(_steps(stored.get("failed")))
    made.known = frozenset(_steps(stored.get("known")))
    made.texts = _whole(stored.get("texts"))
    made.ends = {
        step: Moment(float(_whole(one))) for step, one in _numbered(stored.get("ends"))
    }  # fmt: skip
    made.flags = _whole(stored["flags"]) if "flags" in stored else None
    made.gifts = _whole(stored.get("gifts"))
    made.is_tracked = stored.get("untracked") is not True
    made.is_hidden = stored.get("hidden") is True
    return made


def _stored_reward(one: PendingReward) -> dict[str, Any]:
    given = one.reward
    values: dict[str, Any] = {
        "quest": one.quest, "turn": one.turn, "title": one.title, "text": one.text[:LONGEST_STORED],
        "experience": given.experience, "trade_experience": given.trade_experience,
        "coins": given.coins, "items": given.items, "choices": given.choices,
        "factions": given.factions, "status": given.status, "level": one.level,
        "difficulty": one.difficulty, "attempt": one.attempt,
    }  # fmt: skip
    if one.has_coins:
        values["has_coins"] = True
    if one.is_taken:
        values["is_taken"] = True
    return values


def _pending(value: Any) -> PendingReward | None:
    if not isinstance(value, dict) or not isinstance(value.get("turn"), str):
        return None
    reward = QuestReward(
        _whole(value.get("experience")), _whole(value.get("trade_experience")),
        _whole(value.get("coins")), items=_pairs(value.get("items")),
        choices=_pairs(value.get("choices")), factions=_pairs(value.get("factions"), least=-_U32),
        status=_whole(value.get("status")),
    )  # fmt: skip
    return PendingReward(
        _whole(value.get("quest")), value["turn"], str(value.get("title", "")),
        str(value.get("text", "")), reward, value.get("has_coins") is True,
        value.get("is_taken") is True, _whole(value.get("attempt")), _whole(value.get("level")),
        _whole(value.get("difficulty")),
    )  # fmt: skip


def _object(text: str) -> dict[str, Any]:
    try:
        stored = json.loads(text or "{}")
    except ValueError:
        return {}
    return stored if isinstance(stored, dict) else {}


def _whole(value: Any, least: int = 0) -> int:
    return value if type(value) is int and least <= value <= 1 << 52 else 0


def _are_whole(value: Any, count: int) -> bool:
    return (
        isinstance(value, list)
        and len(value) == count
        and all(type(one) is int and 0 <= one <= 1 << 52 for one in value)
    )


def _numbered(found: Any, most: int = 1000) -> list[tuple[int, Any]]:
    if not isinstance(found, dict):
        return []
    pairs = [
        (int(key), value) for key, value in found.items()
        if isinstance(key, str) and key.isascii() and key.isdecimal() and len(key) <= 10
        and int(key) <= _U32
    ]  # fmt: skip
    return pairs[:most]


def _steps(found: Any) -> list[int]:
    if not isinstance(found, list):
        return []
    return [one for one in found if type(one) is int and 0 <= one <= _U32]


def _pairs(found: Any, least: int = 0) -> tuple[tuple[int, int], ...]:
    if not isinstance(found, list):
        return ()
    return tuple(
        (one[0], one[1])
        for one in found
        if isinstance(one, list)
        and len(one) == 2
        and type(one[0]) is int
        and 0 <= one[0] <= _U32
        and type(one[1]) is int
        and least <= one[1] <= _U32
    )
