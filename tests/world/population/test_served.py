"""Zones of a content file in a running world: what stands there, and when it appears."""

import gc
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest

from emu.content.file import ContentFile
from emu.content.importing import import_content
from emu.content.layers import Edit, ZoneLayer, read_edits
from emu.content.population import Population
from emu.content.sources import dump_parts
from emu.content.standing import Standing
from emu.errors import EmuError, FileFormatError
from emu.ground.importing import import_maps
from emu.ground.map_folder import MapFolder
from emu.times import Moment, Monotonic
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.deadlines import WORK_SECONDS
from emu.world.population.deaths import Deaths
from emu.world.population.listing import zone_definitions
from emu.world.population.reading import NO_LAYER, ServedZone, served_zone
from emu.world.population.served import SLICE, ContentZones, Watcher
from emu.world.rules import ZoneRules
from emu.world.zones.ground import ZoneGround
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position
from tests.support.content.dumps import Rows, meadow, write_dumps
from tests.support.coroutines import finish
from tests.support.ground.map_folders import write_maps
from tests.support.times import timetable
from tests.support.world.world_fakes import PlacementFactsInMemory, no_pause


def made(folder: Path, tables: dict[str, Any]) -> Path:
    target = folder / "content.sqlite"
    import_content(dump_parts([write_dumps(folder / "dumps", tables)]), target)
    return target


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("served"), meadow())


async def at_once(call: Callable[[], Any]) -> Any:
    return call()


class Scene:
    """Content zones with a clock and a reader that a test controls."""

    def __init__(
        self,
        path: Path,
        hour: int = 12,
        dead: PlacementFactsInMemory | None = None,
        now: float = 100.0,
    ) -> None:
        self.seconds = now
        self.dead = dead or PlacementFactsInMemory()
        self.layer = NO_LAYER
        self.edits: list[Edit] = []
        self.hour = hour
        self.lines: list[str] = []
        self.wanted: list[bool] = []
        """Whether each zone was still wanted when it was read."""
        self.woken: list[float] = []
        self.timetable = timetable(self.woken.append)
        self.center: Position | None = None
        self.error: EmuError | None = None
        self._path = path
        self._waiting: list[Coroutine[Any, Any, None]] = []
        ids = iter(range(1, 10**9))
        self.zones = ContentZones(
            self._read, next_id=lambda: next(ids), randomness=lambda: Random(1),
            hour=lambda: self.hour, center=lambda _zone: self.center,
            now=self.now, timetable=self.timetable, start=self._waiting.append,
            failed=self.lines.append,
            deaths=Deaths(
                self.dead, finish, self, self.timetable, self.lines.append, pause=no_pause
            ),
            in_thread=at_once,
        )  # fmt: skip
        with ContentFile(path) as file:
            definitions = {one.id: one for one in zone_definitions(file)}
        self.zone = Zone(definitions[9], 0, ZoneRules())

    def now(self) -> Monotonic:
        return Monotonic(self.seconds)

    def moment(self) -> Moment:
        return Moment(1_000_000.0 + self.seconds)

    async def _read(
        self, zone_id: int, old: ServedZone | None, is_wanted: Callable[[], bool]
    ) -> ServedZone | None:
        self.wanted.append(is_wanted())
        if self.error is not None:
            raise self.error
        with ContentFile(self._path) as file:
            return served_zone(file, zone_id, self.layer, self.edits, old)

    def read(self) -> None:
        """Let the thread answer."""
        for one in self._waiting:
            with pytest.raises(StopIteration):
                one.send(None)
        self._waiting.clear()

    def refresh(self, path: Path | None = None) -> list[str]:
        """Take over another file or other changes; return what `refresh` says."""
        self._path = path or self._path
        lines: list[str] = finish(self.zones.refresh())
        self.run(1.0)
        return lines

    def run(self, seconds: float) -> None:
        end = self.seconds + seconds
        while (due := self.timetable.get_timer()) is not None and due <= end:
            self.seconds = max(self.seconds, due)
            self.timetable.handle_timer(Monotonic(self.seconds))
        self.seconds = end

    def names(self) -> list[str]:
        return sorted(spawn.name for spawn in self.zone)


def opened(path: Path, **values: Any) -> Scene:
    scene = Scene(path, **values)
    scene.zones.settle(scene.zone)
    scene.read()
    scene.run(1.0)
    return scene


def test_a_zone_is_filled_after_it_was_read(path: Path) -> None:
    scene = Scene(path)
    scene.zones.settle(scene.zone)
    assert scene.names() == []
    assert scene.timetable.get_timer() is None
    scene.read()
    assert scene.woken == [100.0]
    scene.run(1.0)
    assert len(scene.zone) == scene.zones.standing(scene.zone) == 3
    assert "a sign" in scene.names()
    assert scene.lines == []


