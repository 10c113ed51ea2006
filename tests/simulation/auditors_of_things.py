"""Auditors of things: each is counted, lies in one place, and was paid for.

They count by statements of their own, and not by those of the program.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tests.simulation.auditing import Auditor, Moment, parts, worlds
from tests.simulation.content_of_things import COST, LENS
from tests.simulation.content_of_uses import CHARGES

if TYPE_CHECKING:
    from tests.simulation.simulation import Simulation

KEEPERS = ("character", "letter", "account", "sold", "house", "pieces", "library")
"""The kinds of owners that have things."""
UNORDERED = ("overflow", "held")
"""The lists in which several things may have the same place."""


def _sums(simulation: Simulation) -> Iterator[str]:
    """Each owner has of each kind what its entries in the ledger say, and no thing else exists."""
    found: Counter[tuple[str, int, int]] = Counter()
    for giver, giver_id, taker, taker_id, number, amount in simulation.rows(
        "SELECT giver, giver_id, taker, taker_id, number, amount FROM world_ledger"
        " WHERE what = 'things' AND reason <> ?", "not carried out",
    ):  # fmt: skip
        if giver in KEEPERS:
            found[giver, giver_id, number] -= amount
        if taker in KEEPERS:
            found[taker, taker_id, number] += amount
    for keeper, keeper_id, item, count in simulation.rows(
        "SELECT keeper, keeper_id, item_id, sum(count) FROM world_things"
        " GROUP BY keeper, keeper_id, item_id"
    ):
        entered = found.pop((keeper, keeper_id, item), 0)
        if entered != count:
            yield f"{keeper} {keeper_id} has {count} of {item}, and entries of {entered}"
    for (keeper, keeper_id, item), count in sorted(found.items()):
        if count:
            yield f"{keeper} {keeper_id} has nothing of {item}, and entries of {count}"


def _places(simulation: Simulation) -> Iterator[str]:
    """No two things lie in one place, and what lies in a bag is where the bag is."""
    rows = simulation.rows("SELECT number, keeper, keeper_id, list, bag, slot FROM world_things")
    lists = {number: (keeper, keeper_id, where) for number, keeper, keeper_id, where, *_ in rows}
    taken: dict[tuple[object, ...], int] = {}
    for number, keeper, keeper_id, where, bag, slot in rows:
        if where in UNORDERED:
            continue
        place = (keeper, keeper_id, where, bag, slot)
        if place in taken:
            yield f"things {taken[place]} and {number} lie at {place}"
        taken[place] = number
        if bag and lists.get(bag) != (keeper, keeper_id, where):
            yield f"thing {number} lies at {place}, and its bag at {lists.get(bag)}"


def _made(simulation: Simulation) -> Iterator[str]:
    """No more things were summoned than game masters have asked for."""
    for item, count in simulation.rows(
        "SELECT number, sum(amount) FROM world_ledger"
        " WHERE what = 'things' AND giver = 'game master' AND reason <> ? GROUP BY number",
        "not carried out",
    ):
        asked = simulation.asked_things[item]
        if count > asked:
            yield f"{count} of {item} were summoned, and {asked} were asked for"


def _paid(simulation: Simulation) -> Iterator[str]:
    """What was bought was paid for, and nobody has paid for nothing."""
    costs: Counter[str] = Counter()
    paid: Counter[str] = Counter()
    for request, what, number, amount in simulation.rows(
        "SELECT request, what, number, amount FROM world_ledger WHERE reason = 'bought'"
    ):
        if what == "coins":
            paid[request] += amount
        else:
            # A lens counts as many as it has charges.
            costs[request] += COST[number] * amount // (CHARGES if number == LENS else 1)
    for request in sorted(costs.keys() | paid.keys()):
        if costs[request] != paid[request]:
            yield f"{paid[request]} copper were paid for things that cost {costs[request]}"


def _banked(simulation: Simulation) -> Iterator[str]:
    """Nobody's coins went to the bank, or came from there, more often than asked for."""
    for giver, amount, name, times in simulation.rows(
        "SELECT giver, amount, own.name, count(DISTINCT request) FROM world_ledger"
        " JOIN world_characters AS own"
        " ON own.id = CASE giver WHEN 'character' THEN giver_id ELSE taker_id END"
        " WHERE reason = 'bank' GROUP BY giver, amount, own.name"
    ):
        line = f"bank_{'deposit' if giver == 'character' else 'withdraw'} {amount}"
        if times > simulation.asked_lines[name, line]:
            yield f"{name} has typed {line} less than {times} times"


