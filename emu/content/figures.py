"""Figures of a whole world in a content file: rules, variables, levels, animations.

All of them are read at once, when the world starts. Source: docs/guides/content.md#figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple

from emu.content.file import ContentFile
from emu.content.rows import Row
from emu.content.rules import BY_PROGRAM, rules_in_force

LARGEST_STATE: Final = 0xFFFF
LAST_VERSION: Final = 0xFFFFFFFF


class Animation(NamedTuple):
    """The number of an animation in a range of client versions; scripts have its name."""

    state: int
    from_version: int
    to_version: int


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one content file; empty without one."""

    rules: Mapping[tuple[str, str], str] = field(default_factory=lambda: BY_PROGRAM)
    """Values of the rules that are in force, by category and name.

    Rules that no set has are those of EQ2Emulator's program.
    """
    variables: Mapping[str, str] = field(default_factory=dict)
    experience: Mapping[int, int] = field(default_factory=dict)
    """The points that lead to a level, by that level."""
    animations: Mapping[str, tuple[Animation, ...]] = field(default_factory=dict)
    """By name, in small letters; the oldest versions first."""
    titles: Mapping[str, bool] = field(default_factory=dict)
    """Whether a title stands before the name, by its text."""
    races: Mapping[int, int] = field(default_factory=dict)
    """The kind of creature that a model shows, by the model's number; hundreds of kinds."""
    commands: Mapping[int, Sequence[Row]] = field(default_factory=dict)
    """Lists of commands by their number."""
    voices: Mapping[tuple[int, int, int], Row] = field(default_factory=dict)
    """Spoken lines by kind, number and index; a garbled one names the index that it stands for."""
    problems: Sequence[str] = ()
    """Bad rows of a damaged file, which are left out; one line each."""


def read_figures(path: Path | None) -> Figures:
    """Read the figures of a content file; without one only rules are known.

    Raises `FileFormatError`.
    """
    if path is None:
        return Figures()
    with ContentFile(path) as file:
        figures = Figures(
            {**BY_PROGRAM, **rules_in_force(file)},
            {row["name"]: row["value"] for row in file.table("variables")},
            {row["level"]: row["points"] for row in file.table("experience")},
            _animations(file.each("emotes"), file.each("visual_states")),
            {row["title"]: bool(row["is_prefix"]) for row in reversed(file.table("titles"))},
            {row["model"]: row["race"] for row in file.table("model_races")},
            _lists(file.each("commands")),
            {(row["kind"], row["id"], row["index"]): row for row in file.table("voices")},
        )
        return replace(figures, problems=tuple(file.problems))


def _animations(emotes: Iterable[Row], states: Iterable[Row]) -> dict[str, tuple[Animation, ...]]:
    """Return the animations by name, each with its numbers in the ranges of client versions.

    EQ2Emulator looks a name up in the emotes, which have a range of versions. The visual states
    have only the numbers of newer clients: they are asked for what is no emote.
    """
    found: dict[str, tuple[Animation, ...]] = {}
    for row in emotes:
        name, last = row["name"].casefold(), row["max_version"] or LAST_VERSION
        one, known = Animation(row["state"], row["min_version"], last), found.get(name, ())
        # Of several rows of one name and range the first counts.
        is_new = all(one.from_version != other.from_version for other in known)
        if 0 < one.state <= LARGEST_STATE and is_new:
            found[name] = tuple(sorted((*known, one), key=lambda each: each.from_version))
    for row in states:
        if 0 < row["state"] <= LARGEST_STATE:
            one = Animation(row["state"], row["min_version"], LAST_VERSION)
            found.setdefault(row["name"].casefold(), (one,))
    return found


def _lists(rows: Iterable[Row]) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(row["list_id"], []).append(row)
    return found
