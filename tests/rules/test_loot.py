"""What creatures have with them: shares of many rolls against the tables.

The rules are those of EQ2Emulator's database (docs/guides/content.md#loot); probability 0 never
happens, although EQ2Emulator lets it happen once in 101.
"""

from __future__ import annotations

import os
from collections import Counter
from itertools import permutations
from pathlib import Path
from random import Random

import pytest

from emu.content.file import ContentFile
from emu.content.trade import loot_of, loot_tables
from emu.rules.loot import LootDrop, LootTable, roll, roll_bound
from tools.content_shares import chi_square, limit

ROLLS = 6000
ISLANDS = (2_530_000, 2_780_000, 3_250_000)
"""The first spawns of three zones."""


def drop(item_id: int, weight: float, unless_quest: int = 0) -> LootDrop:
    return LootDrop(item_id, 1, is_worn=False, weight=weight, unless_quest=unless_quest)


def table(*drops: LootDrop, **values: object) -> LootTable:
    usual = {
        "id": 1, "name": "a table", "coins": (0, 0), "coin_probability": 100.0, "most_items": 1,
        "drop_probability": 100.0,
    }  # fmt: skip
    return LootTable(**(usual | values), drops=drops)  # type: ignore[arg-type]


def won(one: LootTable, rolls: int = ROLLS, seed: int = 1) -> Counter[int]:
    chance = Random(seed)
    found: Counter[int] = Counter()
    for _ in range(rolls):
        loot = roll([one], chance)
        found[loot.drops[0].item_id if loot.drops else 0] += 1
    return found


def expected(one: LootTable) -> dict[int, float]:
    """The share of each drop by the definition: in all orders, with all numbers from 0 to 100."""
    total = sum(each.weight for each in one.drops)
    shares: Counter[int] = Counter()
    orders = list(permutations(one.drops))
    for order in orders:
        begin = 0.0
        for each in order:
            piece = each.weight * 100 / min(100.0, total)
            end = min(100.0, begin + piece)
            shares[each.item_id] += max(0.0, end - begin) / len(orders)  # type: ignore[assignment]
            begin = end
    return {item: share * one.drop_probability / 100 for item, share in shares.items()}


def check(found: Counter[int], shares: dict[int, float]) -> None:
    nothing = 100.0 - sum(shares.values())
    weights = shares | ({0: nothing} if nothing > 1e-9 else {})
    assert set(found) <= set(weights)
    value, freedom = chi_square(dict(found), weights)
    assert not freedom or value <= limit(freedom), (found, weights)


@pytest.mark.parametrize(
    "one",
    [
        table(drop(1, 10), drop(2, 30), drop(3, 5)),
        table(drop(1, 50), drop(2, 50)),
        table(drop(1, 10), drop(2, 30), drop(3, 5), drop_probability=6.0),
        table(drop(1, 100), drop(2, 50)),
        table(drop(1, 60), drop(2, 60), drop(3, 60)),
        table(drop(1, 5), drop(2, 70), drop(3, 90), drop(4, 40), drop_probability=40.0),
    ],
    ids=["below 100", "100", "seldom", "one always fits", "even above 100", "above 100"],
)
def test_drops_are_won_in_the_shares_of_their_table(one: LootTable) -> None:
    check(won(one), expected(one))


def test_a_drop_of_weight_0_is_never_won() -> None:
    assert set(won(table(drop(1, 10), drop(2, 0)), 500)) == {1}
    assert set(won(table(drop(1, 0), drop(2, 0)), 50)) == {0}


@pytest.mark.parametrize("values", [{"most_items": 0}, {"drop_probability": 0.0}])
def test_a_table_that_gives_nothing(values: dict[str, object]) -> None:
    assert set(won(table(drop(1, 100), **values), 500)) == {0}


def test_coins_are_between_the_bounds_and_come_as_often_as_the_table_says() -> None:
    one = table(coins=(5, 8), coin_probability=18.0)
    chance = Random(2)
    found = Counter(roll([one], chance).coins for _ in range(ROLLS))
    check(found, {5: 6.0, 6: 6.0, 7: 6.0})


def test_recorded_coins() -> None:
    """items-546-deal: a brigand with 21 to 22 coins had 21, a captain with 305 to 306 had 305."""
    assert {roll([table(coins=(21, 22))], Random(seed)).coins for seed in range(50)} == {21}
    assert {roll([table(coins=(305, 306))], Random(seed)).coins for seed in range(50)} == {305}


def test_equal_bounds_of_coins_are_given_whole() -> None:
    assert roll([table(coins=(7, 7))], Random(3)).coins == 7
    assert roll([table(coins=(7, 7), coin_probability=0.0)], Random(3)).coins == 0


def test_a_thing_is_won_once_however_many_tables_have_it() -> None:
    one, two = table(drop(1, 100), most_items=3), table(drop(1, 100), drop(2, 100), most_items=9)
    found = roll([one, two, one], Random(4)).drops
    assert sorted(each.item_id for each in found) == [1, 2]


def test_the_same_seed_gives_the_same_loot() -> None:
    one = table(drop(1, 20), drop(2, 90), drop(3, 70), most_items=2, coins=(1, 900))
    assert roll([one] * 5, Random(5)) == roll([one] * 5, Random(5))


def test_what_depends_on_a_quest_is_dropped_at_the_death_for_who_has_not_completed_it() -> None:
    one = table(drop(1, 10), drop(2, 90, unless_quest=8), most_items=200)
    assert {each.item_id for each in roll([one], Random(6)).drops} == {1}
    assert [each.item_id for each in roll_bound([one], lambda _quest: False, Random(6))] == [2]
    assert roll_bound([one], lambda quest: quest == 8, Random(6)) == []
    assert roll_bound([one], lambda _quest: False, Random(6), has={2}) == []


@pytest.mark.slow
@pytest.mark.skipif("EMU_CONTENT" not in os.environ, reason="no real content (EMU_CONTENT)")
def test_the_tables_of_the_three_islands() -> None:
    """Each table of the spawns of Queen's Colony, the Outpost and the Isle of Refuge."""
    with ContentFile(Path(os.environ["EMU_CONTENT"])) as file:
        found = loot_of(file, [one for zone in ISLANDS for one in range(zone, zone + 10_000)])
        tables = loot_tables(file, {number for several in found.values() for number in several})
    assert len(tables) > 50
    for one in tables.values():
        few = len({each.item_id for each in one.drops}) == len(one.drops) <= 7
        if few and one.most_items == 1 and not any(each.unless_quest for each in one.drops):
            check(won(one, 100_000, one.id), expected(one))