def _trades(simulation: Simulation) -> Iterator[str]:
    """What is traded comes from a character and goes to a character."""
    for giver, taker in simulation.rows(
        "SELECT giver, taker FROM world_ledger WHERE reason = 'traded'"
    ):
        if (giver, taker) != ("character", "character"):
            yield f"a trade went from {giver} to {taker}"


def _held(simulation: Simulation) -> Iterator[str]:
    """Each player has the things that are stored, and no thing is with two players."""
    stored: defaultdict[tuple[str, int], set[tuple[object, ...]]] = defaultdict(set)
    for keeper, keeper_id, *thing in simulation.rows(
        "SELECT keeper, keeper_id, number, item_id, count, list, bag, slot, condition"
        " FROM world_things"
    ):
        stored[keeper, keeper_id].add(tuple(thing))
    holders: dict[int, str] = {}
    for server, world in worlds(simulation):
        for player in world.players:
            own = stored["character", player.id] | (
                stored["account", player.character.account_id]
                if player.holdings.has_shared else set()
            )  # fmt: skip
            found = {
                (one.id, one.item_id, one.count, str(one.place.where), one.place.bag,
                 one.place.slot, one.condition)
                for one in player.holdings.inventory
            }  # fmt: skip
            if found != own:
                yield (
                    f"{player.name} at {server.name} has {sorted(found - own)} that is not stored,"
                    f" and lacks {sorted(own - found)}"
                )
            for number, *_ in sorted(found):
                if number in holders:
                    yield f"thing {number} is with {holders[number]} and with {player.name}"
                holders[number] = player.name


def _shown(simulation: Simulation) -> Iterator[str]:
    """The list that a client was sent has each thing once, and no thing that is gone."""
    for _server, world in worlds(simulation):
        for player in world.players:
            if not player.is_online or not player.session.items.is_shown:
                continue
            records = [one for one in player.session.items.records if one is not None]
            known = {one.id for one in player.holdings.inventory}
            if len(records) != len(set(records)):
                yield f"{player.name} is shown a thing twice: {records}"
            if gone := set(records) - known:
                yield f"{player.name} is shown {sorted(gone)}, which it does not have"


def _locked(simulation: Simulation) -> Iterator[str]:
    """Nothing stays offered or in use, but for what a creation uses."""
    for _server, found in parts(simulation):
        for player in found.world.players:
            creation = found.crafting.creating._running.get(player.id)
            used = set() if creation is None else set(creation.taken)
            here = {one.id for one in player.holdings.inventory}
            if locked := player.holdings.inventory.locked & here - used:
                yield f"{player.name} cannot use {sorted(locked)}"


AUDITORS: tuple[Auditor, ...] = (
    Auditor("sums of things", Moment.ANY, _sums),
    Auditor("places of things", Moment.ANY, _places),
    Auditor("no thing is summoned twice", Moment.ANY, _made),
    Auditor("purchases are paid", Moment.ANY, _paid),
    Auditor("coins are banked as asked", Moment.ANY, _banked),
    Auditor("trades are between characters", Moment.ANY, _trades),
    Auditor("players have their things", Moment.QUIET, _held),
    Auditor("clients show things once", Moment.QUIET, _shown),
    Auditor("no thing stays in use", Moment.QUIET, _locked),
)
