"""Plans of quests: texts, steps, rewards and needs, as a row, a file and a script give them.

The plan that is read first is the master. Each player who takes the quest has a copy, which its
script may change: texts get the past tense, later steps are added. A copy shares all steps with its
master until one changes. Source: docs/guides/quests.md#plans.
"""

from __future__ import annotations

import enum
import operator
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from emu.quests.needs import NO_NEEDS, QuestNeeds

MOST_STEPS: Final = 200
"""Steps of one plan; scripts cannot add more."""
MOST_REWARDS: Final = 50
"""Things of each kind of reward."""
LONGEST_TEXT: Final = 4000
"""Characters of a text of a plan."""


class StepKind(enum.StrEnum):
    """What a step counts."""

    PLAIN = "plain"
    """What scripts say."""
    TALK = "talk"
    KILL = "kill"
    """A death that counts for all who fought."""
    KILL_SELF = "kill oneself"
    """A death that counts for who has killed."""
    KILL_RACE = "kill a race"
    OBTAIN = "obtain"
    """Things in the bags, also those that were there before."""
    CRAFT = "craft"
    HARVEST = "harvest"
    SPELL = "spell"
    """A spell that the player has cast."""
    PLACE = "place"
    PLACE_IN_ZONE = "place in a zone"


PLACES: Final = frozenset((StepKind.PLACE, StepKind.PLACE_IN_ZONE))
KILLS: Final = frozenset((StepKind.KILL, StepKind.KILL_SELF, StepKind.KILL_RACE))


class QuestSpot(NamedTuple):
    """A place that a step asks for; zone 0 is any zone."""

    x: float
    y: float
    z: float
    zone: int = 0


class StepActions(NamedTuple):
    """Names of the functions of a quest's script for one step; empty for none."""

    done: str = ""
    progress: str = ""
    failed: str = ""


NO_ACTIONS: Final = StepActions()


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a quest."""

    number: int
    kind: StepKind
    text: str
    quantity: int = 1
    """How often its subject has to happen; with 0 only scripts end it."""
    percent: float = 100.0
    """The chance that one time counts."""
    icon: int = 0
    ids: frozenset[int] = frozenset()
    """The kinds of spawns, races, things or spells that count."""
    spots: tuple[QuestSpot, ...] = ()
    radius: float = 0.0
    """How far from a spot counts: the sum of the differences of x, y and z."""
    usable_item: int = 0
    names: frozenset[str] = frozenset()
    """Names of spawns that count, in small letters: quests of files have no numbers."""
    players: int = 1
    """How many of a group must have the quest and be near for one time to count."""
    actions: StepActions = NO_ACTIONS

    def is_at(self, x: float, y: float, z: float, zone: int) -> bool:
        """Return whether a place is near one of its spots."""
        return any(
            one.zone in (0, zone)
            and abs(one.x - x) + abs(one.y - y) + abs(one.z - z) <= self.radius
            for one in self.spots
        )


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """Steps that the journal shows below one line."""

    text: str
    steps: tuple[int, ...]
    has_bullets: bool = True
    has_last_text: bool = False
    """Whether it was given its last text: once it is done, the journal shows that alone."""


@dataclass(frozen=True, slots=True)
class QuestReward:
    """What a quest gives."""

    experience: int = 0
    trade_experience: int = 0
    coins: int = 0
    """Copper; the least if there is a most."""
    most_coins: int = 0
    """0: always `coins`."""
    items: tuple[tuple[int, int], ...] = ()
    """Kinds of things that the player gets, each with its number."""
    choices: tuple[tuple[int, int], ...] = ()
    """Kinds of things of which the player chooses one."""
    factions: tuple[tuple[int, int], ...] = ()
    """Factions, each with the change of its standing."""
    status: int = 0
    least_status: int = 0
    most_status: int = 0
    comment: str = ""
    """The line in the offer's window."""


NO_REWARD: Final = QuestReward()


class FeatherColor(enum.IntEnum):
    """The mark over a spawn that offers a quest, as `SetQuestFeatherColor` numbers it."""

    GOLD = 0
    PURPLE = 1
    GREEN = 2
    BLUE = 3


