"""The reasons why nothing stands at a placement, for operators and builders.

Source: docs/guides/content.md#population.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from emu.content.file import Entry, Placement, Template


@dataclass(frozen=True, slots=True)
class Vacancy:
    """A placement of a running zone and all that decides whether something stands there."""

    placement: Placement
    entries: Sequence[Entry]
    groups: tuple[int, ...]
    """The groups that it belongs to; empty for a placement of its own."""
    rivals: Collection[int]
    """The groups that stand now instead of its own."""
    is_dead: bool
    returns_in: float | None
    """Seconds until what died there returns; None: never, or nothing died."""
    templates: Mapping[int, Template]
    """The spawns of the zone by number."""
    open_now: Collection[int]
    """The entries whose time of the day, weather, expansion and holiday are there."""


def reasons(vacancy: Vacancy) -> Iterator[str]:
    """Yield a line for each reason why the placement is empty."""
    if vacancy.is_dead:
        yield _return_text(vacancy)
        return
    if vacancy.groups and vacancy.rivals:
        names = ", ".join(map(str, sorted(vacancy.rivals)))
        yield f"group {names} of the same set stands instead of its group {vacancy.groups[0]}"
        return
    closed = [line for one in vacancy.entries if (line := _why_not(vacancy, one))]
    yield from closed
    if len(closed) < len(vacancy.entries):
        yield "a script removed what stood here, or the last roll of the weights chose nothing"
    if not vacancy.entries:
        yield "its location has no entry"


def _return_text(vacancy: Vacancy) -> str:
    if vacancy.returns_in is None:
        return "what stood here died or was removed, and its respawn time of 0 means never"
    return f"what stood here died and returns in {round(vacancy.returns_in)} s"


def _why_not(vacancy: Vacancy, entry: Entry) -> str:
    """Return why an entry cannot stand; empty if it can."""
    template = vacancy.templates.get(entry.spawn_id)
    if template is None:
        return f"entry {entry.id}: there is no spawn {entry.spawn_id} in the content file"
    name = template.spawn["name"]
    if entry.weight <= 0:
        return f"entry {entry.id} ({name}): its weight is {entry.weight:g}"
    if entry.id not in vacancy.open_now:
        return (
            f"entry {entry.id} ({name}): waits for its time of the day, weather, expansion or"
            f" holiday (condition {entry.condition})"
        )
    return ""
