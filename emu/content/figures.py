"""Figures of a whole world in a content file: rules, variables, levels, animations, quests.

All of them are read at once, when the world starts. Source: docs/guides/content.md#figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from emu.content.file import ContentFile, Row
from emu.content.quests import QuestNeeds, quest_needs

LARGEST_STATE: Final = 0xFFFF


class Animation(NamedTuple):
    """An animation that scripts call by its name."""

    state: int
    from_version: int
    """The first client version that has it."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one content file; empty without one."""

    rules: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Values of the rules that are in force, by category and name."""
    variables: Mapping[str, str] = field(default_factory=dict)
    experience: Mapping[int, int] = field(default_factory=dict)
    """The points that lead to a level, by that level."""
    animations: Mapping[str, Animation] = field(default_factory=dict)
    """By name, in small letters."""
    titles: Mapping[str, bool] = field(default_factory=dict)
    """Whether a title stands before the name, by its text."""
    races: Mapping[int, int] = field(default_factory=dict)
    """The kind of creature that a model shows, by the model's number; hundreds of kinds."""
    commands: Mapping[int, Sequence[Row]] = field(default_factory=dict)
    """Lists of commands by their number."""
    quests: Mapping[int, QuestNeeds] = field(default_factory=dict)
    """What each quest asks of a character, by the quest's number."""
    voices: Mapping[tuple[int, int, int], Row] = field(default_factory=dict)
    """Spoken lines by kind, number and index; a garbled one names the index that it stands for."""


def read_figures(path: Path | None) -> Figures:
    """Read the figures of a content file; without one they are empty. Raises `FileFormatError`."""
    if path is None:
        return Figures()
    with ContentFile(path) as file:
        # Without an active set, all rules count.
        active = {row["id"] for row in file.table("rule_sets") if row["is_active"]}
        return Figures(
            {
                (row["category"], row["name"]): row["value"]
                for row in file.table("rules")
                if not active or row["set_id"] in active
            },
            {row["name"]: row["value"] for row in file.table("variables")},
            {row["level"]: row["points"] for row in file.table("experience")},
            _animations(file.each("visual_states")),
            {row["title"]: bool(row["is_prefix"]) for row in reversed(file.table("titles"))},
            {row["model"]: row["race"] for row in file.table("model_races")},
            _lists(file.each("commands")),
            quest_needs(file),
            {(row["kind"], row["id"], row["index"]): row for row in file.table("voices")},
        )


def _animations(rows: Iterable[Row]) -> dict[str, Animation]:
    found: dict[str, Animation] = {}
    for row in rows:
        if 0 < row["state"] <= LARGEST_STATE:
            # Of several rows of one name the first counts.
            found.setdefault(row["name"].casefold(), Animation(row["state"], row["min_version"]))
    return found


def _lists(rows: Iterable[Row]) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(row["list_id"], []).append(row)
    return found
