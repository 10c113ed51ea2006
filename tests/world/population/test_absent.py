"""The dead of zones that do not run: reads are few, whatever scripts ask for."""

from types import SimpleNamespace
from typing import Any

from twisted.internet.defer import Deferred, ensureDeferred

from emu.content.population import Death
from emu.errors import StoreError
from emu.times import Monotonic
from emu.world.population import absent
from emu.world.population.absent import READS_AT_ONCE, AbsentDeaths


class Bench:
    """Reads that wait until a test answers them. Each zone has placement 10 * n at location n."""

    def __init__(self) -> None:
        self.now = Monotonic(0.0)
        self.reads: list[int] = []
        self.died: dict[int, list[Death]] = {}
        self.lines: list[str] = []
        self._answers: list[Deferred[Any]] = []
        self.deaths = AbsentDeaths(
            read=self._read, start=ensureDeferred, died=self.died.__setitem__,
            failed=self.lines.append, now=lambda: self.now,
        )  # fmt: skip

    async def _read(self, zone_id: int) -> Any:
        self.reads.append(zone_id)
        self._answers.append(Deferred())
        return await self._answers[-1]

    def answer(self, error: Exception | None = None) -> None:
        placements = [SimpleNamespace(id=10 * one, location_id=one) for one in range(1, 4)]
        waiting = self._answers.pop(0)
        if error is not None:
            waiting.errback(error)
        else:
            waiting.callback(SimpleNamespace(content=SimpleNamespace(placements=placements)))


def test_one_read_serves_all_that_wait_for_a_zone() -> None:
    bench = Bench()
    for location in (1, 2, 2, 9):
        bench.deaths.keep(7, location, 60 * location)
    assert bench.reads == [7]
    bench.answer()
    assert bench.died == {7: [Death(10, is_dead=True, returns=60.0),
                              Death(20, is_dead=True, returns=120.0)]}  # fmt: skip
    bench.deaths.keep(7, 3, 5)
    assert bench.reads == [7, 7]


def test_zones_are_read_one_after_another_and_few_over_time() -> None:
    bench = Bench()
    for zone_id in range(1000):
        bench.deaths.keep(zone_id, 1, 60)
    assert bench.reads == [0]
    bench.answer(StoreError("gone"))
    assert bench.lines == ["zone 0: a spawn could not be kept dead: gone"]
    for _ in range(1, READS_AT_ONCE):
        bench.answer()
    assert bench.reads == list(range(READS_AT_ONCE))
    assert sorted(bench.died) == list(range(1, READS_AT_ONCE))
    bench.now = Monotonic(2 / absent.READ_RATE)
    for zone_id in range(100, 200):
        bench.deaths.keep(zone_id, 1, 60)
    bench.answer()
    bench.answer()
    assert bench.reads[READS_AT_ONCE:] == [100, 101]


def test_the_locations_that_wait_are_limited() -> None:
    bench = Bench()
    for location in range(absent.MOST_LOCATIONS + 500):
        bench.deaths.keep(7, location, 60)
    assert len(bench.deaths._waiting[7]) == absent.MOST_LOCATIONS
