"""Zones with spawns of zone files: over the content file, and in a world without one."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from emu.content.file import ContentFile
from emu.content.importing import import_content
from emu.content.sources import dump_parts
from emu.errors import FileFormatError
from emu.times import Monotonic
from emu.world.actors.spawn import Pose, Spawn, SpawnKind, SpawnTemplate
from emu.world.population.listing import zone_definitions
from emu.world.population.reading import ServedZone, served_zone
from emu.world.population.served import SLICE, ContentZones
from emu.world.rules import ZoneRules
from emu.world.zones.definitions import Fixture
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position
from tests.support.content.dumps import meadow, write_dumps
from tests.support.coroutines import finish
from tests.support.times import timetable

WOLF = Fixture(
    SpawnTemplate(
        SpawnKind.NPC, "a tame wolf", level=200, size=40, heroic=1, difficulty=9, pose=Pose(540)
    ),
    Position(5.0, -60.0, 7.0, 90.0, 3),
    key="wolf",
)
GATE = Fixture(SpawnTemplate(SpawnKind.WIDGET, "a gate"), Position(0.0, 0.0, 0.0), key="gate")
SIGN = Fixture(SpawnTemplate(SpawnKind.SIGN, "a board"), Position(1.0, 0.0, 0.0), key="board")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    target = folder / "content.sqlite"
    import_content(dump_parts([write_dumps(folder / "dumps", meadow())]), target)
    return target


async def at_once(call: Callable[[], Any]) -> Any:
    return call()


class Scene:
    """A zone with spawns of a zone file, with or without a content file."""

    def __init__(self, path: Path, *fixtures: Fixture, has_file: bool = True) -> None:
        self.path, self.fixtures = path, fixtures
        self.error: FileFormatError | None = None
        self.seconds, self.lines, ids = 100.0, list[str](), iter(range(1, 10**9))
        self.timetable = timetable()
        self.zones = ContentZones(
            self._read if has_file else None, fixtures=lambda _zone: self.fixtures,
            next_id=lambda: next(ids), randomness=lambda: Random(1), hour=lambda: 12,
            center=lambda _zone: None, now=lambda: Monotonic(self.seconds),
            timetable=self.timetable, start=finish, failed=self.lines.append, in_thread=at_once,
        )  # fmt: skip
        with ContentFile(path) as file:
            definitions = {one.id: one for one in zone_definitions(file)}
        self.zone = Zone(definitions[9], 0, ZoneRules())

    async def _read(
        self, zone_id: int, old: ServedZone | None, _is_wanted: Callable[[], bool]
    ) -> ServedZone | None:
        if self.error is not None:
            raise self.error
        with ContentFile(self.path) as file:
            return served_zone(file, zone_id, old=old)

    def open(self) -> "Scene":
        self.zones.settle(self.zone)
        return self

    def run(self, seconds: float) -> "Scene":
        end = self.seconds + seconds
        while (due := self.timetable.get_timer()) is not None and due <= end:
            self.seconds = max(self.seconds, due)
            self.timetable.handle_timer(Monotonic(self.seconds))
        self.seconds = end
        return self

    def names(self) -> list[str]:
        return [spawn.name for spawn in self.zone]

    def named(self, name: str) -> Spawn:
        return next(one for one in self.zone if one.name == name)


def test_without_a_content_file_whoever_enters_sees_the_spawns_at_once(path: Path) -> None:
    scene = Scene(path, WOLF, GATE, SIGN, has_file=False).open()
    assert scene.names() == ["a tame wolf", "a gate", "a board"]
    assert scene.timetable.get_timer() is None, "such a zone has nothing that returns"


def test_without_a_content_file_what_died_returns_in_its_time(path: Path) -> None:
    scene = Scene(path, replace(WOLF, respawn=60), GATE, has_file=False).open()
    for _ in range(2):
        wolf = scene.named("a tame wolf")
        scene.zones.died(scene.zone, wolf)
        scene.run(10.0)
        scene.zones.despawn(scene.zone, wolf)
        assert scene.names() == ["a gate"]
        scene.run(50.0)
        assert scene.names() == ["a gate"], "its time begins when its body goes"
        scene.run(20.0)
        assert scene.names() == ["a gate", "a tame wolf"]
        assert scene.timetable.get_timer() is None, "nothing is left to return"


def test_without_a_content_file_what_does_not_return_costs_no_time(path: Path) -> None:
    scene = Scene(path, replace(WOLF, respawn=0), GATE, has_file=False).open()
    scene.zones.despawn(scene.zone, scene.named("a tame wolf"))
    scene.run(3600.0)
    assert scene.names() == ["a gate"]
    assert scene.timetable.get_timer() is None


def test_a_spawn_of_a_zone_file_is_the_one_that_its_table_describes(path: Path) -> None:
    spawn = Scene(path, WOLF, has_file=False).open().named("a tame wolf")
    assert spawn.template() == WOLF.template
    assert spawn.position == WOLF.place
    assert (spawn.level, spawn.size, spawn.heroic, spawn.difficulty) == (200, 40, 1, 9)


def test_zone_files_add_to_a_zone_of_the_content_file(path: Path) -> None:
    plain = Scene(path).open().run(1.0)
    both = Scene(path, WOLF, GATE).open().run(1.0)
    assert both.names()[:2] == ["a tame wolf", "a gate"]
    assert sorted(both.names()[2:]) == sorted(plain.names())
    places = [{(one.name, one.position, one.level) for one in scene.zone}
              for scene in (plain, both)]  # fmt: skip
    assert places[0] < places[1], "no roll of another spawn changes"


def test_a_zone_that_cannot_be_read_has_the_spawns_of_zone_files(path: Path) -> None:
    scene = Scene(path, WOLF)
    scene.error = FileFormatError("the file is damaged")
    assert scene.open().run(1.0).names() == ["a tame wolf"]
    assert scene.lines == ["zone 9 was not filled: the file is damaged"]


def test_only_the_spawns_of_the_content_file_can_be_edited(path: Path) -> None:
    scene = Scene(path, WOLF).open().run(1.0)
    wolf, other = [*scene.zone][:2]
    assert wolf.name == "a tame wolf"
    assert scene.zones.standing_of(scene.zone, wolf) is None
    assert scene.zones.standing_of(scene.zone, other) is not None
    assert [scene.zones.is_fixture(scene.zone, one) for one in (wolf, other)] == [True, False]


@pytest.mark.parametrize("has_file", [True, False])
def test_a_reload_exchanges_only_what_differs(path: Path, *, has_file: bool) -> None:
    scene = Scene(path, WOLF, GATE, has_file=has_file).open().run(1.0)
    wolf, before = scene.named("a tame wolf"), set(scene.zone)
    other = replace(GATE, behavior="greeter")
    scene.fixtures = (SIGN, other, WOLF)
    assert finish(scene.zones.refresh()) == [], "the lines count spawns of the content file"
    scene.run(1.0)
    assert scene.named("a tame wolf") is wolf, "its number follows from its key"
    assert {one.name for one in before - set(scene.zone)} == {"a gate"}
    assert sorted(one.name for one in set(scene.zone) - before) == ["a board", "a gate"]
    scene.fixtures = ()
    finish(scene.zones.refresh())
    scene.run(1.0)
    assert {"a tame wolf", "a board", "a gate"}.isdisjoint(scene.names())


def test_a_zone_gets_its_first_spawns_of_a_file_by_a_reload(path: Path) -> None:
    scene = Scene(path, has_file=False).open()
    assert scene.names() == []
    scene.fixtures = (WOLF,)
    finish(scene.zones.refresh())
    assert scene.names() == ["a tame wolf"]


def test_many_spawns_of_a_file_come_in_slices(path: Path) -> None:
    many = [replace(WOLF, key=f"wolf {number}") for number in range(SLICE + 5)]
    scene = Scene(path, *many, has_file=False).open()
    assert len(scene.zone) == SLICE
    scene.run(1.0)
    assert len(scene.zone) == SLICE + 5
    assert scene.timetable.get_timer() is None
