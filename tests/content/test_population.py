"""What stands in a zone: choices by weight, groups, conditions, respawns and expiry."""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from emu.content.file import ZoneContent, zone_of
from emu.content.importing import import_content
from emu.content.population import Condition, Population, Surroundings
from emu.content.sources import dump_parts
from emu.times import Monotonic
from tests.support.content.dumps import write_dumps

START = Monotonic(1000.0)


class ZoneBuilder:
    """Makes the content of a zone from places with their entries."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tables: dict[str, list[dict[str, Any]]] = {
            "zones": [{"id": 9, "name": "meadow"}], "spawn": [], "spawn_npcs": [],
            "spawn_location_placement": [], "spawn_location_entry": [],
            "spawn_location_group": [], "spawn_location_group_associations": [],
            "spawn_location_group_chances": [],
        }  # fmt: skip

    def spawn(self, number: int, **columns: Any) -> None:
        own = {name: columns.pop(name) for name in ("min_level", "max_level") if name in columns}
        self._add("spawn", id=number, name=f"spawn {number}", **columns)
        self._add("spawn_npcs", spawn_id=number, **({"min_level": 1, "max_level": 1} | own))

    def place(
        self, number: int, *entries: tuple[int, float], group: int = 0, **columns: Any
    ) -> None:
        """Add a placement with (spawn, weight); its location has the same number."""
        condition = columns.pop("condition", 0)
        values = {"zone_id": 9, "spawn_location_id": number, "respawn": 300} | columns
        self._add("spawn_location_placement", id=number, **values)
        for spawn, weight in entries:
            self._add("spawn_location_entry", spawn_id=spawn, spawn_location_id=number,
                      spawnpercentage=weight, condition=condition)  # fmt: skip
        if group:
            self.join(number, group)

    def join(self, placement: int, group: int) -> None:
        self._add("spawn_location_group", group_id=group, placement_id=placement)

    def associate(self, one: int, other: int) -> None:
        self._add("spawn_location_group_associations", group_id1=one, group_id2=other)

    def chance(self, group: int, percentage: float) -> None:
        self._add("spawn_location_group_chances", group_id=group, percentage=percentage)

    def build(self) -> ZoneContent:
        tables = {name: rows for name, rows in self._tables.items() if rows}
        target = self._folder / "content.sqlite"
        import_content(dump_parts([write_dumps(self._folder / "dumps", tables)]), target)
        content = zone_of(target, 9)
        assert content is not None
        return content

    def _add(self, table: str, **row: Any) -> None:
        rows = self._tables[table]
        # Rows of one dump have the same columns.
        for name in row:
            for other in rows:
                other.setdefault(name, 0)
        known = {name: 0 for one in rows for name in one}
        rows.append(known | {"id": len(rows) + 1} | row)


@pytest.fixture
def builder(tmp_path: Path) -> ZoneBuilder:
    made = ZoneBuilder(tmp_path)
    for number in range(1, 7):
        made.spawn(number)
    return made


def population(content: ZoneContent, seed: int = 0, **values: Any) -> Population:
    dead = values.pop("dead", None)
    return Population(content, Random(seed), Surroundings(**values), dead)


def numbers(made: Any) -> list[int]:
    return sorted(one.template.id for one in made)


def test_entries_stand_in_proportion_to_their_weights(builder: ZoneBuilder) -> None:
    builder.place(1, (1, 60), (2, 30), (3, 10), (4, 0))
    content = builder.build()
    drawn = Counter(numbers(population(content, seed).open(START))[0] for seed in range(3000))
    expected = {1: 1800, 2: 900, 3: 300}
    # Chi-square with two degrees of freedom: 13.8 is exceeded once in a thousand.
    assert sum((drawn[one] - many) ** 2 / many for one, many in expected.items()) < 13.8
    assert drawn[4] == 0


@pytest.mark.parametrize(
    ("entries", "stand"), [([(1, 14)], [1]), ([(1, 0)], []), ([], []), ([(99, 100)], [])]
)
def test_a_single_entry_stands_always_and_one_without_weight_never(
    builder: ZoneBuilder, entries: list[tuple[int, float]], stand: list[int]
) -> None:
    builder.place(1, *entries)
    builder.place(2, (2, 100))
    content = builder.build()
    assert all(numbers(population(content, seed).open(START)) == [*stand, 2] for seed in range(30))


def test_one_of_the_groups_that_exclude_each_other_stands_as_a_whole(builder: ZoneBuilder) -> None:
    """A usual group of two, one with chance 10, and a third that is associated with the second."""
    builder.place(1, (1, 100), group=31)
    builder.place(2, (1, 100), group=31)
    builder.place(3, (2, 100), group=32)
    builder.place(4, (3, 100), group=33)
    builder.associate(31, 32)
    builder.associate(32, 33)
    builder.chance(32, 10)
    content = builder.build()
    drawn = Counter(tuple(numbers(population(content, seed).open(START))) for seed in range(3000))
    # Weights 33 and 33 of 100 // 3, and 10.
    expected = {(1, 1): 3000 * 33 / 76, (2,): 3000 * 10 / 76, (3,): 3000 * 33 / 76}
    assert drawn.keys() == expected.keys()
    assert sum((drawn[one] - many) ** 2 / many for one, many in expected.items()) < 13.8


def test_a_placement_of_two_sets_lets_one_group_of_both_stand(builder: ZoneBuilder) -> None:
    """The first placement is in a group alone, and in one of three that exclude each other."""
    builder.place(1, (1, 100), group=31)
    builder.join(1, 41)
    builder.place(2, (2, 100), group=42)
    builder.place(3, (3, 100), group=43)
    builder.associate(41, 42)
    builder.associate(42, 43)
    builder.chance(43, 50)
    content = builder.build()
    drawn = Counter(tuple(numbers(population(content, seed).open(START))) for seed in range(3000))
    # Four groups: weights 25, 25 and 25 of 100 // 4, and 50. Two of them have the first placement.
    expected = {(1,): 3000 * 50 / 125, (2,): 3000 * 25 / 125, (3,): 3000 * 50 / 125}
    assert drawn.keys() == expected.keys()
    assert sum((drawn[one] - many) ** 2 / many for one, many in expected.items()) < 13.8


def test_what_stands_in_a_group_knows_it(builder: ZoneBuilder) -> None:
    builder.place(1, (1, 100), group=31)
    builder.place(2, (2, 100))
    made = population(builder.build()).open(START)
    assert {one.template.id: one.group for one in made} == {1: 31, 2: 0}


def test_levels_sizes_and_places_are_rolled_within_their_ranges(builder: ZoneBuilder) -> None:
    builder.spawn(7, min_level=9, max_level=5, size=32, size_offset=8)
    builder.place(1, (7, 100), x=100.0, x_offset=2.0)
    builder.place(2, (7, 100), lvl_override=31)
    content = builder.build()
    rolled = [population(content, seed).open(START) for seed in range(200)]
    assert {one.level for one, _ in rolled} == {5, 6, 7, 8, 9}
    assert {other.level for _, other in rolled} == {31}
    sizes = {one.size for one, _ in rolled}
    assert min(sizes) < 30
    assert max(sizes) > 34
    assert sizes <= set(range(24, 41))
    assert all(98 <= one.x <= 102 and one.z == 0 for one, _ in rolled)
    assert len({one.x for one, _ in rolled}) > 50


def test_the_dead_return_after_their_time(builder: ZoneBuilder) -> None:
    builder.place(1, (1, 100), respawn=60)
    builder.place(2, (2, 100), respawn=0)
    made = population(builder.build())
    made.open(START)
    made.removed(1, START)
    made.removed(2, START)
    assert numbers(made) == []
    assert made.handle_timer(Monotonic(START + 59)).come == []
    assert numbers(made.handle_timer(Monotonic(START + 60)).come) == [1]
    assert numbers(made.handle_timer(Monotonic(START + 1e6)).come) == []


def test_a_place_is_kept_dead_for_so_long_once_its_spawn_has_gone(builder: ZoneBuilder) -> None:
    builder.place(1, (1, 100), respawn=60)
    builder.place(2, (2, 100), respawn=0)
    content = builder.build()
    made = population(content)
    made.open(START)
    assert made.keep_dead(1, 500, START)
    assert made.keep_dead(2, 500, START)
    assert not made.keep_dead(99, 500, START)
    assert [one[:2] for one in made.take_deaths()] == [(1, True), (2, True)]
    # What lives stays until it dies.
    assert made.handle_timer(Monotonic(START + 10)).gone == []
    assert numbers(made) == [1, 2]
    made.removed(1, Monotonic(START + 100))
    made.removed(2, Monotonic(START + 100))
    assert made.waiting(Monotonic(START + 100)) == {1: 400.0, 2: 400.0}
    assert made.handle_timer(Monotonic(START + 499)).come == []
    assert numbers(made.handle_timer(Monotonic(START + 500)).come) == [1, 2]
    assert [one[:2] for one in made.take_deaths()] == [(1, False), (2, False)]


def test_the_time_of_a_place_passes_while_something_stands_there(builder: ZoneBuilder) -> None:
    builder.place(1, (1, 100), respawn=60)
    made = population(builder.build())
    made.open(START)
    made.keep_dead(1, 30, START)
    made.handle_timer(Monotonic(START + 31))
    assert [one[:2] for one in made.take_deaths()] == [(1, False)]
    made.removed(1, Monotonic(START + 40))
    assert numbers(made.handle_timer(Monotonic(START + 99)).come) == []
    assert numbers(made.handle_timer(Monotonic(START + 100)).come) == [1]


def test_a_group_returns_as_a_whole_when_all_of_its_set_are_gone(builder: ZoneBuilder) -> None:
    builder.place(1, (1, 100), group=31, respawn=60)
    builder.place(2, (1, 100), group=31, respawn=60)
    builder.place(3, (2, 100), group=32, respawn=60)
    builder.associate(31, 32)
    content = builder.build()
    seed = next(one for one in range(99) if len(population(content, one).open(START)) == 2)
    made = population(content, seed)
    made.open(START)
    made.removed(1, START)
    assert made.handle_timer(Monotonic(START + 100)).come == []
    made.removed(2, Monotonic(START + 100))
    came = made.handle_timer(Monotonic(START + 160)).come
    assert numbers(came) in ([1, 1], [2])


def test_what_expires_goes_and_returns(builder: ZoneBuilder) -> None:
    builder.place(1, (1, 100), expire_timer=600, expire_offset=60, respawn=30)
    content = builder.build()
    ends = set()
    for seed in range(60):
        (one,) = population(content, seed).open(START)
        assert one.expires is not None
        ends.add(one.expires - START)
    assert ends <= set(range(540, 661))
    assert len(ends) > 20
    made = population(content)
    made.open(START)
    assert numbers(made.handle_timer(Monotonic(START + 661)).gone) == [1]
    assert numbers(made.handle_timer(Monotonic(START + 691)).come) == [1]


def test_some_stand_by_day_and_others_by_night(builder: ZoneBuilder) -> None:
    builder.place(1, (1, 100), condition=int(Condition.DAY))
    builder.place(2, (2, 100), condition=int(Condition.NIGHT))
    builder.place(3, (3, 100), condition=13)  # by day in any weather
    builder.place(4, (4, 100))
    made = population(builder.build())
    assert numbers(made.open(START)) == [1, 3, 4]
    made.surroundings.now = Condition.NIGHT | Condition.RAIN
    change = made.changed(START)
    assert (numbers(change.gone), numbers(change.come)) == ([1, 3], [2])
    made.surroundings.now = Condition.DAY | Condition.RAIN
    change = made.changed(START)
    assert (numbers(change.gone), numbers(change.come)) == ([2], [1, 3])


def test_expansions_and_holidays_leave_spawns_out(builder: ZoneBuilder) -> None:
    builder.spawn(7, holiday_flag=4096)
    builder.spawn(8, expansion_flag=2)
    builder.place(1, (7, 100))
    builder.place(2, (8, 100))
    content = builder.build()
    assert numbers(population(content).open(START)) == [7, 8]
    assert numbers(population(content, holidays=1, expansions=4).open(START)) == []
    assert numbers(population(content, holidays=4097, expansions=6).open(START)) == [7, 8]


def test_places_in_the_homes_of_players_stay_empty(builder: ZoneBuilder) -> None:
    builder.place(1, (1, 100), instance_id=5)
    builder.place(2, (2, 100), instance_id=0)
    assert numbers(population(builder.build()).open(START)) == [2]


def test_the_dead_stay_dead_through_a_restart(builder: ZoneBuilder) -> None:
    builder.place(1, (1, 100), respawn=60)
    builder.place(2, (2, 100), respawn=0)
    builder.place(3, (3, 100))
    content = builder.build()
    before = population(content)
    before.open(START)
    before.removed(1, START)
    before.removed(2, START)
    dead = before.waiting(Monotonic(START + 20))
    assert dead == {1: 40.0, 2: None}
    after = population(content, dead=dead)
    assert numbers(after.open(Monotonic(5.0))) == [3]
    assert numbers(after.handle_timer(Monotonic(46.0)).come) == [1]
    assert after.waiting(Monotonic(46.0)) == {2: None}


def test_the_same_seed_gives_the_same_zone(builder: ZoneBuilder) -> None:
    for number in range(1, 40):
        builder.place(number, (1, 50), (2, 30), (3, 20), x_offset=3.0)
    content = builder.build()
    one, same, other = (population(content, seed).open(START) for seed in (5, 5, 6))
    assert one == same
    assert one != other


def test_deaths_are_listed_once_with_their_return(builder: ZoneBuilder) -> None:
    builder.place(11, (1, 100))
    builder.place(12, (1, 100), respawn=0)
    population = Population(builder.build(), Random(1), Surroundings())
    population.open(START)
    assert population.take_deaths() == []
    population.removed(11, START)
    population.removed(12, START)
    assert population.take_deaths() == [(11, True, START + 300), (12, True, None)]
    assert population.take_deaths() == []
    population.handle_timer(Monotonic(START + 300))
    assert population.take_deaths() == [(11, False, None)]


def test_of_associated_groups_the_one_with_dead_members_stands_again(builder: ZoneBuilder) -> None:
    builder.place(11, (1, 100), group=31)
    builder.place(12, (2, 100), group=32)
    builder.place(13, (3, 100), group=32)
    builder.associate(31, 32)
    content = builder.build()
    for seed in range(20):
        population = Population(content, Random(seed), Surroundings(), {12: 60.0})
        assert [one.placement.id for one in population.open(START)] == [13]
        # The set returns as a whole, when nothing of it stands any more.
        assert population.handle_timer(Monotonic(START + 60)).come == []
        population.removed(13, Monotonic(START + 60))
        assert population.handle_timer(Monotonic(START + 70)).come


def test_more_spawns_of_a_place_take_no_place(builder: ZoneBuilder) -> None:
    builder.place(1, (1, 100), group=31)
    builder.place(2, (2, 0), (3, 0), group=31)
    made = population(builder.build())
    made.open(START)
    standing = numbers(made)
    one, other = made.make_at(1, START), made.make_at(1, START, group=4)
    assert one is not None
    assert other is not None
    assert (one.template.id, one.group, other.group) == (1, 0, 4)
    # Where no entry has a weight, each of them may be made.
    found = {one.template.id for one in (made.make_at(2, START) for _ in range(60)) if one}
    assert found == {2, 3}
    group = made.make_group(31, START)
    assert [one.placement.id for one in group] == [1, 2]
    assert {one.group for one in group} == {31}
    assert made.make_at(99, START) is None
    assert made.make_group(99, START) == []
    assert numbers(made) == standing


def test_a_spawn_is_made_by_its_number(builder: ZoneBuilder) -> None:
    builder.place(1, (1, 100))
    made = population(builder.build())
    one = made.make_one(1, (4.0, 5.0, 6.0, 90.0), START)
    assert one is not None
    assert (one.x, one.y, one.z, one.placement.heading) == (4.0, 5.0, 6.0, 90.0)
    assert made.make_one(99, (4.0, 5.0, 6.0, 90.0), START) is None


def test_the_respawn_of_a_place_can_be_set(builder: ZoneBuilder) -> None:
    builder.place(1, (1, 100), respawn=600)
    made = population(builder.build())
    made.open(START)
    assert made.set_respawn(1, 20)
    assert not made.set_respawn(99, 20)
    made.removed(1, START)
    assert numbers(made.handle_timer(Monotonic(START + 30)).come) == [1]


def test_over_days_of_virtual_time_shares_stay_those_of_the_rows(builder: ZoneBuilder) -> None:
    """Respawns choose as the first filling does: entries by weight, groups by chance.

    One placement has three entries. A set of three groups has a named monster with a chance of 10,
    the two others have 100 / 3, cut to 33. Both die as soon as they stand, 2,000 times.
    """
    builder.place(1, (1, 50), (2, 36), (3, 14), respawn=60)
    for place, spawn, group in ((2, 4, 21), (3, 5, 22), (4, 6, 23)):
        builder.place(place, (spawn, 100), group=group, respawn=60)
    builder.associate(21, 22)
    builder.associate(22, 23)
    builder.chance(23, 10)
    zone = population(builder.build(), seed=4)
    zone.open(START)
    now, drawn = float(START), Counter[int]()
    for _ in range(2000):
        for standing in list(zone):
            drawn[standing.template.id] += 1
            zone.removed(standing.placement.id, Monotonic(now))
        now += 70.0
        zone.handle_timer(Monotonic(now))
    for expected in ({1: 1000, 2: 720, 3: 280}, {4: 868, 5: 868, 6: 263}):
        # Chi-square with two degrees of freedom: 13.8 is exceeded once in a thousand.
        assert sum((drawn[one] - many) ** 2 / many for one, many in expected.items()) < 13.8


def test_an_unknown_condition_means_nothing(builder: ZoneBuilder) -> None:
    builder.place(1, (1, 100), condition=100)
    content = builder.build()
    for now in (Condition.DAY | Condition.RAIN, Condition.NIGHT | Condition.DRY):
        assert numbers(population(content, now=now).open(START)) == [1]


def test_places_of_the_group_that_stands_are_filled_at_dusk(builder: ZoneBuilder) -> None:
    builder.place(1, (1, 100), group=21)
    builder.place(2, (2, 100), group=21, condition=int(Condition.NIGHT))
    builder.place(3, (3, 100), group=22)
    builder.place(4, (4, 100), group=22, condition=int(Condition.NIGHT))
    builder.associate(21, 22)
    zone = population(builder.build())
    (first,) = zone.open(START)
    zone.surroundings.now = Condition.NIGHT | Condition.DRY
    (come,) = zone.changed(START).come
    assert (come.template.id, come.group) == (first.template.id + 1, first.group)
    zone.surroundings.now = Condition.DAY | Condition.DRY
    assert zone.changed(START).gone == [come]


def test_levels_beyond_all_are_cut(builder: ZoneBuilder) -> None:
    builder.spawn(9, min_level=255, max_level=120)
    builder.place(1, (9, 100))
    content = builder.build()
    levels = {population(content, seed).open(START)[0].level for seed in range(100)}
    assert levels <= set(range(120, 126))
    assert len(levels) > 3
