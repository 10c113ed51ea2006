"""What is dead in zones of a content file: when it is stored, and what a zone reads."""

from collections.abc import Coroutine, Sequence
from typing import Any

import pytest

from emu.content.population import Death
from emu.errors import StoreError
from emu.times import Moment, Monotonic
from emu.world.population.deaths import DeadSpawn, Deaths
from emu.world.saving.facts import LONGEST_RETRY, MOST_ROWS, PAUSE, TRIES
from tests.support.coroutines import finish
from tests.support.times import timetable
from tests.support.world.world_fakes import PlacementFactsInMemory


class Scene:
    """Deaths with a clock, and a store that a test can break or keep waiting."""

    def __init__(self) -> None:
        self.store = PlacementFactsInMemory()
        self.seconds = 50.0
        self.lines: list[str] = []
        self.started: list[Coroutine[Any, Any, None]] = []
        self.timetable = timetable()
        self.deaths = Deaths(
            self.store,
            self.started.append,
            self,
            self.timetable,
            self.lines.append,
            pause=self.pause,
        )

    async def pause(self, seconds: float) -> None:
        self.seconds += seconds

    def now(self) -> Monotonic:
        return Monotonic(self.seconds)

    def moment(self) -> Moment:
        return Moment(1_000_000.0 + self.seconds)

    def die(self, placement: int, seconds: float | None = 300.0, *, for_ever: bool = False) -> None:
        returns = None if seconds is None else Monotonic(self.seconds + seconds)
        self.deaths.died(9, 0, [Death(placement, is_dead=True, returns=returns)], for_ever=for_ever)

    def rise(self, placement: int) -> None:
        self.deaths.died(9, 0, [Death(placement, is_dead=False, returns=None)], for_ever=False)

    def finish(self) -> None:
        started, self.started[:] = list(self.started), []
        for one in started:
            finish(one)

    def run(self, seconds: float) -> None:
        """Let time pass, and every save that becomes due."""
        end = self.seconds + seconds
        while (due := self.timetable.get_timer()) is not None and due <= end:
            self.seconds = due
            self.timetable.handle_timer(due)
            self.finish()
        self.seconds = end

    def stored(self) -> Sequence[DeadSpawn]:
        return [row for _, row in sorted(self.store.rows.items())]

    def dead(self) -> dict[int, float | None]:
        found: dict[int, float | None] = finish(self.deaths.dead_in(9, 0))
        return found


def test_deaths_are_stored_together_a_little_later() -> None:
    scene = Scene()
    scene.die(11)
    scene.die(12, 600.0)
    assert scene.stored() == []
    assert len(scene.deaths) == 2
    scene.run(PAUSE)
    assert [(row.placement_id, row.returns) for row in scene.stored()] == [
        (11, 1_000_350.0), (12, 1_000_650.0),
    ]  # fmt: skip
    assert scene.store.saves == 1
    assert len(scene.deaths) == 0
    scene.rise(11)
    scene.run(PAUSE)
    assert [row.placement_id for row in scene.stored()] == [12]


def test_a_zone_reads_the_seconds_that_are_left() -> None:
    scene = Scene()
    scene.die(11)
    scene.run(100.0)
    assert scene.dead() == {11: 200.0}
    scene.run(200.0)
    assert scene.dead() == {}


def test_a_zone_that_starts_again_at_once_knows_what_is_not_stored() -> None:
    scene = Scene()
    scene.die(11)
    scene.run(PAUSE)
    scene.rise(11)
    scene.die(12)
    assert scene.dead() == {12: 300.0}
    # The save is in flight while the next change happens.
    scene.deaths.save()
    scene.die(13)
    assert scene.dead() == {12: 300.0, 13: 300.0}
    scene.finish()
    scene.run(PAUSE)
    assert [row.placement_id for row in scene.stored()] == [12, 13]


def test_what_never_returns_is_stored_only_for_instances_of_players() -> None:
    scene = Scene()
    scene.die(11, None)
    scene.die(12, None, for_ever=True)
    scene.run(PAUSE)
    assert scene.dead() == {12: None}


def test_a_store_that_fails_is_tried_again_with_the_newest_state() -> None:
    scene = Scene()
    scene.store.is_broken = True
    scene.die(11)
    scene.die(12)
    scene.run(10.0)
    assert scene.lines == ["what died could not be stored, and is stored later: the disk is full"]
    scene.rise(11)
    scene.store.is_broken = False
    scene.run(LONGEST_RETRY)
    assert [row.placement_id for row in scene.stored()] == [12]
    assert len(scene.deaths) == 0


def test_a_zone_opens_without_the_database() -> None:
    scene = Scene()
    scene.store.is_broken = True
    assert scene.dead() == {}
    assert scene.lines == ["zone 9: what was dead in it is not known: the disk is full"]


def test_a_zone_that_opens_reads_again_after_a_lost_answer() -> None:
    """Seed 7102 of the simulation found that the dead of a zone stood again."""
    scene = Scene()
    scene.die(11)
    scene.run(PAUSE)
    scene.store.answers_to_lose = TRIES - 1
    assert list(scene.dead()) == [11]
    assert scene.lines == []
    scene.store.answers_to_lose = TRIES
    assert scene.dead() == {}
    assert scene.lines == ["zone 9: what was dead in it is not known: the answer was lost"]


def test_many_deaths_are_stored_in_portions() -> None:
    scene = Scene()
    for placement in range(MOST_ROWS + 1):
        scene.die(placement)
    scene.run(3 * PAUSE)
    assert len(scene.stored()) == MOST_ROWS + 1
    assert scene.store.saves == 2


def test_an_instance_begins_anew() -> None:
    scene = Scene()
    scene.die(11)
    scene.run(PAUSE)
    scene.die(12)
    finish(scene.deaths.forget(9, 0))
    assert scene.dead() == {}
    scene.store.is_broken = True
    with pytest.raises(StoreError, match="the disk is full"):
        finish(scene.deaths.forget(9, 0))
