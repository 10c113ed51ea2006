"""A figure and its yardstick, measured in turn, round by round, in the same run.

A busy machine slows both in the same way, so their ratio stays when the figure does not. The result
is the median of the rounds' ratios, with the lowest and the highest of them.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

ROUNDS = 5
"""The fewest rounds a figure is taken from."""


@dataclass(frozen=True)
class Round:
    """One measurement, and that of the yardstick right beside it."""

    figure: float
    yardstick: float

    @property
    def ratio(self) -> float:
        """How many times the yardstick the figure was."""
        return self.figure / self.yardstick


@dataclass(frozen=True)
class Figure:
    """What was measured, in several rounds."""

    what: str
    unit: str
    """That of the figure and of the yardstick."""
    yardstick: str
    """What the ratio is a multiple of."""
    rounds: Sequence[Round]
    aim: str = ""
    more_is_better: bool = False

    @property
    def ratios(self) -> list[float]:
        """The ratio of each round, the lowest first."""
        return sorted(one.ratio for one in self.rounds)

    @property
    def ratio(self) -> float:
        """The median of the rounds' ratios."""
        return median(self.ratios)

    @property
    def figure(self) -> float:
        """The median of the rounds' figures: of this machine, at this hour."""
        return median(one.figure for one in self.rounds)


@dataclass(frozen=True)
class Past:
    """What a file says of a figure of an earlier run."""

    ratio: float
    low: float
    high: float


def to_json(sections: dict[str, list[Figure]]) -> str:
    """Return a run as JSON: the machine, and every figure with its rounds."""
    figures = [
        {
            "section": section,
            "what": figure.what,
            "unit": figure.unit,
            "yardstick": figure.yardstick,
            "more_is_better": figure.more_is_better,
            "ratio": figure.ratio,
            "low": figure.ratios[0],
            "high": figure.ratios[-1],
            "rounds": [[one.figure, one.yardstick] for one in figure.rounds],
        }
        for section, found in sections.items()
        for figure in found
    ]
    machine = {"python": platform.python_version(), "system": platform.platform()}
    return json.dumps({"machine": machine, "figures": figures}, indent=2)


FORMER = {"strangers": "session_requests"}
"""Sections that had another name in files of earlier runs."""


def read_past(path: Path) -> dict[tuple[str, str], Past]:
    """Read what `to_json` wrote; the keys are (section, what).

    Raises `ValueError` for any other file.
    """
    try:
        figures: Iterable[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["figures"]
        return {
            (FORMER.get(one["section"], one["section"]), one["what"]): Past(
                one["ratio"], one["low"], one["high"]
            )
            for one in figures
        }
    except (KeyError, TypeError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path}: not written by --json of this program") from error


def change(figure: Figure, past: Past) -> str:
    """Return how a figure has changed since an earlier run.

    Better or worse is only what lies outside of both spreads: the rest may be chance.
    """
    percent = f"{figure.ratio / past.ratio - 1:+.0%}"
    if figure.ratios[0] <= past.high and past.low <= figure.ratios[-1]:
        return f"{percent}, within the spread"
    grew = figure.ratio > past.ratio
    return f"{percent}, {'better' if grew == figure.more_is_better else 'WORSE'}"