def test_creatures_under_the_ground_of_their_zone_are_lifted(tmp_path: Path, path: Path) -> None:
    import_maps(write_maps(tmp_path / "source", "exp01_meadow"), tmp_path / "maps")
    scene = Scene(path)
    ground = ZoneGround("exp01_meadow", MapFolder(tmp_path / "maps"), {})
    scene.zones.ground = lambda _zone: ground
    scene.zones.settle(scene.zone)
    scene.read()
    scene.run(1.0)
    heights = {one.position.x: one.position.y for one in scene.zone if one.kind is SpawnKind.NPC}
    assert heights[10.25] == 0.0, "its row has -1.5"
    without = opened(path)
    assert -1.5 in {one.position.y for one in without.zone}


def test_a_spawn_has_what_its_rows_say(path: Path) -> None:
    scene = opened(path)
    guards = [spawn for spawn in scene.zone if spawn.name == "a guard"]
    captains = [spawn for spawn in scene.zone if spawn.name == "a captain"]
    assert len(guards) + len(captains) == 2
    for guard in guards:
        assert guard.kind is SpawnKind.NPC
        assert 5 <= guard.level <= 7
        assert guard.appearance["model_type"] == 134
        assert guard.appearance["skin_color"] == (4, 5, 6)
        assert guard.appearance["equipment_types"][2] == 4000
        assert [verb.command for verb in guard.verbs] == ["hail"]
    (sign,) = (spawn for spawn in scene.zone if spawn.kind is SpawnKind.SIGN)
    assert sign.footer is not None
    assert sign.footer.title == "North"


def crowd(count: int) -> dict[str, Rows]:
    return {
        "zones": [{"id": 9, "name": "meadow", "file": "exp01_meadow"}],
        "spawn": [{"id": 90001, "name": "a rat", "model_type": 85}],
        "spawn_npcs": [{"spawn_id": 90001, "min_level": 1, "max_level": 1}],
        "spawn_location_placement": [
            {"id": one, "zone_id": 9, "spawn_location_id": one, "x": float(one), "respawn": 60}
            for one in range(1, count + 1)
        ],
        "spawn_location_entry": [
            {"id": one, "spawn_id": 90001, "spawn_location_id": one, "spawnpercentage": 100}
            for one in range(1, count + 1)
        ],
    }


def test_a_large_zone_is_filled_in_slices_the_nearest_first(tmp_path: Path) -> None:
    scene = Scene(made(tmp_path, crowd(3 * SLICE)))
    scene.center = Position(float(2 * SLICE), 0.0, 0.0)
    scene.zones.settle(scene.zone)
    scene.read()
    sizes = []
    for _ in range(4):
        scene.seconds = float(scene.timetable.get_timer() or 0)
        scene.timetable.handle_timer(Monotonic(scene.seconds))
        sizes.append(len(scene.zone))
    assert sizes == [SLICE, 2 * SLICE, 3 * SLICE, 3 * SLICE]
    first = sorted(scene.zone, key=lambda spawn: spawn.id)[:SLICE]
    assert max(abs(spawn.position.x - 2 * SLICE) for spawn in first) <= SLICE / 2 + 1


def test_zones_that_are_filled_share_the_time_of_a_turn(tmp_path: Path) -> None:
    scene = Scene(made(tmp_path, crowd(9)))
    zones = [Zone(scene.zone.definition, number, ZoneRules()) for number in range(4)]
    for zone in zones:
        scene.zones.settle(zone)
    scene.read()

    def appeared(*_: object) -> None:
        scene.seconds += WORK_SECONDS * 0.6

    watcher = SimpleNamespace(appeared=appeared, vanished=None, ended=None)
    scene.zones.watchers.append(cast("Watcher", watcher))
    sizes = []
    for _ in range(4):
        scene.seconds = max(scene.seconds, scene.timetable.get_timer() or 0)
        scene.timetable.handle_timer(Monotonic(scene.seconds))
        sizes.append(sorted(map(len, zones)))
    assert [sum(one) for one in sizes] == [2, 4, 6, 8]
    assert sizes[-1] == [2, 2, 2, 2], "none waits until others are full"


def test_a_zone_that_ends_while_it_is_read_stays_empty(path: Path) -> None:
    scene = Scene(path)
    scene.zones.settle(scene.zone)
    scene.zones.forget(scene.zone)
    scene.read()
    assert scene.wanted == [False], "a thread that comes to it late need not read it"
    scene.run(1.0)
    assert scene.timetable.get_timer() is None
    assert scene.names() == []


