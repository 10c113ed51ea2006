"""Requirements of quests: rows of the content file.

Source: docs/guides/content.md#quests.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Final, NamedTuple

from emu.content.file import ContentFile
from emu.content.rows import Row

PREREQUISITE: Final = "prereq"


class QuestNeeds(NamedTuple):
    """What a character needs for one quest; an empty tuple or 0 asks for nothing."""

    least_level: int = 0
    most_level: int = 0
    tradeskill_level: int = 0
    classes: tuple[int, ...] = ()
    """The numbers of classes of which it must have one."""
    races: tuple[int, ...] = ()
    standings: tuple[tuple[int, int, int], ...] = ()
    """Factions, each with the least standing and the greatest one; 0 for no greatest."""
    quests: tuple[int, ...] = ()
    """The quests that it must have completed."""


NO_NEEDS: Final = QuestNeeds()


def quest_needs(file: ContentFile) -> dict[int, QuestNeeds]:
    """Return what each quest of a content file asks for, by the quest's number."""
    details: defaultdict[int, list[Row]] = defaultdict(list)
    for row in file.each("quest_details"):
        if row["kind"] == PREREQUISITE:
            details[row["quest_id"]].append(row)
    # Most quests ask for nothing, and share one object.
    return {
        row["id"]: _needs(details[row["id"]]) if row["id"] in details else NO_NEEDS
        for row in file.each("quests")
    }


def _needs(rows: list[Row]) -> QuestNeeds:
    values: Mapping[str, list[Row]] = {
        subject: [row for row in rows if row["subject"] == subject]
        for subject in ("advlevel", "maxadvlevel", "tslevel", "class", "race", "faction", "quest")
    }

    def numbers(subject: str) -> tuple[int, ...]:
        return tuple(row["value"] for row in values[subject])

    return QuestNeeds(
        max(numbers("advlevel"), default=0),
        min(numbers("maxadvlevel"), default=0),
        max(numbers("tslevel"), default=0),
        numbers("class"),
        numbers("race"),
        tuple((row["faction_id"], row["value"], row["quantity"]) for row in values["faction"]),
        numbers("quest"),
    )
