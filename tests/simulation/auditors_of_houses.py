"""Auditors of houses: each is paid for once, and each thing in it stands in one place."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from emu.houses import WEEK
from emu.world.housing.housing import house_of
from tests.simulation.auditing import Auditor, Moment, parts
from tests.simulation.content_of_houses import COST, UPKEEP
from tests.simulation.content_of_things import CHAIR

if TYPE_CHECKING:
    from tests.simulation.simulation import Simulation


def _paid(simulation: Simulation, reason: str) -> dict[str, tuple[tuple[str, int], int]]:
    """Return who has paid how much, by the request of each payment."""
    found: dict[str, tuple[tuple[str, int], int]] = {}
    for request, giver, giver_id, amount in simulation.rows(
        "SELECT request, giver, giver_id, amount FROM world_ledger WHERE reason = ?"
        " ORDER BY request, giver <> 'house'", reason,
    ):  # fmt: skip
        before = found.get(request, ((giver, giver_id), 0))
        found[request] = before[0], before[1] + amount
    return found


def _bought(simulation: Simulation) -> Iterator[str]:
    """A character owns a house once, and has paid its price once."""
    owned = Counter(row[0] for row in simulation.rows("SELECT owner_id FROM world_houses"))
    payments = _paid(simulation, "house bought")
    paid = Counter(giver_id for (_, giver_id), _ in payments.values())
    for owner, count in sorted((owned | paid).items()):
        if count > 1 or owned[owner] != paid[owner]:
            yield f"character {owner} has {owned[owner]} houses, and has paid for {paid[owner]}"
    for (_, giver_id), amount in payments.values():
        if amount != COST:
            yield f"character {giver_id} has paid {amount} copper for a house"


def _upkeep(simulation: Simulation) -> Iterator[str]:
    """Each week that is paid was paid for: the first one with the house."""
    payments = _paid(simulation, "upkeep")
    for (giver, giver_id), amount in payments.values():
        if amount != UPKEEP:
            yield f"{giver} {giver_id} has paid {amount} copper of upkeep"
    weeks = 0.0
    for number, bought, due in simulation.rows("SELECT id, bought, upkeep_due FROM world_houses"):
        found = (due - bought) / WEEK
        if abs(found - round(found)) > 1e-6:
            yield f"the upkeep of house {number} is paid for {found} weeks"
        weeks += round(found) - 1
    if weeks != len(payments):
        yield f"{weeks:g} weeks of upkeep are paid, by {len(payments)} payments"


def _placed(simulation: Simulation) -> Iterator[str]:
    """Each thing of a house has a place in that house.

    The place of a thing that was picked up stays with it, and counts no more.
    """
    things = {
        number: (house, item, count)
        for number, house, item, count in simulation.rows(
            "SELECT number, keeper_id, item_id, count FROM world_things WHERE keeper = 'house'"
        )
    }
    places = dict(simulation.rows("SELECT number, house_id FROM world_house_things"))
    for number, (house, item, count) in sorted(things.items()):
        if (item, count) != (CHAIR, 1):
            yield f"{count} of {item} stand in house {house}"
        if places.get(number) != house:
            yield f"thing {number} of house {house} stands in house {places.get(number)}"


def _standing(simulation: Simulation) -> Iterator[str]:
    """What stands in a house that runs is what is stored."""
    stored: defaultdict[int, set[int]] = defaultdict(set)
    for number, house in simulation.rows(
        "SELECT number, keeper_id FROM world_things WHERE keeper = 'house'"
    ):
        stored[house].add(number)
    for server, found in parts(simulation):
        for zone, pieces in found.furniture._pieces.items():
            standing = sorted(one.thing.id for one in pieces.values())
            if standing != sorted(stored[house_of(zone)]):
                yield (
                    f"house {house_of(zone)} at {server.name} shows {standing}, and has"
                    f" {sorted(stored[house_of(zone)])}"
                )


AUDITORS: tuple[Auditor, ...] = (
    Auditor("a house is bought once", Moment.ANY, _bought),
    Auditor("upkeep is paid once", Moment.ANY, _upkeep),
    Auditor("things of houses have a place", Moment.ANY, _placed),
    Auditor("houses show what is stored", Moment.QUIET, _standing),
)