def test_a_zone_that_cannot_be_read_is_reported_and_open(path: Path) -> None:
    scene = Scene(path)
    scene.error = FileFormatError("content.sqlite: is damaged")
    scene.zones.settle(scene.zone)
    scene.read()
    assert scene.lines == ["zone 9 was not filled: content.sqlite: is damaged"]


def test_what_stands_by_night_comes_at_dusk(tmp_path: Path) -> None:
    tables = crowd(2)
    entries = [
        dict(row, condition=one) for one, row in enumerate(tables["spawn_location_entry"], 1)
    ]
    scene = opened(made(tmp_path, tables | {"spawn_location_entry": entries}))
    assert [spawn.position.x for spawn in scene.zone] == [1.0]
    scene.hour = 19
    scene.run(20.0)
    assert [spawn.position.x for spawn in scene.zone] == [2.0]


def location_at(scene: Scene, x: float) -> int:
    spawn = next(spawn for spawn in scene.zone if spawn.position.x == x)
    standing = scene.zones.standing_of(scene.zone, spawn)
    assert standing is not None
    return standing.placement.location_id


def ids(scene: Scene) -> dict[float, int]:
    """Return the spawns of a zone: x -> id."""
    return {spawn.position.x: spawn.id for spawn in scene.zone}


def test_another_file_changes_only_what_differs(tmp_path: Path) -> None:
    scene = opened(made(tmp_path / "old", crowd(4)))
    before = ids(scene)
    tables = crowd(5)
    tables["spawn_location_placement"] = [
        dict(row, x=row["x"] + 10.0 if row["id"] == 2 else row["x"])
        for row in tables["spawn_location_placement"] if row["id"] != 3
    ]  # fmt: skip
    assert scene.refresh(made(tmp_path / "new", tables)) == ["meadow: 2 spawns go, 2 come"]
    after = ids(scene)
    assert sorted(after) == [1.0, 4.0, 5.0, 12.0]
    assert (after[1.0], after[4.0]) == (before[1.0], before[4.0])
    assert scene.refresh() == []
    assert ids(scene) == after


def test_a_changed_template_changes_its_spawns_alone(tmp_path: Path) -> None:
    tables = crowd(3)
    tables["spawn"] = [*tables["spawn"], {"id": 90002, "name": "a snake", "model_type": 86}]
    tables["spawn_npcs"] = [*tables["spawn_npcs"], {"spawn_id": 90002, "min_level": 1}]
    tables["spawn_location_entry"][0]["spawn_id"] = 90002  # type: ignore[index]
    scene = opened(made(tmp_path / "old", tables))
    before = ids(scene)
    tables["spawn"] = [dict(tables["spawn"][0]), dict(tables["spawn"][1], name="a viper")]
    assert scene.refresh(made(tmp_path / "new", tables)) == ["meadow: 1 spawns go, 1 come"]
    after = ids(scene)
    assert scene.names() == ["a rat", "a rat", "a viper"]
    assert (after[2.0], after[3.0]) == (before[2.0], before[3.0])


def test_what_is_dead_stays_dead_when_the_content_changes(tmp_path: Path) -> None:
    scene = opened(made(tmp_path / "old", crowd(2)))
    scene.zones.despawn(scene.zone, next(iter(scene.zone)))
    dead = 3.0 - next(iter(scene.zone)).position.x
    tables = crowd(2)
    tables["spawn_location_placement"] = [
        dict(row, x=row["x"] + 10.0) for row in tables["spawn_location_placement"]
    ]
    scene.refresh(made(tmp_path / "new", tables))
    assert sorted(ids(scene)) == [13.0 - dead]
    scene.run(70.0)
    assert sorted(ids(scene)) == [11.0, 12.0]


def test_many_differences_are_applied_in_slices(tmp_path: Path) -> None:
    scene = opened(made(tmp_path / "old", crowd(2 * SLICE)))
    tables = crowd(2 * SLICE)
    tables["spawn"] = [dict(tables["spawn"][0], name="a bat")]
    finish_path = made(tmp_path / "new", tables)
    scene._path = finish_path
    finish(scene.zones.refresh())
    counts = []
    for _ in range(4):
        scene.seconds = float(scene.timetable.get_timer() or 0)
        scene.timetable.handle_timer(Monotonic(scene.seconds))
        counts.append(len(scene.zone))
    assert counts == [SLICE, 0, SLICE, 2 * SLICE]


