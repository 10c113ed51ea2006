"""Quests: their rows in a content file, as plans.

Source: docs/guides/content.md#quests.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import Lock
from typing import Final

from emu.content.file import ContentFile
from emu.content.knowledge import Quest, quests
from emu.content.rows import Row
from emu.quests.needs import NO_NEEDS, QuestNeeds
from emu.quests.plans import QuestPlan, QuestReward
from emu.quests.staged import StagedQuest

EMPTY: Final = "Quests/MultipleZones/Empty.lua"
"""The script of quests that are texts alone; it does nothing."""


def _needs(rows: list[Row]) -> QuestNeeds:
    values: Mapping[str, list[Row]] = {
        subject: [row for row in rows if row["subject"] == subject]
        for subject in ("advlevel", "maxadvlevel", "tslevel", "class", "race", "faction", "quest")
    }

    def numbers(subject: str) -> tuple[int, ...]:
        return tuple(row["value"] for row in values[subject])

    if not rows:
        return NO_NEEDS
    return QuestNeeds(
        max(numbers("advlevel"), default=0),
        min(numbers("maxadvlevel"), default=0),
        max(numbers("tslevel"), default=0),
        numbers("class"),
        numbers("race"),
        tuple((row["faction_id"], row["value"], row["quantity"]) for row in values["faction"]),
        numbers("quest"),
    )


# -- plans --------------------------------------------------------------------------------------


def plan_of(quest: Quest) -> QuestPlan:
    """Return the plan of a quest of a content file; its steps are in its script."""
    row = quest.row
    script = row["script"]
    return QuestPlan(
        row["id"], row["name"], row["category"], row["zone"], row["level"], row["difficulty"],
        row["description"], row["completed_text"], "" if script == EMPTY else script,
        row["returner"], bool(row["is_deletable"]), row["is_shareable"],
        bool(row["hides_reward"]), needs=_needs([*quest.prerequisites]),
        reward=_reward(quest.rewards, row),
    )  # fmt: skip


def _reward(rows: Iterable[Row], quest: Row) -> QuestReward:
    values: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        values[row["subject"]].append(row)

    def first(subject: str) -> int:
        return max(0, int(values[subject][0]["value"])) if values[subject] else 0

    def things(subject: str) -> tuple[tuple[int, int], ...]:
        return tuple((row["value"], max(1, row["quantity"])) for row in values[subject])

    coins, most = first("coin"), first("maxcoin")
    return QuestReward(
        first("experience"), first("tsexperience"), coins, most if most > coins else 0,
        things("item"), things("selectable"),
        tuple((row["faction_id"], row["value"]) for row in values["faction"]),
        quest["min_status"], quest["min_status"], quest["max_status"],
    )  # fmt: skip


class QuestTables:
    """The quests of one world, read when they are first needed; any thread may call it."""

    def __init__(
        self, content: Path | None = None, staged: Mapping[int, StagedQuest] | None = None
    ) -> None:
        """`staged` are the quests of TOML files, by number; they win over the content file."""
        self.staged: Mapping[int, StagedQuest] = staged or {}
        self._lock = Lock()
        self.reload(content)

    def reload(self, content: Path | None) -> None:
        """Read from another file, or from the changed one."""
        with self._lock:
            self._path = content
            self._file: ContentFile | None = None
            self._factions: dict[int, Row | None] = {}

    def _content(self) -> ContentFile | None:
        if self._path is not None and self._file is None:
            self._file = ContentFile(self._path, is_shared=True)
        return self._file

    def plan(self, number: int) -> QuestPlan | None:
        """Return a new plan of a quest without the steps of its script; None if there is none.

        Raises `FileFormatError`.
        """
        staged = self.staged.get(number)
        if staged is not None:
            return staged.master()
        with self._lock:
            file = self._content()
            found = quests(file, [number]).get(number) if file is not None else None
        return plan_of(found) if found is not None else None

    def faction(self, number: int) -> Row | None:
        """Return the row of a faction. Raises `FileFormatError`."""
        if number not in self._factions:
            with self._lock:
                file = self._content()
                rows = file.rows("factions", "id", [number]) if file is not None else ()
                self._factions[number] = next(iter(rows), None)
        return self._factions[number]
