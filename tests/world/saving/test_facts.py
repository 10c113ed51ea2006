"""Facts of placements are stored together a little later, and are known before that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from emu.facts import PlacementFact, Printable
from emu.times import Moment, Monotonic
from emu.world.saving.facts import PAUSE, FactSaver
from tests.support.coroutines import finish
from tests.support.times import timetable
from tests.support.world.world_fakes import PlacementFactsInMemory, no_pause


@dataclass(frozen=True, slots=True)
class SealedBox(PlacementFact):
    """A made-up fact."""

    table: ClassVar[str] = "sealed_boxes"
    key_holder: Annotated[str, Printable("holder of its key", 20)]


class Scene:
    """The boxes of a process over a store."""

    def __init__(
        self, store: PlacementFactsInMemory, pause: Callable[[float], Awaitable[None]] = no_pause
    ) -> None:
        self.seconds = 50.0
        self.lines: list[str] = []
        self.started: list[Coroutine[Any, Any, None]] = []
        self.timetable = timetable()
        self.boxes = FactSaver(
            SealedBox, "which boxes are sealed", store,
            start=self.started.append, clock=self, timetable=self.timetable,
            failed=self.lines.append, pause=pause,
        )  # fmt: skip

    def now(self) -> Monotonic:
        return Monotonic(self.seconds)

    def moment(self) -> Moment:
        return Moment(1_000_000.0 + self.seconds)

    def run(self, seconds: float) -> None:
        self.seconds += seconds
        self.timetable.handle_timer(self.now())
        started, self.started[:] = list(self.started), []
        for one in started:
            finish(one)


def test_what_settles_is_stored_without_the_usual_pause() -> None:
    async def answer(_seconds: float) -> None:
        scene.run(0.0)

    store = PlacementFactsInMemory()
    scene = Scene(store, answer)
    box = SealedBox(12, 0, 7, "Ayla")
    scene.boxes.note([box])
    finish(scene.boxes.settled())
    assert [*store.rows.values()] == [box]
    store.is_broken = True
    scene.boxes.note([SealedBox(12, 0, 8, "Borvik")])
    finish(scene.boxes.settled())
    assert len(scene.boxes) == 1, "a database that is away is not waited for"


def test_a_made_up_fact_outlives_its_process() -> None:
    store = PlacementFactsInMemory()
    scene, box = Scene(store), SealedBox(12, 0, 7, "Ayla")
    scene.boxes.note([box])
    assert finish(scene.boxes.of_zone(12, 0)) == [box]
    assert store.rows == {}
    scene.run(PAUSE)
    assert [*store.rows.values()] == [box]
    assert len(scene.boxes) == 0
    assert finish(Scene(store).boxes.of_zone(12, 0)) == [box]


def test_failures_of_a_made_up_fact_name_it() -> None:
    store = PlacementFactsInMemory()
    scene = Scene(store)
    store.is_broken = True
    scene.boxes.note([SealedBox(12, 0, 7, "Ayla")])
    scene.run(PAUSE)
    assert scene.lines == [
        "which boxes are sealed could not be stored, and is stored later: the disk is full"
    ]
    assert len(finish(scene.boxes.of_zone(12, 0))) == 1


def test_what_changes_while_a_save_is_in_flight_is_stored_after_it() -> None:
    store = PlacementFactsInMemory()
    scene = Scene(store)
    first, second = SealedBox(12, 0, 7, "Ayla"), SealedBox(12, 0, 8, "Borvik")
    scene.boxes.save()
    assert not scene.started, "nothing has changed"
    scene.boxes.note([first])
    scene.boxes.save()
    (saving,) = scene.started
    scene.boxes.note([second])
    scene.boxes.save()
    assert scene.started == [saving], "the order of changes is kept"
    scene.started.clear()
    finish(saving)
    assert [*store.rows.values()] == [first]
    scene.run(PAUSE)
    assert [*store.rows.values()] == [first, second]
