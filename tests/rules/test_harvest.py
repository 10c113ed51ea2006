"""Shares of harvests against their percentages; the source of the rule is eq2-quests.md 8."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from emu.rules.harvest import (
    COMMON,
    IMBUED,
    RARE,
    Found,
    HarvestItem,
    HarvestNode,
    HarvestTable,
    harvest,
    table_of,
)

TABLE = HarvestTable(0, 0, False, one=70, three=20, five=8, imbued=1, rare=0.7, ten=0.3)
"""The defaults of the community's table groundspawns."""
ITEMS = (
    HarvestItem(1, COMMON, 0), HarvestItem(2, COMMON, 0), HarvestItem(3, RARE, 0),
    HarvestItem(4, IMBUED, 0),
)  # fmt: skip


def outcome(found: list[Found]) -> str:
    if not found:
        return "none"
    rarity = {COMMON: "", RARE: " rare", IMBUED: " imbued"}
    return "+".join(f"{one.amount}{rarity[one.rarity]}" for one in found)


@pytest.mark.slow
def test_harvests_come_in_the_shares_of_their_percentages() -> None:
    chance, tries = Random(20), 200_000
    seen = Counter(outcome(harvest(TABLE, ITEMS, 0, chance)) for _ in range(tries))
    wanted = {
        "10+1 rare": 0.3, "1 rare": 0.4, "1 imbued": 0.3, "5": 7.0, "3": 12.0, "1": 50.0,
        "none": 30.0,
    }  # fmt: skip
    assert seen.keys() == wanted.keys()
    expected = {name: percent / 100 * tries for name, percent in wanted.items()}
    chi_square = sum((seen[name] - count) ** 2 / count for name, count in expected.items())
    assert chi_square < 22.46  # six degrees of freedom: once in a thousand seeds


def test_things_of_one_rarity_are_equally_likely() -> None:
    chance = Random(7)
    seen = Counter(
        one.item_id
        for _ in range(20_000)
        for one in harvest(TABLE, ITEMS, 0, chance)
        if one.rarity == COMMON
    )
    assert abs(seen[1] - seen[2]) < 500


def test_a_cell_of_the_map_has_things_of_its_own() -> None:
    items = (HarvestItem(1, COMMON, 0), HarvestItem(2, COMMON, 55))
    sure = TABLE._replace(one=100.0, three=0, five=0, imbued=0, rare=0, ten=0)

    def seen(grid: int) -> set[int]:
        chance = Random(1)
        return {one.item_id for _ in range(50) for one in harvest(sure, items, grid, chance)}

    assert seen(55) == {1, 2}
    assert seen(54) == {1}


def test_without_things_of_a_rarity_the_next_outcome_counts() -> None:
    common = [one for one in ITEMS if one.rarity == COMMON]
    only_rare = TABLE._replace(one=0, three=0, five=0, imbued=0, ten=0, rare=100.0)
    assert harvest(only_rare, common, 0, Random(1)) == []
    both = only_rare._replace(rare=50.0, one=100.0)
    found = [harvest(both, common, 0, chance) for chance in map(Random, range(50))]
    assert {one.amount for several in found for one in several} == {1}
    assert all(found)


@pytest.mark.parametrize(
    ("skill", "level", "wanted"),
    [(4, 50, None), (5, 1, 5), (50, 1, 5), (50, 20, 40)],
    ids=["too little", "just enough", "the bonus needs a level", "the bonus can come"],
)
def test_the_table_by_skill_and_level(skill: int, level: int, wanted: int | None) -> None:
    node = HarvestNode(
        (TABLE._replace(min_skill=5), TABLE._replace(min_skill=40, min_level=20, is_bonus=True)),
        ITEMS,
    )
    assert node.needed == 5
    found = {
        table.min_skill
        for table in (table_of(node, skill, level, chance) for chance in map(Random, range(60)))
        if table is not None
    }
    assert (max(found) if found else None) == wanted


class Draws:
    """Draws the numbers of a test, the last one again and again."""

    def __init__(self, *numbers: float) -> None:
        self.numbers = list(numbers)

    def random(self) -> float:
        return self.numbers.pop(0) if len(self.numbers) > 1 else self.numbers[0]


@pytest.mark.parametrize(("drawn", "wanted"), [(0.0, 5), (0.5, 7), (0.99, 8)])
def test_the_most_demanding_table_that_the_drawn_number_reaches(drawn: float, wanted: int) -> None:
    """A number from the least needed skill to the own one: 5 to 8."""
    tables = tuple(TABLE._replace(min_skill=skill) for skill in (8, 5, 7, 9))
    found = table_of(HarvestNode(tables, ITEMS), 8, 1, Draws(drawn))
    assert found is not None
    assert found.min_skill == wanted


@pytest.mark.parametrize(
    ("drawn", "wanted"),
    [(0.29, "10+1 rare"), (0.31, "1 rare"), (0.69, "1 rare"), (0.71, "1 imbued"),
     (0.99, "1 imbued"), (1.01, "5"), (7.9, "5"), (8.1, "3"), (19.9, "3"), (20.1, "1"),
     (69.9, "1"), (70.0, "none")],
)  # fmt: skip
def test_the_smallest_percentage_that_reaches_the_drawn_number_wins(
    drawn: float, wanted: str
) -> None:
    assert outcome(harvest(TABLE, ITEMS, 0, Draws(drawn / 100, 0.0))) == wanted


def test_equal_seeds_give_equal_harvests() -> None:
    one, two = ([harvest(TABLE, ITEMS, 0, Random(9)) for _ in range(5)] for _ in range(2))
    assert one == two


def test_a_node_without_tables_gives_nothing() -> None:
    node = HarvestNode((), ITEMS)
    assert node.needed == 0
    assert table_of(node, 100, 100, Random(1)) is None