def test_changes_of_zone_files_and_edits_are_laid_over_the_file(tmp_path: Path) -> None:
    scene = opened(made(tmp_path, crowd(3)))
    own = 2_000_000_001
    scene.layer = ZoneLayer((
        *read_edits("placement", 1, {"removed": True}),
        *read_edits("placement", 2, {"x": 20.0}),
        *read_edits("spawn", 90001, {"name": "a mouse", "min_level": 4, "max_level": 4}),
        *read_edits("placement", own, {"zone": 9, "place": [7.0, 1.0, 2.0, 45.0],
                                       "entries": [{"spawn": 90001}]}),
    ))  # fmt: skip
    scene.refresh()
    assert sorted(ids(scene)) == [3.0, 7.0, 20.0]
    assert {(spawn.name, spawn.level) for spawn in scene.zone} == {("a mouse", 4)}
    scene.edits = read_edits("placement", own, {"x": 8.0})
    scene.refresh()
    assert sorted(ids(scene)) == [3.0, 8.0, 20.0]
    scene.layer, scene.edits = ZoneLayer(replaces=True), []
    assert scene.refresh() == ["meadow: 3 spawns go, 0 come"]
    assert ids(scene) == {}


def test_content_that_comes_later_fills_a_zone_that_runs(tmp_path: Path) -> None:
    scene = Scene(made(tmp_path, crowd(2)))
    scene.layer = ZoneLayer(replaces=True)
    scene.zones.settle(scene.zone)
    scene.read()
    assert scene.names() == []
    scene.layer = NO_LAYER
    scene.refresh()
    assert sorted(ids(scene)) == [1.0, 2.0]


@pytest.mark.slow
def test_a_zone_that_ends_leaves_nothing_in_memory(tmp_path: Path) -> None:
    def kept() -> list[Any]:
        gc.collect()
        return [one for one in gc.get_objects() if type(one) in (ServedZone, Population)]

    # Only what is new counts, and the collector passes over what is frozen.
    gc.freeze()
    scene = opened(made(tmp_path, crowd(3)))
    assert len(kept()) == 2
    scene.zones.forget(scene.zone)
    assert kept() == []


def test_a_spawn_is_known_by_its_placement(path: Path) -> None:
    scene = opened(path)
    (sign,) = (spawn for spawn in scene.zone if spawn.kind is SpawnKind.SIGN)
    standing = scene.zones.standing_of(scene.zone, sign)
    assert standing is not None
    assert (standing.placement.id, standing.template.id) == (15, 90003)
    scene.zones.despawn(scene.zone, sign)
    assert scene.zones.standing_of(scene.zone, sign) is None


def test_a_spawn_that_no_client_can_be_shown_is_left_out_and_reported(tmp_path: Path) -> None:
    tables = crowd(1)
    tables["spawn"] = [{"id": 90001, "name": "a rat\nwith a second line"}]
    scene = opened(made(tmp_path, tables))
    assert scene.names() == []
    assert len(scene.lines) == 1
    assert "1 spawns cannot be shown" in scene.lines[0]


class Heard:
    """A listener that notes what it hears."""

    def __init__(self) -> None:
        self.log: list[str] = []

    def zone_starts(self, zone: Zone) -> None:
        self.log.append(f"starts {zone.zone_id}")

    def zone_is_read(self, _zone: Zone, script: str) -> None:
        self.log.append(f"read {script}")

    def zone_is_ready(self, _zone: Zone) -> None:
        self.log.append("ready")

    def prepared(self, zone: Zone, spawn: Spawn, _standing: Standing) -> None:
        assert zone.spawn(spawn.id) is None
        self.log.append("prepared")

    def appeared(
        self, zone: Zone, spawn: Spawn, _standing: Standing, *, is_back: bool = False
    ) -> None:
        assert zone.spawn(spawn.id) is spawn
        self.log.append("back" if is_back else "new")

    def vanished(self, _zone: Zone, _spawn: Spawn) -> None:
        self.log.append("vanished")

    def ended(self, _zone: Zone) -> None:
        self.log.append("ended")


def test_a_listener_hears_of_zones_and_spawns_in_order(path: Path) -> None:
    scene = Scene(path)
    heard = scene.zones.listener = Heard()
    scene.zones.settle(scene.zone)
    assert heard.log == ["starts 9"]
    scene.read()
    scene.run(1.0)
    assert heard.log == ["starts 9", "read ", *["prepared", "new"] * 3, "ready"]
    heard.log.clear()
    (spawn, *_) = [one for one in scene.zone if one.kind is SpawnKind.NPC]
    scene.zones.despawn(scene.zone, spawn)
    assert heard.log == ["vanished"]
    scene.run(10_000.0)
    assert heard.log[1:3] == ["prepared", "back"]
    scene.zones.forget(scene.zone)
    assert heard.log[-1] == "ended"


