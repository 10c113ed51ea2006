"""Houses of a character of EQ2Emulator's world database, with what stands in them.

A house is an instance of a zone. The things in it are placements of that instance
(`spawn_location_placement`), whose spawns stand for items (`spawn_instance_data`). Deposits and the
history of payments are tables of their own. No table says who may enter: EQ2Emulator stores no
access and lets everybody visit every house, so an imported house is open to visitors.
Source of the columns: docs/protocol/world/data.md#characters.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from emu.facts import FARTHEST, U32
from emu.houses import MOST_LISTED, MOST_OWNED, MOST_PLACED, Deposit, HouseBooks, Paid
from emu.items.held import Place, Thing, Where
from emu.ledger import MOST_COINS
from emu.sqldump.report import Columns, fraction, moment, number, text
from emu.times import Moment

DEPOSITS, HISTORY = "character_house_deposits", "character_house_history"
PLACEMENTS, INSTANCE_DATA = "spawn_location_placement", "spawn_instance_data"
LONGEST_NAME = 64
Rows = Callable[[str, int], Sequence[Columns]]
"""Returns the rows of a table of the dump: of an instance, or for `INSTANCE_DATA` of a place."""


class HouseThing(NamedTuple):
    """A thing of a house, and where it stands there."""

    thing: Thing
    x: float
    y: float
    z: float
    heading: float


@dataclass(frozen=True, slots=True)
class ImportedHouse:
    """One house of a character."""

    home: int
    """Which house it is: its number in the content file."""
    upkeep_due: Moment
    coins: int
    status: int
    books: HouseBooks
    things: tuple[HouseThing, ...]


@dataclass(slots=True)
class ImportedHouses:
    """The rows of one character about houses."""

    found: dict[int, tuple[Columns, int]] = field(default_factory=dict)
    """Rows and instances, by the house's number in the content."""

    def add(self, columns: Columns, has_home: Callable[[int], bool]) -> None:
        """Add a house. Raises `ValueError`; `has_home` says whether this server has a house."""
        home = number(columns, "house_id")
        if not has_home(home):
            raise ValueError(f"this server has no house {home}; import its content first")
        if home in self.found:
            raise ValueError(f"the character has house {home} already")
        if len(self.found) >= MOST_OWNED:
            raise ValueError(f"a character has at most {MOST_OWNED} houses")
        _amounts(columns)
        self.found[home] = columns, number(columns, "instance_id")

    def houses(
        self, rows: Rows, carried: Container[int], last_id: int, problems: list[str]
    ) -> tuple[ImportedHouse, ...]:
        """Return the houses; their things have numbers below `last_id`.

        A thing that is also `carried`, by its number in the dump, stays there. Faults of single
        rows go to `problems`.
        """
        made = []
        for home, (columns, instance) in self.found.items():
            things = _things(rows, instance, carried, last_id, problems) if instance else ()
            last_id -= len(things)
            coins, status = _amounts(columns)
            due = moment(columns, "upkeep_due")
            books = _books(rows, home, instance, problems) if instance else HouseBooks()
            made.append(ImportedHouse(home, due, coins, status, books, things))
        return tuple(made)


def _amounts(columns: Columns) -> tuple[int, int]:
    return (
        number(columns, "escrow_coins", most=MOST_COINS),
        number(columns, "escrow_status", most=U32),
    )


def _things(
    rows: Rows, instance: int, carried: Container[int], last_id: int, problems: list[str]
) -> tuple[HouseThing, ...]:
    made: list[HouseThing] = []
    for placement in rows(PLACEMENTS, instance):
        try:
            place = [fraction(placement, axis) for axis in ("x", "y", "z", "heading")]
            location = number(placement, "spawn_location_id")
            data = next(iter(rows(INSTANCE_DATA, location)), None)
            if data is None or number(data, "pickup_unique_item_id") in carried:
                continue  # a spawn that is no thing, or a thing that is carried
            item = number(data, "pickup_item_id", least=1)
            if not max(map(abs, place)) <= FARTHEST:
                raise ValueError("it is too far away")  # noqa: TRY301  # as for another bad number
        except ValueError as error:
            problems.append(f"a thing of a house is left out: {error}")
            continue
        if len(made) == MOST_PLACED:
            problems.append(f"a house holds {MOST_PLACED} things; others are left out")
            break
        thing = Thing(last_id - len(made) - 1, item, Place(Where.HELD, 0, 0))
        made.append(HouseThing(thing, place[0], place[1], place[2], place[3] % 360.0))
    return tuple(made)


def _books(rows: Rows, home: int, instance: int, problems: list[str]) -> HouseBooks:
    deposits: dict[str, Deposit] = {}
    history: list[Paid] = []
    for table in (DEPOSITS, HISTORY):
        for row in rows(table, instance):
            try:
                if number(row, "house_id") != home:
                    continue
                name = text(row, "name")[:LONGEST_NAME]
                paid = _amount(row, "amount"), number(row, "status", most=U32)
                when = moment(row, "timestamp")
                if table == HISTORY:
                    history.append(Paid(name, *paid, text(row, "reason")[:LONGEST_NAME], when))
                else:
                    last = _amount(row, "last_amount"), number(row, "last_status", most=U32)
                    deposits[name] = Deposit(name, *paid, *last, when)
            except ValueError as error:
                problems.append(
                    f"a line of a house's {table.rpartition('_')[2]} is left out: {error}"
                )
    return HouseBooks(
        (), tuple(deposits.values())[-MOST_LISTED:], tuple(history[-MOST_LISTED:])
    )  # fmt: skip


def _amount(columns: Columns, name: str) -> int:
    return number(columns, name, most=MOST_COINS)