@dataclass(slots=True)
class QuestPlan:
    """One quest: the master, or the copy of a player."""

    number: int
    title: str
    category: str = ""
    """The heading in the journal, its type."""
    zone: str = ""
    level: int = 1
    difficulty: int = 0
    """Of its row; clients are shown the color of the level."""
    description: str = ""
    completed_text: str = ""
    script: str = ""
    """The file of its Lua script; empty for a quest of a file."""
    returner: int = 0
    """The kind of spawn that takes it back; 0 for none."""
    is_deletable: bool = True
    is_shareable: int = 0
    """Bits: 1 while active, 2 once done before, 4 completed."""
    hides_reward: bool = False
    is_repeatable: bool = False
    is_yellow: bool = False
    feather: int = 0
    flags: int = 0
    has_complete_flag: bool = False
    on_complete: str = ""
    needs: QuestNeeds = NO_NEEDS
    reward: QuestReward = NO_REWARD
    gift_coins: int = 0
    """Copper of the next window in the middle of the quest."""
    gift_status: int = 0
    steps: Mapping[int, Step] = field(default_factory=dict)
    """By number, in the order in which they were added; replaced when it changes."""
    groups: tuple[TaskGroup, ...] = ()
    _digested: tuple[tuple[object, ...], int] = field(default=((), 0), compare=False, repr=False)
    """The last digest, after what it was made of: all of that is replaced when it changes."""

    def copy(self) -> QuestPlan:
        """Return a copy that can change by itself; it shares what does not change."""
        return replace(self)

    @property
    def digest(self) -> int:
        """A number that is another one, as good as always, when the journal shows other texts."""
        parts = self.title, self.category, self.zone, self.description, self.groups, self.steps
        before, digest = self._digested
        if len(before) != len(parts) or not all(map(operator.is_, before, parts)):
            steps = [(one.number, one.text) for one in self.steps.values()]
            groups = [(one.text, one.steps) for one in self.groups]
            digest = zlib.crc32(repr((*parts[:4], groups, steps)).encode())
            self._digested = parts, digest
        return digest

    def add_step(self, step: Step, group: str = "") -> bool:
        """Add a step to the group with a text, or to one of its own; False if it is there.

        A step whose number is taken is not added again: the actions of steps repeat it.
        """
        if step.number in self.steps or len(self.steps) >= MOST_STEPS:
            return False
        self.steps = {**self.steps, step.number: step}
        text = group or step.text
        for at, one in enumerate(self.groups):
            if group and one.text == group:
                self._set_group(at, steps=(*one.steps, step.number))
                break
        else:
            self.groups = (*self.groups, TaskGroup(text, (step.number,)))
        return True

    def _set_group(self, at: int, **values: Any) -> None:
        changed = replace(self.groups[at], **values)
        self.groups = (*self.groups[:at], changed, *self.groups[at + 1 :])

    def remove(self, number: int) -> bool:
        """Remove a step; return False if there is none."""
        if number not in self.steps:
            return False
        self.steps = {step: one for step, one in self.steps.items() if step != number}
        kept = [
            replace(one, steps=tuple(other for other in one.steps if other != number))
            for one in self.groups
        ]
        self.groups = tuple(one for one in kept if one.steps)
        return True

    def describe(self, number: int, text: str) -> bool:
        """Give a step another text; return False if there is none."""
        return self.change(number, text=text)

    def describe_group(self, number: int, text: str, *, has_bullets: bool = True) -> bool:
        """Give a group another text, by its place counted from 1; False if there is none."""
        if not 1 <= number <= len(self.groups) or not text:
            return False
        self._set_group(number - 1, text=text, has_bullets=has_bullets, has_last_text=True)
        return True

    def rename_group(self, number: int, text: str) -> bool:
        """Give a group another text that is not its last one; False if there is none."""
        if not 1 <= number <= len(self.groups) or not text:
            return False
        self._set_group(number - 1, text=text, has_last_text=False)
        return True

    def change(self, number: int, **values: object) -> bool:
        """Change fields of a step; return False if there is none."""
        step = self.steps.get(number)
        if step is None:
            return False
        changed = replace(step, **values)  # type: ignore[arg-type]  # fields of a Step
        self.steps = {**self.steps, number: changed}
        return True

    def set_action(self, number: int, **names: str) -> bool:
        """Name functions of the script for a step; return False if there is no such step."""
        step = self.steps.get(number)
        return step is not None and self.change(number, actions=step.actions._replace(**names))

    def group_of(self, number: int) -> int:
        """Return the place of a step's group, counted from 0; -1 if there is no such step."""
        return next((at for at, one in enumerate(self.groups) if number in one.steps), -1)

    def rewarded(self, **values: object) -> None:
        """Change what the quest gives."""
        self.reward = replace(self.reward, **values)  # type: ignore[arg-type]  # its fields

    def demand(self, **values: Any) -> None:
        """Change what the quest asks for."""
        self.needs = self.needs._replace(**values)


def limited(items: Sequence[tuple[int, int]], one: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    """Return a list of rewards with one more, unless it is full."""
    return (*items, one) if len(items) < MOST_REWARDS else tuple(items)
