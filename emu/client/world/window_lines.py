"""Lines that show the windows of a client to people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from emu.client.world import windows
from emu.texts import counted


def _journal(event: windows.JournalListed) -> str:
    rows = [f"{one.title}{'' if one.is_open else ' (done)'}" for one in event.rows]
    return f"journal: {'; '.join(rows)}"


def _quest(event: windows.QuestShown) -> str:
    tasks = [f"{one.text} ({one.count}/{one.needed})" for one in event.tasks]
    end = ", complete" if event.is_complete else ""
    return f"quest {event.title}{end}: {'; '.join(tasks) or 'no task'}"


def _reward(event: windows.RewardOffered) -> str:
    parts = [*event.things, *([f"{event.coins} copper"] if event.coins else [])]
    if event.choices:
        parts.append(f"one of {counted(len(event.choices), 'thing')}")
    parts += [f"standing with {one}" for one in event.factions]
    return f"reward {event.title}: {', '.join(parts) or 'nothing'}"


def _goods(event: windows.GoodsShown) -> str:
    rows = [f"{one.name} ({one.price} copper)" for one in event.goods]
    return f"for sale: {', '.join(rows) or 'nothing'}"


WINDOW_LINES: Final[dict[type, Callable[[Any], str]]] = {
    windows.OfferShown: lambda event: f"quest {event.title} is offered: {event.description}",
    windows.QuestShown: _quest,
    windows.JournalListed: _journal,
    windows.RewardOffered: _reward,
    windows.LootShown: lambda event: (
        f"to take: {', '.join(name for _, name in event.things) or 'nothing'}"
    ),
    windows.LessonShown: lambda event: f"lesson: {event.text}",
    windows.ChoiceOffered: lambda event: f"{event.text} [{event.accept_text}]",
    windows.GoodsShown: _goods,
    windows.HousePriced: lambda event: f"{event.name} costs {event.price} copper",
    windows.HouseShown: lambda event: f"house: {event.name}",
    windows.PlaceAsked: lambda event: f"a place for thing {event.index} is to be chosen",
    windows.VerbsShown: lambda event: (
        f"what can be done: {', '.join(text for _, text in event.verbs) or 'nothing'}"
    ),
}
"""The line of each kind of window."""
