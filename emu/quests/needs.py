"""The needs of quests, and whether a character meets them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple


class QuestNeeds(NamedTuple):
    """What a character needs for one quest; an empty tuple or 0 asks for nothing."""

    least_level: int = 0
    most_level: int = 0
    tradeskill_level: int = 0
    classes: tuple[int, ...] = ()
    """The numbers of classes of which it must have one."""
    races: tuple[int, ...] = ()
    standings: tuple[tuple[int, int, int], ...] = ()
    """Factions, each with the least standing and the greatest one; 0 for no greatest. The
    character must meet one of them."""
    quests: tuple[int, ...] = ()
    """The quests that it must have completed, all of them."""
    tradeskill_classes: tuple[int, ...] = ()
    models: tuple[int, ...] = ()
    items: tuple[tuple[int, int], ...] = ()
    """Kinds of things with their numbers, which scripts add. Nothing asks for them, as in
    EQ2Emulator: scripts test the bags themselves."""


class Candidate(NamedTuple):
    """A character as quests ask for it."""

    level: int
    class_: int
    race: int
    model: int
    tradeskill_level: int
    tradeskill_class: int
    standing: Callable[[int], int]
    """Returns what a faction thinks of it."""
    has_completed: Callable[[int], bool]


NO_NEEDS: Final = QuestNeeds()


def are_met(needs: QuestNeeds, one: Candidate) -> bool:
    """Return whether a character has what a quest asks for.

    It must have completed all quests, and be one of the classes, races, models and meet one of the
    standings. Source: docs/guides/quests.md#needs.
    """
    if needs is NO_NEEDS:
        return True
    return (
        needs.least_level <= one.level <= (needs.most_level or one.level)
        and needs.tradeskill_level <= one.tradeskill_level
        and (not needs.classes or one.class_ in needs.classes)
        and (not needs.races or one.race in needs.races)
        and (not needs.models or one.model in needs.models)
        and (not needs.tradeskill_classes or one.tradeskill_class in needs.tradeskill_classes)
        and (
            not needs.standings
            or any(
                least <= one.standing(faction) and (not most or one.standing(faction) <= most)
                for faction, least, most in needs.standings
            )
        )
        and all(map(one.has_completed, needs.quests))
    )
