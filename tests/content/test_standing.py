"""What is rolled for a spawn that comes to a place."""

from random import Random
from typing import Any

from emu.content.file import Entry, Placement, Template
from emu.content.standing import Standing, stand
from emu.times import Monotonic

NOW = Monotonic(100.0)
ENTRY = Entry(1, 1, 7, 100.0, 0, "")


def rolled(place: dict[str, Any], seed: int = 1, **own: Any) -> Standing:
    values: dict[str, Any] = dict.fromkeys(Placement._fields, 0)
    template = Template(7, "npcs", {"size": 32, "size_offset": 0}, own, {}, ())
    return stand(Placement(**values | place), ENTRY, template, NOW, Random(seed), group=5)


def test_without_offsets_nothing_is_rolled() -> None:
    one = rolled({"x": 4.0, "y": 5.0, "z": 6.0, "heading": 90.0, "level": 12})
    assert (one.x, one.y, one.z, one.heading, one.level, one.size) == (4.0, 5.0, 6.0, 90.0, 12, 32)
    assert (one.expires, one.group, one.seed) == (None, 5, 0)


def test_an_expiry_is_rolled_around_its_time() -> None:
    place = {"expire": 600, "expire_offset": 60}
    ends = {rolled(place, seed).expires for seed in range(50)}
    assert len(ends) > 10
    assert all(end is not None and 640.0 <= end <= 760.0 for end in ends)


def test_a_heading_and_a_seed_are_rolled_where_the_kind_says_so() -> None:
    headings = {rolled({"heading": 90.0}, seed, any_heading=1).heading for seed in range(20)}
    assert len(headings) == 20
    assert rolled({}, randomize=1).seed > 0
