"""Houses of a character of EQ2Emulator's world database, and what stands in them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from emu.houses import MOST_OWNED, MOST_PLACED, Deposit, Paid
from emu.sqldump.report import Columns
from emu.store.eq2emu_houses import (
    DEPOSITS,
    HISTORY,
    INSTANCE_DATA,
    PLACEMENTS,
    ImportedHouse,
    ImportedHouses,
)

INN = {
    "house_id": 5, "instance_id": 913, "upkeep_due": 1_700_000_000, "escrow_coins": 250,
    "escrow_status": 7,
}  # fmt: skip
TABLE = {"spawn_location_id": 60, "x": 5.5, "y": 0.25, "z": -2.5, "heading": 370}
TABLES = {
    (PLACEMENTS, 913): [TABLE, {"spawn_location_id": 61, "x": 1, "y": 0, "z": 1, "heading": 0}],
    (INSTANCE_DATA, 60): [{"pickup_item_id": 60754, "pickup_unique_item_id": 9403622}],
    (INSTANCE_DATA, 61): [{"pickup_item_id": 61390, "pickup_unique_item_id": 500}],
}
"""The tables, columns and link of the public copy's rows of `spawn_instance_data`."""


def houses(
    tables: dict[tuple[str, int], list[Columns]], *rows: Columns, carried: Sequence[int] = ()
) -> tuple[tuple[ImportedHouse, ...], list[str]]:
    found = ImportedHouses()
    for row in rows:
        found.add(row, lambda home: home < 100)
    problems: list[str] = []
    get = lambda table, number: tables.get((table, number), [])  # noqa: E731
    return found.houses(get, carried, -10, problems), problems


def test_a_house_comes_with_its_deposit_and_its_things() -> None:
    (house,), problems = houses(TABLES, INN)
    assert (house.home, house.upkeep_due, house.coins, house.status) == (5, 1_700_000_000, 250, 7)
    assert [(one.thing.id, one.thing.item_id, *one[1:]) for one in house.things] == [
        (-11, 60754, 5.5, 0.25, -2.5, 10.0), (-12, 61390, 1.0, 0.0, 1.0, 0.0),
    ]  # fmt: skip
    assert problems == []


def test_what_is_carried_does_not_stand_in_a_house_as_well() -> None:
    (house,), problems = houses(TABLES, INN, carried=[500])
    assert [one.thing.item_id for one in house.things] == [60754]
    assert problems == []


def test_the_numbers_of_things_go_on_in_the_next_house() -> None:
    second = {**INN, "house_id": 6, "instance_id": 914}
    tables = {**TABLES, (PLACEMENTS, 914): [TABLE]}
    made, _ = houses(tables, INN, second)
    assert [one.thing.id for house in made for one in house.things] == [-11, -12, -13]


def test_the_lists_are_those_of_the_house_and_its_instance() -> None:
    line = {"house_id": 5, "name": "Aldana", "amount": 9, "status": 1, "timestamp": 1_600_000_000}
    deposit = {**line, "last_amount": 4, "last_status": 0}
    tables = {
        (DEPOSITS, 913): [deposit, {**deposit, "house_id": 8}],
        (HISTORY, 913): [{**line, "reason": "Paid Upkeep"}, {**line, "amount": "x"}],
    }
    (house,), problems = houses(tables, INN)
    # No table of EQ2Emulator has access levels: everybody may visit.
    assert house.books.guests == ()
    assert house.books.deposits == (Deposit("Aldana", 9, 1, 4, 0, 1_600_000_000),)
    assert house.books.history == (Paid("Aldana", 9, 1, "Paid Upkeep", 1_600_000_000),)
    assert problems == ["a line of a house's history is left out: amount is no number: 'x'"]


def test_a_thing_that_cannot_stand_there_is_left_out() -> None:
    for change in ({"x": "far"}, {"x": 1e30}):
        tables = {**TABLES, (PLACEMENTS, 913): [{**TABLE, **change}]}
        (house,), problems = houses(tables, INN)
        assert house.things == ()
        assert len(problems) == 1
    many = {**TABLES, (PLACEMENTS, 913): [TABLE] * (MOST_PLACED + 2)}
    (house,), problems = houses(many, INN)
    assert (len(house.things), len(problems)) == (MOST_PLACED, 1)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([{**INN, "house_id": 100}], "this server has no house 100"),
        ([INN, INN], "the character has house 5 already"),
        ([{**INN, "escrow_coins": -1}], "escrow_coins is out of range"),
        ([{**INN, "house_id": at} for at in range(1, MOST_OWNED + 2)], "at most 25 houses"),
    ],
)
def test_a_house_that_cannot_be_imported_is_left_out(rows: list[Columns], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        houses({}, *rows)
