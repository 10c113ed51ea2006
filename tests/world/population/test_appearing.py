"""Which spawns appear first."""

from types import SimpleNamespace
from typing import Any

from emu.world.population.appearing import is_from_file, nearest_first
from emu.world.population.reading import FIRST_FIXTURE
from emu.world_stream.movement import Position


def at(number: int, x: float, z: float = 0.0) -> Any:
    return SimpleNamespace(placement=SimpleNamespace(id=number), x=x, z=z)


def test_those_of_zone_files_come_before_the_nearest() -> None:
    far, near, own = at(1, 50.0), at(2, 3.0, -4.0), at(FIRST_FIXTURE, 99.0)
    assert nearest_first([far, near, own], Position(0.0, 0.0, 0.0)) == [own, near, far]
    assert nearest_first([far, near], Position(60.0, 0.0, 0.0)) == [far, near]
    assert [is_from_file(one) for one in (far, own)] == [False, True]
