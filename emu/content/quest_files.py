"""Quests of TOML files: their phases and steps, and what their givers say.

Source: docs/guides/quests.md#files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from emu.errors import FileFormatError
from emu.files import data_file, read_document
from emu.quests.needs import QuestNeeds
from emu.quests.plans import QuestPlan, QuestReward, QuestSpot, Step, StepKind
from emu.quests.staged import ACCEPT, DECLINE, Giver, Phase, StagedQuest, StepTalk

LARGEST: Final = 0x7FFFFFFF
_KINDS: Final = {kind.value: kind for kind in StepKind}
_QUEST: Final = frozenset((
    "id", "title", "category", "zone", "level", "description", "completed_text", "giver", "says",
    "accept", "decline", "busy", "thanks", "giver_zone", "after", "least_level", "classes",
    "races", "repeatable", "shareable", "accepted", "declined", "dropped", "completed", "reward",
    "phase", "difficulty",
))  # fmt: skip
_PHASE: Final = frozenset(("text", "done", "step"))
_STEP: Final = frozenset((
    "kind", "text", "quantity", "percent", "icon", "ids", "names", "at", "within", "at_zone",
    "says", "answer", "reply", "gives", "takes", "players",
))  # fmt: skip
_REWARD: Final = frozenset((
    "experience", "coins", "most_coins", "items", "choices", "factions", "status", "comment",
))  # fmt: skip


def shipped_quests() -> Path:
    """Return the file of the quests that come with the server."""
    return data_file("world", "quests.toml")


def read_quests(paths: Iterable[Path]) -> dict[int, StagedQuest]:
    """Return the quests of files by number; later files win. Raises `FileFormatError`."""
    found: dict[int, StagedQuest] = {}
    for path in paths:
        rows = read_document(path).get("quest", [])
        for at, row in enumerate(rows if isinstance(rows, list) else [None], 1):
            try:
                quest = _quest(row)
            except (KeyError, TypeError, ValueError) as error:
                raise FileFormatError(f"{path}: quest {at}: {error}") from error
            found[quest.plan.number] = quest
    return found


def _table(row: Any, known: frozenset[str], what: str) -> Mapping[str, Any]:
    if not isinstance(row, dict):
        raise TypeError(f"{what} must be a table")
    unknown = row.keys() - known
    if unknown:
        raise ValueError(f"{what} has no {', '.join(sorted(unknown))}")
    return row


def _number(row: Mapping[str, Any], name: str, default: int | None = None) -> int:
    value = row.get(name, default)
    if type(value) is not int or not 0 <= value <= LARGEST:
        raise ValueError(f"{name} must be a number")
    return value


def _text(row: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = row.get(name, default)
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a text")
    return value


def _pairs(row: Mapping[str, Any], name: str) -> tuple[tuple[int, int], ...]:
    """Return pairs of a kind and a number; a kind alone counts once."""
    found = []
    for one in row.get(name, ()):
        pair = [one, 1] if type(one) is int else one
        if not isinstance(pair, list) or len(pair) != 2 or {*map(type, pair)} != {int}:
            raise ValueError(f"{name} must have numbers, or pairs of them")
        found.append((pair[0], pair[1]))
    return tuple(found)


def _numbers(row: Mapping[str, Any], name: str) -> tuple[int, ...]:
    values = row.get(name, [])
    if not isinstance(values, list) or any(type(one) is not int for one in values):
        raise ValueError(f"{name} must be a list of numbers")
    return tuple(values)


def _quest(value: Any) -> StagedQuest:
    row = _table(value, _QUEST, "a quest")
    zone = _text(row, "zone")
    plan = QuestPlan(
        _number(row, "id"), _text(row, "title"), _text(row, "category", zone), zone,
        _number(row, "level", 1), _number(row, "difficulty", 0), _text(row, "description"),
        _text(row, "completed_text", ""), is_shareable=_number(row, "shareable", 0),
        is_repeatable=bool(row.get("repeatable", False)),
        needs=QuestNeeds(
            least_level=_number(row, "least_level", 0), classes=_numbers(row, "classes"),
            races=_numbers(row, "races"), quests=_numbers(row, "after"),
        ),
        reward=_reward(row.get("reward", {})),
    )  # fmt: skip
    giver = Giver(
        _text(row, "giver", ""), _number(row, "giver_zone", 0), _text(row, "says", ""),
        _text(row, "accept", ACCEPT), _text(row, "decline", DECLINE),
        _text(row, "busy", ""), _text(row, "thanks", ""),
    )  # fmt: skip
    made = StagedQuest(
        plan, giver, (), _text(row, "accepted", ""), _text(row, "declined", ""),
        _text(row, "dropped", ""), _text(row, "completed", ""),
    )  # fmt: skip
    return _with_phases(made, row["phase"])


def _reward(value: Any) -> QuestReward:
    row = _table(value, _REWARD, "a reward")
    coins, most = _number(row, "coins", 0), _number(row, "most_coins", 0)
    return QuestReward(
        _number(row, "experience", 0), 0, coins, most if most > coins else 0,
        _pairs(row, "items"), _pairs(row, "choices"), _pairs(row, "factions"),
        _number(row, "status", 0), comment=_text(row, "comment", ""),
    )  # fmt: skip


def _with_phases(quest: StagedQuest, rows: Any) -> StagedQuest:
    """Return a quest with its phases; its steps are numbered from 1."""
    if not isinstance(rows, list) or not rows:
        raise ValueError("a quest has phases")
    phases, number = [], 1
    talks, gives, takes = {}, {}, {}
    for value in rows:
        row = _table(value, _PHASE, "a phase")
        steps = []
        if not isinstance(row["step"], list) or not row["step"]:
            raise ValueError("a phase has steps")
        for one in row["step"]:
            inner = _table(one, _STEP, "a step")
            steps.append(_step(number, inner))
            if "says" in inner:
                talks[number] = StepTalk(
                    _text(inner, "says"), _text(inner, "answer"), _text(inner, "reply", "")
                )
            gives[number], takes[number] = _pairs(inner, "gives"), _pairs(inner, "takes")
            number += 1
        phases.append(Phase(_text(row, "text"), _text(row, "done", ""), tuple(steps)))
    return StagedQuest(
        quest.plan, quest.giver, tuple(phases), quest.accepted, quest.declined, quest.dropped,
        quest.completed, talks, gives, takes,
    )  # fmt: skip


def _step(number: int, row: Mapping[str, Any]) -> Step:
    kind = _KINDS.get(_text(row, "kind"))
    if kind is None:
        raise ValueError(f"there is no kind {row['kind']!r} of steps")
    spots: tuple[QuestSpot, ...] = ()
    if kind in (StepKind.PLACE, StepKind.PLACE_IN_ZONE):
        x, y, z = (float(one) for one in row["at"])
        spots = (QuestSpot(x, y, z, _number(row, "at_zone", 0)),)
    percent = row.get("percent", 100.0)
    if not isinstance(percent, int | float) or not 0 < percent <= 100:
        raise ValueError("percent must be from 0 to 100")
    return Step(
        number, kind, _text(row, "text"), _number(row, "quantity", 1), float(percent),
        _number(row, "icon", 0), frozenset(_numbers(row, "ids")), spots,
        float(row.get("within", 5.0)),
        names=frozenset(str(one).casefold() for one in row.get("names", ())),
        players=_number(row, "players", 1),
    )  # fmt: skip
