"""Auditors of crafting: what a creation takes and gives, and what books teach."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tests.simulation.auditing import Auditor, Moment, parts
from tests.simulation.content_of_crafts import NEEDED, PRODUCTS, RECIPE
from tests.simulation.content_of_things import BOOK

if TYPE_CHECKING:
    from tests.simulation.simulation import Simulation


def _creations(simulation: Simulation) -> Iterator[str]:
    """Each creation took what its recipe needs of one character, and gave it one phase."""
    taken: defaultdict[str, Counter[int]] = defaultdict(Counter)
    given: defaultdict[str, Counter[int]] = defaultdict(Counter)
    makers: defaultdict[str, set[int]] = defaultdict(set)
    for request, giver, giver_id, taker, taker_id, number, amount in simulation.rows(
        "SELECT request, giver, giver_id, taker, taker_id, number, amount FROM world_ledger"
        " WHERE reason = 'crafted' AND 'script' NOT IN (giver, taker)"
    ):
        if (giver, taker, taker_id) == ("character", "recipe", RECIPE):
            taken[request][number] += amount
            makers[request].add(giver_id)
        elif (giver, giver_id, taker) == ("recipe", RECIPE, "character"):
            given[request][number] += amount
            makers[request].add(taker_id)
        else:
            yield f"a creation moved {number} from {giver} {giver_id} to {taker} {taker_id}"
    for request, who in sorted(makers.items()):
        if taken[request] != NEEDED or given[request] not in PRODUCTS or len(who) != 1:
            yield (
                f"a creation of {sorted(who)} took {dict(taken[request])} and gave"
                f" {dict(given[request])}"
            )


def _books(simulation: Simulation) -> Iterator[str]:
    """Nobody has learned a recipe book twice."""
    for owner, count in simulation.rows(
        "SELECT keeper_id, count(*) FROM world_things WHERE keeper = 'library' AND item_id = ?"
        " GROUP BY keeper_id HAVING count(*) > 1",
        BOOK,
    ):
        yield f"character {owner} has learned a book {count} times"


def _over(simulation: Simulation) -> Iterator[str]:
    """No creation and no window is left when all players have gone."""
    for server, found in parts(simulation):
        creating = found.crafting.creating
        if left := [*creating._running, *creating._windows, *creating._last]:
            yield f"creations or windows of {sorted(set(left))} are left at {server.name}"


AUDITORS: tuple[Auditor, ...] = (
    Auditor("creations take and give what the recipe says", Moment.ANY, _creations),
    Auditor("a book is learned once", Moment.ANY, _books),
    Auditor("creations are over", Moment.EMPTY, _over),
)
