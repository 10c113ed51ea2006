"""Differences between a running zone and another content of the file that it serves.

Source: docs/guides/content.md#reload.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from emu.content.file import Template, ZoneContent
from emu.content.population import Population
from emu.content.rows import Row
from emu.world.actors.spawn import SpawnTemplate


@dataclass(frozen=True, slots=True)
class ServedZone:
    """The content of one zone with its templates as the world needs them."""

    content: ZoneContent
    templates: Mapping[int, SpawnTemplate]
    """By the spawn's number; spawns that cannot be shown are missing."""
    faults: tuple[str, ...]
    """A line for each spawn that cannot be shown."""
    source: object = None
    """What it was read from: equal ones give the same content. None if it was not read so."""

    def template_as(
        self, template: Template, commands: Mapping[int, Sequence[Row]]
    ) -> SpawnTemplate | None:
        """Return what was made of the same rows here; None if they differ."""
        if self.content.templates.get(template.id) != template:
            return None
        for column in ("commands", "more_commands"):
            number = template.spawn[column]
            if self.content.commands.get(number) != commands.get(number):
                return None
        return self.templates.get(template.id)


class Difference(NamedTuple):
    """What differs between two contents of one zone."""

    places: frozenset[int]
    """Placements that are new, gone or changed, with all placements of their sets."""
    spawns: frozenset[int]
    """Templates that are changed."""


def difference(old: ServedZone, new: ServedZone) -> Difference:
    """Compare two contents of a zone by their numbers. For a thread."""
    before, after = _places(old.content), _places(new.content)
    places = {one for one in before.keys() | after.keys() if before.get(one) != after.get(one)}
    # A set comes and goes as a whole.
    sets: dict[int, set[int]] = {}
    for group in (*old.content.groups, *new.content.groups):
        sets.setdefault(group.set_id, set()).update(group.placements)
    for members in sets.values():
        if not places.isdisjoint(members):
            places |= members
    known, fresh = old.content.templates, new.content.templates
    spawns = frozenset(
        one for one in known.keys() & fresh.keys()
        if known[one] != fresh[one]
        or (
            old.templates.get(one) is not new.templates.get(one)
            and old.templates.get(one) != new.templates.get(one)
        )
    )  # fmt: skip
    return Difference(frozenset(places), spawns)


def _places(content: ZoneContent) -> dict[int, tuple[Any, ...]]:
    """Return all that decides what can stand at each placement."""
    groups: dict[int, list[Any]] = {}
    for group in content.groups:
        for one in group.placements:
            groups.setdefault(one, []).append(group)
    return {
        one.id: (one, content.entries.get(one.location_id), groups.get(one.id))
        for one in content.placements
    }


def prepared(
    old: ServedZone, fresh: ServedZone, running: Population
) -> tuple[Difference, Population]:
    """Return what differs, and a population that can take the running one over. For a thread."""
    return difference(old, fresh), running.renewed(fresh.content)


def emptied(served: ServedZone) -> ServedZone:
    """Return a zone's content without anything that stands there."""
    content = replace(served.content, placements=(), entries={}, groups=())
    return replace(served, content=content, source=None)
