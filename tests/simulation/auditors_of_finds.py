"""Auditors of what is found and given: harvests, collections, and gifts of scripts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tests.simulation.auditing import Auditor, Moment
from tests.simulation.content_of_finds import (
    CHOICES,
    COINS,
    GIFT_COINS,
    PIECES,
    SURE,
)
from tests.simulation.content_of_things import ORE

if TYPE_CHECKING:
    from tests.simulation.simulation import Simulation

REWARDS = [
    Counter([("things", SURE), ("things", choice)]) + Counter({("coins", 0): COINS})
    for choice in CHOICES
]


def _gathered(simulation: Simulation) -> Iterator[str]:
    """Nodes give what they have, and one thing for each time that somebody gathers."""
    found: Counter[int] = Counter()
    for number, amount in simulation.rows(
        "SELECT number, amount FROM world_ledger WHERE giver = 'node' AND reason <> ?",
        "not carried out",
    ):
        found[number] += amount
    if found.keys() - set(PIECES):
        yield f"nodes gave {dict(found)}"
    if found.total() > simulation.asked["gather"]:
        yield f"nodes gave {found.total()} things in {simulation.asked['gather']} harvests"


def _pieces(simulation: Simulation) -> Iterator[str]:
    """A character has put each piece away once, at its place."""
    away: Counter[tuple[int, int]] = Counter()
    for owner, item, count, slot in simulation.rows(
        "SELECT keeper_id, item_id, count, slot FROM world_things WHERE keeper = 'pieces'"
    ):
        away[owner, item] += count
        if item != PIECES[slot]:
            yield f"character {owner} has {item} at the place {slot} of a collection"
    for (owner, item), count in sorted(away.items()):
        if count != 1:
            yield f"character {owner} has put away {count} of {item}"


def _rewarded(simulation: Simulation) -> Iterator[str]:
    """A complete collection is rewarded once, with all that it gives."""
    given: defaultdict[tuple[int, str], Counter[tuple[str, int]]] = defaultdict(Counter)
    for request, owner, what, item, amount in simulation.rows(
        "SELECT request, taker_id, what, number, amount FROM world_ledger"
        " WHERE giver = 'collection' AND reason <> ?", "not carried out",
    ):  # fmt: skip
        given[owner, request][what, item] += amount
    for (owner, _), found in sorted(given.items()):
        if found not in REWARDS:
            yield f"a collection gave {dict(found)} to character {owner}"
    rewarded = Counter(owner for owner, _ in given)
    marked = Counter(
        row[0] for row in simulation.rows(
            "SELECT keeper_id FROM world_things WHERE keeper = 'pieces' AND attuned"
        )
    )  # fmt: skip
    for owner in sorted(rewarded | marked):
        if (rewarded[owner], marked[owner]) != (1, len(PIECES)):
            yield (
                f"character {owner} was rewarded {rewarded[owner]} times for a collection, of"
                f" which {marked[owner]} pieces have a mark"
            )


def _gifts(simulation: Simulation) -> Iterator[str]:
    """A script gives and takes as often as somebody has asked it, and no more."""
    given, taken, coins = 0, 0, 0
    for giver, taker, what, number, amount in simulation.rows(
        "SELECT giver, taker, what, number, amount FROM world_ledger"
        # The script of a lens begins what breaks a jewel; see the auditors of uses.
        " WHERE 'script' IN (giver, taker) AND reason NOT IN (?, ?)", "not carried out", "crafted",
    ):  # fmt: skip
        if what == "coins":
            coins += amount
        elif number != ORE or "character" not in (giver, taker):
            yield f"a script moved {amount} of {number} from {giver} to {taker}"
        elif giver == "script":
            given += amount
        else:
            taken += amount
    asked = simulation.asked["hail"]
    if given + taken > asked:
        yield f"scripts gave {given} ores and took {taken} in {asked} hails"
    if coins > GIFT_COINS * asked:
        yield f"scripts gave {coins} copper in {asked} hails"


AUDITORS: tuple[Auditor, ...] = (
    Auditor("a harvest gives one thing", Moment.ANY, _gathered),
    Auditor("pieces are put away once", Moment.ANY, _pieces),
    Auditor("a collection is rewarded once", Moment.ANY, _rewarded),
    Auditor("scripts give what was asked for", Moment.ANY, _gifts),
)
