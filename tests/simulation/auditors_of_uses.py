"""Auditors of what is used up, repaired, and taken from the dead.

How many creatures have died is counted by the worlds that let them die; nothing stores it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from emu.world.subjects.uses import ThingUses
from tests.simulation.auditing import Auditor, Moment, parts
from tests.simulation.content_of_things import JEWEL
from tests.simulation.content_of_uses import MATERIALS

if TYPE_CHECKING:
    from tests.simulation.simulation import Simulation

MOST_LOOT = 2
"""Things that a body has at most; see the loot table of the wolves."""


def _broken(simulation: Simulation) -> Iterator[str]:
    """Each jewel that was broken gave one or two materials to the same character."""
    taken: defaultdict[str, Counter[int]] = defaultdict(Counter)
    given: defaultdict[str, list[int]] = defaultdict(list)
    who: defaultdict[str, set[int]] = defaultdict(set)
    for request, giver, giver_id, taker, taker_id, number, amount in simulation.rows(
        "SELECT request, giver, giver_id, taker, taker_id, number, amount FROM world_ledger"
        " WHERE reason = 'crafted' AND 'script' IN (giver, taker)"
    ):
        if giver == "character":
            taken[request][number] += amount
            who[request].add(giver_id)
        else:
            given[request] += [number] * amount
            who[request].add(taker_id)
        if "character" not in (giver, taker):
            yield f"breaking moved {number} from {giver} to {taker}"
    for request, people in sorted(who.items()):
        made = given[request]
        is_right = 0 < len(made) == len(set(made)) and set(made) <= set(MATERIALS)
        if taken[request] != {JEWEL: 1} or not is_right or len(people) != 1:
            yield f"{sorted(people)} broke {dict(taken[request])} into {made}"


def _repaired(simulation: Simulation) -> Iterator[str]:
    """Repairs are paid with coins alone, and nobody pays for more than it has asked for."""
    times: Counter[str] = Counter()
    for what, giver, taker, amount, name in simulation.rows(
        "SELECT what, giver, taker, amount, own.name FROM world_ledger"
        " LEFT JOIN world_characters AS own ON own.id = giver_id"
        " WHERE reason = 'thing repaired'"
    ):
        if (what, giver, taker) != ("coins", "character", "merchant") or amount <= 0:
            yield f"a repair moved {amount} {what} from {giver} to {taker}"
        times[name] += 1
    for name, count in sorted(times.items()):
        asked = simulation.asked[f"repair {name}"]
        if count > asked:
            yield f"{name} has paid for {count} repairs, and has asked for {asked}"


def _looted(simulation: Simulation) -> Iterator[str]:
    """The dead have not given more coins and things than they had, each once."""
    died = simulation.bodies
    (purses,) = simulation.rows(
        "SELECT count(DISTINCT request) FROM world_ledger"
        " WHERE reason = 'looted' AND what = 'coins'"
    ) or [(0,)]
    (things,) = simulation.rows(
        "SELECT coalesce(sum(amount), 0) FROM world_ledger"
        " WHERE reason = 'looted' AND what = 'things'"
    ) or [(0,)]
    if purses[0] > died:
        yield f"{purses[0]} bodies gave coins, and {died} creatures have died"
    if things[0] > MOST_LOOT * died:
        yield f"{things[0]} things were looted of {died} creatures"


def _over(simulation: Simulation) -> Iterator[str]:
    """No thing that somebody wanted to break, and no meal, waits for players who have gone."""
    for server, found in parts(simulation):
        chosen = found.crafting.transmuting._chosen
        if chosen:
            yield f"things of {sorted(chosen)} wait to be broken at {server.name}"
        for subject in found.subjects:
            if isinstance(subject, ThingUses) and len(subject._hunger):
                yield f"{len(subject._hunger)} meals wait at {server.name}"


AUDITORS: tuple[Auditor, ...] = (
    Auditor("a jewel is broken once", Moment.ANY, _broken),
    Auditor("repairs are paid once", Moment.ANY, _repaired),
    Auditor("bodies are looted once", Moment.ANY, _looted),
    Auditor("uses wait for nobody", Moment.EMPTY, _over),
)
