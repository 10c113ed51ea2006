"""A player that plays by itself: it answers windows, fights, loots, wears, and does its quests.

Each thought does the first thing that is possible: answer a window, fight, take loot, go on with
the journal, look around. Times are seconds, distances world units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from emu.client.evening.answers import WindowAnswers
from emu.client.evening.diary import Diary, DiaryEntry
from emu.client.evening.fighting import Fighting
from emu.client.evening.journal import SeenJournal
from emu.client.evening.quests import Questing
from emu.client.evening.reading import DialogChoices
from emu.client.evening.seen import SeenSpawns
from emu.client.world import WorldClientCore, WorldPhase
from emu.client.world.events import (
    LineShown,
    PossessionsChanged,
    ScreenShown,
    WorldEvent,
    ZoneToLoad,
)
from emu.client.world.surroundings import RUNNING_SPEED
from emu.client.world.windows import JournalListed, QuestShown
from emu.errors import CommandError
from emu.times import Monotonic

THINK: Final = 0.5
"""Between two thoughts."""
COLORED: Final = "\\#"
"""How texts on the screen begin that only repeat lines: skills and things that were found."""
QUIET: Final = ("spell", "spell_success", "skill")
"""Colors of lines that are not in the diary."""


class Preferences(NamedTuple):
    """What a player wants."""

    preferred: Sequence[str] = ()
    """Words of the answers that it prefers."""
    refused: Sequence[str] = ()
    """Words of offers, answers and ways that it never takes."""
    first: Sequence[str] = ()
    """Words of the titles or categories of quests that it does before others; without one those of
    `preferred`."""
    speed: float = RUNNING_SPEED
    """How fast it runs."""


class EveningPlayer:
    """One player in the world."""

    def __init__(
        self, core: WorldClientCore, diary: Diary, now: Monotonic, preferences: Preferences
    ) -> None:  # fmt: skip
        self.core = core
        self.diary = diary
        self.journal = SeenJournal()
        self.spawns = SeenSpawns(core)
        self.level = 0
        self._begun = self._now = now
        self.fighting = Fighting(
            core, self.spawns, self.note, preferences.speed,
            is_underway=lambda: self.questing.is_underway,
            is_wanted=self._wants_thing,
        )  # fmt: skip
        self.questing = Questing(
            core,
            self.spawns,
            self.journal,
            self.fighting,
            note=self.note,
            first=preferences.first or preferences.preferred,
            hunts=bool(preferences.first),
            refused=preferences.refused,
            is_unfinished=lambda: self.answers.choices.is_unfinished,
        )
        self.answers = WindowAnswers(
            core, DialogChoices(preferences.preferred, preferences.refused), preferences.refused,
            note=self.note, may_leave=lambda: self.questing.may_leave,
            wanted=lambda: self.questing.journeys.wanted, wants_quest=self.questing.wants,
        )  # fmt: skip

    def _wants_thing(self, name: str) -> bool:
        return self.questing.agenda.names_thing(name)

    def note(self, kind: str, text: str) -> None:
        """Write into the diary."""
        owned = self.core.possessions
        coins = owned.coins if owned is not None else 0
        self.diary.add(DiaryEntry(self._now - self._begun, kind, text, self.level, coins))

    def memory(self) -> dict[str, Any]:
        """Return what the player knows of the world, so that it can go on another time."""
        return {
            "travels": self.questing.journeys.travels,
            "exploration": self.questing.journeys.exploration,
            "answers": self.answers.choices, "fears": self.fighting.fears,
            "quests": self.questing.agenda.zones(),
        }  # fmt: skip

    def recall(self, memory: dict[str, Any]) -> None:
        """Go on with what `memory` has returned."""
        journeys, here = self.questing.journeys, self.questing.journeys.travels.description
        journeys.travels, journeys.exploration = memory["travels"], memory["exploration"]
        journeys.travels.arrive(here, None)
        journeys.exploration.enter(journeys.zone)
        self.answers.choices, self.fighting.fears = memory["answers"], memory["fears"]
        self.fighting.fears.restart(self._now)
        self.questing.agenda.recall(memory.get("quests", {}))

    def handle_event(self, event: WorldEvent, now: Monotonic) -> None:
        """Handle an event of the client."""
        self._now = now
        if isinstance(event, ZoneToLoad):
            self.spawns.forget()
            self.answers.forget()
        self.spawns.handle_event(event, now)
        self.fighting.handle_event(event, now)
        self.questing.handle_event(event, now)
        self.answers.handle_event(event, now)
        self._write(event)

    def _write(self, event: WorldEvent) -> None:
        """Write what an event says into the diary."""
        match event:
            case ZoneToLoad(file, description):
                self.note("zone", f"{description} ({file})")
            case PossessionsChanged():
                self._look_at_level()
            case JournalListed():
                for line in self.journal.listed(event):
                    self.note("quest", line)
            case QuestShown():
                for line in self.journal.shown(event):
                    self.note("task", line)
            case LineShown(color, text) if color not in QUIET:
                self.note("line", f"({color}) {text}")
            case ScreenShown(text) if not text.startswith(COLORED):
                self.note("line", f"*** {text}")
            case _:
                pass

    def _look_at_level(self) -> None:
        owned = self.core.possessions
        level = int(owned.sheet.get("level", 0)) if owned is not None else 0
        if level and level != self.level:
            self.level = self.fighting.level = level
            self.note("level", f"level {level}")

    def _inspect(self) -> None:
        """Ask once for the tasks of each quest that the list alone has shown."""
        for number, quest in self.journal.open.items():
            if not quest.tasks and not quest.was_inspected:
                quest.was_inspected = True
                self.core.inspect_quest(number)

    def think(self, now: Monotonic) -> None:
        """Do the next thing."""
        self._now = now
        if self.core.phase is not WorldPhase.STANDING:
            return
        try:
            if self.fighting.lies_dead(now):
                self.answers.think(now)
                self.core.stand_still(now)
                return
            if self.answers.think(now) or self.fighting.think(now):
                return
            if self.core.dialog is not None:
                self.core.close_dialog()
            if self.answers.talk_goes_on(now) and not self.fighting.is_short_of_time:
                return
            self._inspect()
            self.questing.think(now)
        except CommandError as error:
            self.note("error", str(error))
