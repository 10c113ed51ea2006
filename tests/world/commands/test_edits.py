"""Commands that change zones of the content file."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from emu.content.file import ContentFile
from emu.content.importing import import_content
from emu.content.layers import OWN_NUMBERS, stored_value
from emu.content.sources import dump_parts
from emu.world.actors.spawn import Spawn
from emu.world.population.atlas import read_atlas
from emu.world.population.edits import GameEdits
from emu.world.population.reading import NO_LAYER, served_zone
from emu.world.population.served import ContentZones
from emu.world.zones.targets import Targets
from tests.support.content.dumps import meadow, write_dumps
from tests.support.coroutines import finish
from tests.support.world.world_fakes import EditsInMemory
from tests.support.world.worlds import Client, WorldHarness


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("edits")
    target = folder / "content.sqlite"
    import_content(dump_parts([write_dumps(folder / "dumps", meadow())]), target)
    return target


class Scene:
    """A game master in a zone of the content file."""

    def __init__(self, path: Path) -> None:
        self.harness = harness = WorldHarness(atlas=read_atlas(None, path))
        self._path = path
        self.lines: list[str] = []
        self.store = EditsInMemory()
        self.zones = ContentZones(
            self._read, next_id=harness.world.zones.next_spawn_id, randomness=lambda: Random(1),
            hour=lambda: 12, center=lambda _zone: None, now=lambda: harness.now,
            timetable=harness.timetable, start=finish, failed=self.lines.append,
            in_thread=self._run,
        )  # fmt: skip
        self.zones.targets = Targets(lambda: harness.world.players)
        self.edits = self.process("here")
        harness.population.content = self.zones
        harness.command_context.edits = self.edits
        self.client: Client = harness.stand(1, zone_id=9, admin_status=100, name="Aldana")
        self.run()

    def process(self, name: str) -> GameEdits:
        return GameEdits(
            self.store, self.harness.bus, name, self.zones, self._stored,
            start=finish, failed=self.lines.append, choose=lambda count: count - 1,
        )  # fmt: skip

    async def _run(self, call: Callable[[], Any]) -> Any:
        return call()

    async def _read(self, zone_id: int, _old: Any, _is_wanted: Any) -> Any:
        with ContentFile(self._path) as file:
            return served_zone(file, zone_id, NO_LAYER, self.edits.edits)

    async def _stored(self, subject: str, number: int, column: str) -> Any:
        with ContentFile(self._path) as file:
            return stored_value(file, subject, number, column)

    def run(self) -> None:
        for _ in range(8):
            self.harness.run(0.1)

    def types(self, text: str) -> str:
        line = self.client.types(text)[0]
        self.run()
        return line

    def target(self, name: str) -> Spawn:
        spawn = next(one for one in self.client.player.zone if one.name == name)
        self.client.player.set_target(spawn)
        return spawn

    def names(self) -> list[str]:
        return sorted(one.name for one in self.client.player.zone if one.name != "Aldana")

    def rows(self) -> list[tuple[str, int, str, str, str]]:
        return [(*key, row.value, row.old) for key, row in sorted(self.store.rows.items())]


@pytest.fixture
def scene(path: Path) -> Scene:
    return Scene(path)


def test_a_target_is_moved_to_the_game_master(scene: Scene) -> None:
    scene.target("a sign")
    at = scene.client.player.position
    assert scene.types("edit move").startswith("placement 15 is at ")
    assert scene.target("a sign").position.x == pytest.approx(at.x, abs=0.001)
    assert ("placement", 15, "x", str(round(at.x, 3)), "0.0") in scene.rows()
    assert {row.author for row in scene.store.rows.values()} == {"Aldana"}


def test_places_are_stored_to_the_millimetre_with_the_heading(scene: Scene) -> None:
    scene.target("a sign")
    spawn = scene.client.player.spawn
    spawn.move(spawn.position._replace(x=1.23456, y=-7.0004, z=2.34567, heading=90.12345))
    place = {"x": "1.235", "y": "-7.0", "z": "2.346", "heading": "90.123"}
    assert scene.types("edit move") == "placement 15 is at 1.235, -7, 2.346"
    moved = {name: value for _, number, name, value, _ in scene.rows() if number == 15}
    assert {name: moved[name] for name in place} == place
    scene.types("edit add 90003")
    added = {name: value for _, number, name, value, _ in scene.rows() if number >= OWN_NUMBERS}
    assert {name: added[name] for name in place} == place
    assert (added["zone"], added["respawn"]) == ("9", "300")


def test_a_target_says_where_it_comes_from(scene: Scene) -> None:
    scene.target("a sign")
    assert scene.client.types("edit show") == [
        "spawn 90003 (signs), placement 15, location 5", "entry 25 of weight 100", "script: none",
        "it returns after 300 s",
    ]  # fmt: skip
    place = next(one for one in scene.client.player.zone if one.name in ("a guard", "a captain"))
    scene.client.player.set_target(place)
    assert "script: SpawnScripts/meadow/" in scene.client.types("edit show")[2]
    scene.client.player.set_target(None)
    assert scene.types("edit show") == "target a spawn of the content file"


def test_a_muted_game_master_reads_edits_and_makes_none(scene: Scene) -> None:
    """docs/guides/operating.md: a muted player cannot use a command that shows text to others."""
    scene.target("a sign")
    scene.harness.console("mute Aldana 10")
    for line in ("edit move", "edit remove", "edit add 90003", "edit set name a post"):
        assert scene.types(line) == "you are muted", line
    assert scene.types("edit show").startswith("spawn 90003 (signs), placement 15")
    assert scene.rows() == []


def test_a_target_is_removed_and_brought_back(scene: Scene) -> None:
    scene.target("a sign")
    assert scene.types("edit remove") == ("placement 15 is removed; `edit undo 15` brings it back")
    assert "a sign" not in scene.names()
    assert scene.rows() == [("placement", 15, "removed", "true", "false")]
    assert scene.types("edit undo 15") == "1 edit of placement 15 removed"
    assert "a sign" in scene.names()
    assert scene.types("edit undo 15") == "15 has no edits"


def test_values_of_the_placement_and_of_the_spawn_are_set(scene: Scene) -> None:
    scene.target("a sign")
    assert scene.types("edit set name a milestone") == "spawn 90003: name is a milestone"
    scene.target("a milestone")
    assert scene.types("edit set respawn 60") == "placement 15: respawn is 60"
    assert scene.rows() == [
        ("placement", 15, "respawn", "60", "300"),
        ("spawn", 90003, "name", '"a milestone"', '"a sign"'),
    ]
    scene.target("a milestone")
    assert scene.types("edit set respawn soon") == "respawn: must be a number"
    assert scene.types("edit set race 900").startswith("race: must be a whole number from 0")
    assert scene.types("edit set respwan 5").endswith("did you mean respawn?")


def test_a_target_stays_one_over_edits(scene: Scene) -> None:
    player, before = scene.client.player, scene.target("a sign")
    other = scene.harness.stand(2, zone_id=9, name="Borvik")
    scene.run()
    # Two edits at once: the second comes before the spawn of the first stands there.
    scene.client.types("edit set name a milestone")
    assert scene.types("edit set respawn 60") == "placement 15: respawn is 60"
    assert scene.types("edit move").startswith("placement 15 is at ")
    assert player.target is not None
    assert player.target is not before
    assert player.target.name == "a milestone"
    assert player.target.position[:3] == pytest.approx(player.position[:3], abs=0.001)
    shown = scene.client.decoded("WS_ServerUpdateTarget")[-1]
    assert shown["spawn_id"] == player.index_of(player.target)
    assert other.player is not None
    assert other.player.target is None
    assert other.decoded("WS_ServerUpdateTarget") == []


def test_a_target_that_the_client_lost_in_between_is_aimed_at_again(scene: Scene) -> None:
    player = scene.client.player
    scene.target("a sign")
    scene.client.types("edit set name a milestone")
    player.set_target(None)
    scene.run()
    assert player.target is not None
    assert player.target.name == "a milestone"


def test_a_place_is_added_and_kept_by_another_start(scene: Scene, path: Path) -> None:
    before = len(scene.names())
    assert scene.types("edit add 90003").endswith(" here")
    assert min(number for _, number, _ in scene.store.rows) >= OWN_NUMBERS
    assert len(scene.names()) == before + 1
    # Another run of the server reads the same database.
    again = Scene(path)
    again.store.rows = scene.store.rows
    again.edits.start()
    again.run()
    assert len(again.names()) == before + 1


def test_edits_of_another_process_arrive(scene: Scene) -> None:
    other = scene.process("there")
    finish(other.change("placement", 15, {"removed": True}, "Borvik", scene.harness.moment))
    scene.run()
    assert [one.number for one in scene.edits.edits] == [15]
    assert "a sign" not in scene.names()


def test_despawn_is_no_edit(scene: Scene) -> None:
    scene.target("a sign")
    assert scene.types("despawn") == (
        "a sign is gone until it respawns; `edit remove` removes it for good"
    )
    assert "a sign" not in scene.names()
    assert scene.rows() == []


def test_only_spawns_of_the_content_file_are_edited(scene: Scene) -> None:
    assert scene.types("edit move") == "target a spawn of the content file"
    scene.types("spawn 'a rat'")
    scene.target("a rat")
    assert scene.types("edit remove") == "target a spawn of the content file"
    scene.harness.command_context.edits = None
    scene.target("a sign")
    assert scene.types("edit remove").startswith("this world has no content file")