def test_a_spawn_beyond_a_full_zone_is_gone_for_listeners_too(path: Path) -> None:
    scene = Scene(path)
    scene.zone.rules = ZoneRules(spawn_limit=1)
    heard = scene.zones.listener = Heard()
    scene.zones.settle(scene.zone)
    scene.read()
    scene.run(1.0)
    assert heard.log[-5:] == ["prepared", "new", "prepared", "vanished", "ready"]


def test_what_is_made_besides_goes_for_good(path: Path) -> None:
    scene = opened(path)
    population = scene.zones.population(scene.zone)
    assert population is not None
    standing = next(iter(population))
    count = len(scene.zone)
    spawn = scene.zones.put_spawn(scene.zone, standing)
    other = scene.zones.put_spawn(
        scene.zone, standing._replace(expires=Monotonic(scene.seconds + 20))
    )
    assert spawn is not None
    assert other is not None
    assert len(scene.zone) == count + 2
    assert scene.zones.standing(scene.zone) == count
    scene.run(30.0)
    assert scene.zone.spawn(other.id) is None
    scene.zones.despawn(scene.zone, spawn)
    assert len(scene.zone) == count
    scene.run(10_000.0)
    assert len(scene.zone) == count


def test_a_zone_holds_so_many_that_are_made(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emu.world.population.served.MOST_EXTRAS", 2)
    scene = opened(path)
    population = scene.zones.population(scene.zone)
    assert population is not None
    standing = next(iter(population))
    made = [scene.zones.put_spawn(scene.zone, standing) for _ in range(3)]
    assert [one is None for one in made] == [False, False, True]
    unknown = standing._replace(template=replace(standing.template, id=99))
    scene.zones.despawn(scene.zone, next(one for one in made if one is not None))
    assert scene.zones.put_spawn(scene.zone, unknown) is None
    scene.zones.forget(scene.zone)
    assert scene.zones.put_spawn(scene.zone, standing) is None
    assert scene.zones.population(scene.zone) is None


class Slow(Heard):
    """A listener that takes long for each spawn."""

    def __init__(self, scene: Scene) -> None:
        super().__init__()
        self._scene = scene

    def prepared(self, zone: Zone, spawn: Spawn, standing: Standing) -> None:
        super().prepared(zone, spawn, standing)
        self._scene.seconds += 0.02


def test_a_turn_ends_when_its_spawns_take_long(path: Path) -> None:
    scene = Scene(path)
    scene.zones.listener = Slow(scene)
    scene.zones.settle(scene.zone)
    scene.read()
    for count in (1, 2, 3):
        scene.seconds += 1.0
        scene.timetable.handle_timer(scene.now())
        assert len(scene.zone) == count


def test_what_cannot_have_changed_is_not_read_again(path: Path) -> None:
    with ContentFile(path) as file:
        old = served_zone(file, 9)
    with ContentFile(path) as file:
        assert served_zone(file, 9, old=old) is old
        again = served_zone(file, 9, ZoneLayer((Edit("placement", 11, "x", 5.0),)), (), old)
    assert again is not None
    assert old is not None
    assert again.content.placements != old.content.placements
    assert all(again.templates[one] is old.templates[one] for one in old.templates)


def test_another_file_is_read_and_its_changed_templates_are_made_anew(path: Path) -> None:
    with ContentFile(path) as file:
        old = served_zone(file, 9)
        assert old is not None
        number, other = sorted(old.templates)[:2]
        # As after an import that has exchanged the file.
        file.stamp = (0,)
        same = served_zone(file, 9, old=old)
        edits = [Edit("spawn", number, "name", "somebody else")]
        changed = served_zone(file, 9, NO_LAYER, edits, old)
    assert same is not old
    assert same is not None
    assert same.content == old.content
    assert changed is not None
    assert changed.templates[number].name == "somebody else"
    assert changed.templates[other] is old.templates[other]


def test_the_death_of_what_the_file_does_not_have_is_not_kept(path: Path) -> None:
    scene = opened(path)
    pet = Spawn(10**9, SpawnKind.NPC, "a pet", Position(0.0, 0.0, 0.0))
    scene.zones.died(scene.zone, pet)
    scene.run(60.0)
    assert scene.dead.rows == {}
    guard = next(spawn for spawn in scene.zone if spawn.name in ("a guard", "a captain"))
    scene.zones.died(scene.zone, guard)
    scene.run(60.0)
    assert len(scene.dead.rows) == 1
