"""Loot of the three islands of the real content, rolled many times, against its tables.

EMU_CONTENT names a content file, EMU_LOOT_ROLLS how many times each table is rolled (500). The
chances are worked out here from the rows and from ../shared/spec/eq2-content.md 8: once a pass the
table gives something with its probability; which drop it is, is decided by the weights, of which a
random order fills up to 100. Chi-square says how far the counts are away.
"""

from __future__ import annotations

import math
import os
import random
import sqlite3
from collections import Counter
from contextlib import closing

import pytest

from emu.rules.loot import LootDrop, LootTable, roll

CONTENT = os.environ.get("EMU_CONTENT", "")
ROLLS = int(os.environ.get("EMU_LOOT_ROLLS", "500"))
ISLANDS = (253, 278, 325)
"""Queen's Colony, the Outpost of the Overlord, the Isle of Refuge."""
LEVELS = range(1, 11)
TIMES = 10
"""Random orders that are drawn for each roll, to know the chances of a table."""
LEAST = 5.0
"""The least expected number of a cell; rarer drops are counted together."""
UNLIKELY = 4.5
"""Standard deviations: of 1,000 right tables about one in 150,000 is farther away."""
pytestmark = pytest.mark.skipif(not CONTENT, reason="no real content on this machine (EMU_CONTENT)")


def tables() -> list[LootTable]:
    """Return the tables of the islands' spawns, and those of their zones, races and levels."""
    marks = ",".join("?" * len(ISLANDS))
    with closing(sqlite3.connect(f"file:{CONTENT}?mode=ro", uri=True)) as file:
        numbers = {
            number for (number,) in file.execute(
                "SELECT DISTINCT loot.table_id FROM placements JOIN entries USING (location_id)"
                f" JOIN spawn_loot AS loot USING (spawn_id) WHERE zone_id IN ({marks})", ISLANDS,
            )
        }  # fmt: skip
        races = {
            race for (race,) in file.execute(
                "SELECT DISTINCT race.race FROM placements JOIN entries USING (location_id)"
                " JOIN spawns ON spawns.id = spawn_id"
                f" JOIN model_races AS race USING (model) WHERE zone_id IN ({marks})", ISLANDS,
            )
        }  # fmt: skip
        for kind, number, *values in file.execute(
            "SELECT kind, table_id, value1, value2, value3 FROM global_loot"
        ):
            low, high = values[:2] if kind == "level" else values[1:]
            subjects = {"level": {values[0]}, "zone": {*ISLANDS}, "racial": races}[kind]
            if values[0] in subjects and (
                (not low and not high) or any(low <= one <= max(low, high) for one in LEVELS)
            ):
                numbers.add(number)
        rows = file.execute(
            "SELECT id, min_coins, max_coins, coin_probability, most_items, drop_probability"
            " FROM loot_tables ORDER BY id"
        ).fetchall()
        found = []
        for number, low, high, coins, most, given in rows:
            if number in numbers:
                drops = file.execute(
                    "SELECT item_id, charges, weight, unless_quest FROM loot_drops"
                    " WHERE table_id = ?", (number,),
                )  # fmt: skip
                found.append(LootTable(
                    number, "", (min(low, high), max(low, high)), coins, most, given,
                    tuple(LootDrop(item, count, is_worn=False, weight=weight, unless_quest=quest)
                          for item, count, weight, quest in drops),
                ))  # fmt: skip
    return found


def shares(table: LootTable, chance: random.Random) -> list[float]:
    """Return how likely each drop is when the table gives something."""
    weights = [drop.weight for drop in table.drops]
    total = sum(weights)
    if total <= 100.0:
        return [weight / total for weight in weights]
    # As the text says it: shuffle, then walk to a number of 100.
    counted, order = [0] * len(weights), list(range(len(weights)))
    for _ in range(TIMES * ROLLS):
        chance.shuffle(order)
        number, end = 100.0 * chance.random(), 0.0
        for place in order:
            end += weights[place]
            if number < end:
                counted[place] += 1
                break
    return [one / (TIMES * ROLLS) for one in counted]


def far(found: list[float], expected: list[float], variance: float = 1.0) -> float:
    """Return how many standard deviations counts are away from those expected (chi-square).

    `variance` is that of a count as a part of its expectation: above 1 if that was counted too.
    """
    cells = [(one, two) for one, two in zip(found, expected, strict=True) if two >= LEAST]
    rest = [(one, two) for one, two in zip(found, expected, strict=True) if two < LEAST]
    if sum(two for _, two in rest) >= LEAST:
        cells.append((sum(one for one, _ in rest), sum(two for _, two in rest)))
    if len(cells) < 2:
        return 0.0
    square = sum((one - two) ** 2 / (two * variance) for one, two in cells)
    free = len(cells) - 1
    # Wilson and Hilferty: the cube root of chi-square is nearly normal.
    return ((square / free) ** (1 / 3) - (1 - 2 / (9 * free))) / math.sqrt(2 / (9 * free))


def rolled(table: LootTable) -> tuple[Counter[int], list[int]]:
    """Roll a table; return how often each thing was won, and the coins of each roll."""
    chance = random.Random(table.id)
    items: Counter[int] = Counter()
    coins = []
    for _ in range(ROLLS):
        won = roll([table], chance)
        items.update(drop.item_id for drop in won.drops)
        coins.append(won.coins)
    return items, coins


def test_what_tables_give_has_the_shares_of_their_rows() -> None:
    found = tables()
    assert len(found) > 70
    worst = 0.0
    for table in found:
        items, coins = rolled(table)
        worst = max(worst, check_coins(table, coins))
        if not table.most_items or sum(drop.weight for drop in table.drops) <= 0:
            assert not items
            continue
        each = shares(table, random.Random(-table.id))
        per_pass: dict[int, float] = {}
        for drop, share in zip(table.drops, each, strict=True):
            if not drop.unless_quest:
                per_pass[drop.item_id] = per_pass.get(drop.item_id, 0.0) + share
        given = table.drop_probability / 100
        # A thing that was won before is not won again, and no other one instead.
        expected = [
            ROLLS * (1 - (1 - given * share) ** table.most_items) for share in per_pass.values()
        ]
        counts = [float(items[item]) for item in per_pass]
        assert set(items) <= set(per_pass), table.id
        missed = [ROLLS * table.most_items - sum(counts)]
        expected_missed = [ROLLS * table.most_items - sum(expected)]
        is_counted = sum(drop.weight for drop in table.drops) > 100.0
        variance = 1 + is_counted * table.most_items * given / TIMES
        distance = far(counts + missed, expected + expected_missed, variance)
        assert distance < UNLIKELY, (table.id, distance)
        worst = max(worst, distance)
    print(len(found), "tables", ROLLS, "rolls each, farthest", worst)  # noqa: T201  # with -s


def check_coins(table: LootTable, coins: list[int]) -> float:
    """Hold coins to the table's bounds and probability; return how far they are from even."""
    low, high = table.coins
    some = [one for one in coins if one]
    if not high or not table.coin_probability:
        assert not some
        return 0.0
    assert all(low <= one < max(high, low + 1) for one in some)
    expected = ROLLS * table.coin_probability / 100
    there = [float(len(some)), float(ROLLS - len(some))]
    distance = far(there, [expected, ROLLS - expected]) if low else 0.0
    values, most = Counter(some), high - low
    if low and 1 < most <= 200:
        even = [len(some) / most] * most
        there = [float(values[one]) for one in range(low, high)]
        distance = max(distance, far(there, even))
    assert distance < UNLIKELY, (table.id, distance)
    return distance
