"""Maps of running zones: what stands where, what is empty, and whose script has failed."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from emu.errors import ScriptError
from emu.ground.importing import import_maps
from emu.ground.map_folder import MapFolder
from emu.world.subjects.zone_maps import KINDS
from tests.support.ground.images import image_rows
from tests.support.ground.map_folders import write_maps
from tests.support.world.script_scenes import ScriptScene
from tests.support.world.worlds import HarnessContent, WorldHarness
from tests.world.commands.test_edits import Scene, path

__all__ = ["path"]


@pytest.fixture
def scene(path: Path) -> Scene:
    made = Scene(path)
    made.run()
    return made


def test_a_map_has_the_spawns_and_the_empty_places(scene: Scene) -> None:
    found = scene.harness.console("zonemap show meadow").data
    assert (found["zone"], found["zone_id"], found["instance"]) == ("A Meadow", 9, 0)
    rows = {row[5]: row for row in found["spawns"]}
    assert "Aldana" not in rows
    sign = rows["a sign"]
    assert found["kinds"][sign[1]] == "sign"
    assert found["kinds"] == [kind.value for kind in KINDS]
    assert sign[2:5] == [0.0, 0.0, 0.0]
    assert sign[7] == 0
    guards = [row for row in found["spawns"] if row[2:5] == [10.2, 3.0, -1.5]]
    assert len(guards) == 1
    # Location 2 has no entry, and of the groups of locations 3 and 4 only one stands.
    assert {11, 15} & {one[0] for one in found["empty"]} == set()
    assert found["empty_total"] == len(found["empty"]) == 1
    assert found["total"] == 3


def test_the_lines_count_the_kinds(scene: Scene) -> None:
    assert scene.harness.console("zonemap show 9").lines == ("npc: 2", "sign: 1", "1 empty place")


def test_a_spawn_says_where_it_comes_from(scene: Scene) -> None:
    sign = scene.target("a sign")
    found = scene.harness.console(f"zonemap spawn meadow 0 {sign.id}").data
    assert (found["name"], found["kind"], found["spawn"]) == ("a sign", "sign", 90003)
    assert (found["placement"], found["location"], found["entry"]) == (15, 5, 25)
    assert (found["weight"], found["respawn"], found["script"]) == (100, 300, "")
    assert found["errors"] == []
    lines = scene.harness.console(f"zonemap spawn meadow 0 {sign.id}").lines
    assert "placement: 15" in lines


def test_an_empty_place_says_why(scene: Scene) -> None:
    ((number, *_),) = scene.harness.console("zonemap show meadow").data["empty"]
    found = scene.harness.console(f"zonemap place meadow 0 {number}").data
    assert number in (13, 14)
    assert "stands instead of its group" in found["reasons"][0]
    assert (found["standing"], len(found["entries"])) == ("", 1)
    full = scene.harness.console("zonemap place meadow 0 15").data
    assert (full["standing"], full["reasons"]) == ("a sign", [])
    assert full["entries"][0]["name"] == "a sign"


def test_the_errors_of_an_empty_place_are_those_of_its_entries(scene: Scene) -> None:
    script = "SpawnScripts/meadow/guard.lua"
    for file in (script, "SpawnScripts/meadow/other.lua"):
        scene.harness.minds.errors.count_error(
            ScriptError(file, 3, "no"), "hailed", "a guard", file
        )
    found = scene.harness.console("zonemap place meadow 0 11").data
    assert [one["file"] for one in found["errors"]] == [script]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("zonemap show nowhere", "there is no zone nowhere"),
        ("zonemap show meadow 7", "A Meadow does not run here"),
        ("zonemap spawn meadow 0 99999", "there is no spawn 99999 in A Meadow now"),
        ("zonemap place meadow 0 12345", "there is no placement 12345 in A Meadow"),
    ],
)
def test_what_is_not_there_is_refused(scene: Scene, line: str, text: str) -> None:
    reply = scene.harness.console(line)
    assert not reply.ok
    assert text in reply.text


def test_a_zone_without_a_content_file_has_a_map(harness: WorldHarness) -> None:
    client = harness.stand(5, name="Aldana")
    zone = client.player.zone
    found = harness.console(f"zonemap show {zone.zone_id}").data
    assert (found["empty"], found["errors"]) == ([], [])
    assert found["total"] == len([one for one in zone if one.kind.value != "player"])
    assert not harness.console(f"zonemap place {zone.zone_id} 0 1").ok


def test_a_zone_with_a_map_has_its_ground_from_above(tmp_path: Path) -> None:
    harness = WorldHarness(content=HarnessContent(maps=lambda: MapFolder(tmp_path / "maps")))
    zone = harness.stand(5, name="Aldana").player.zone
    import_maps(write_maps(tmp_path / "source", zone.definition.file), tmp_path / "maps")
    reply = harness.console(f"zonemap outline {zone.zone_id}")
    assert reply.lines == ("57 x 25 cells of 0.50 m from x 0.0 and z 0.0 on",)
    found = reply.data
    rows = image_rows(base64.b64decode(found.pop("image")))
    assert found == {"x": 0.0, "z": 0.0, "cell": 0.5, "columns": 57, "rows": 25}
    assert (len(rows), len(rows[0])) == (25, 57)


def test_a_zone_without_a_map_has_no_outline(harness: WorldHarness) -> None:
    zone = harness.stand(5, name="Aldana").player.zone
    reply = harness.console(f"zonemap outline {zone.zone_id}")
    assert (reply.ok, reply.data) == (True, None)
    assert "an import of the zone's map makes it" in reply.text


def test_spawns_whose_script_or_behavior_has_failed_are_marked(tmp_path: Path) -> None:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    scene = ScriptScene(tmp_path)
    wrong = "function hailed(NPC, Spawn)\nSay(NPC, 1 + nil)\nend"
    bad, good = scene.spawn(wrong, "Bad"), scene.spawn("function hailed() end", "Good")
    other = scene.spawn(None, "Mimic", 71)
    scene.hail(bad)
    errors = scene.harness.minds.errors
    errors.count_error(ScriptError("x.py", 1, "no"), "hailed", "Mimic", "x", is_behavior=True)
    errors.count_error(ScriptError("elsewhere.lua", 1, "no"), "hailed", "Good", "elsewhere.lua")
    zone = scene.zone.zone_id
    found = scene.harness.console(f"zonemap show {zone}").data
    marked = {row[0] for row in found["spawns"] if row[7]}
    assert bad.id in marked
    assert other.id in marked
    assert good.id not in marked
    assert {"Bad.lua", "x.py"} <= {one["file"] for one in found["errors"]}
    assert "elsewhere.lua" not in {one["file"] for one in found["errors"]}
    shown = scene.harness.console(f"zonemap spawn {zone} 0 {bad.id}").data
    assert (shown["script"], shown["placement"]) == ("Bad.lua", None)
    assert [one["line"] for one in shown["errors"]] == [2]
    assert scene.harness.console(f"zonemap spawn {zone} 0 {good.id}").data["errors"] == []


def test_a_spawn_that_walks_has_its_round_and_its_way(tmp_path: Path) -> None:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    scene = ScriptScene(tmp_path)
    walker = scene.spawn(
        "function spawn(NPC)\nMovementLoopAddLocation(NPC, 1, -8, 240, 2, 60)\n"
        "MovementLoopAddLocation(NPC, 9, -8, 240, 2, 60)\nend"
    )
    runner = scene.spawn(
        "function spawn(NPC)\nMoveToLocation(NPC, 500, -8, 243, 2)\nend", "Runner", 71
    )
    zone = scene.zone.zone_id
    found = scene.harness.console(f"zonemap spawn {zone} 0 {walker.id}").data
    assert (found["round"], found["way"]) == ([[1.0, 240.0], [9.0, 240.0]], [])
    found = scene.harness.console(f"zonemap spawn {zone} 0 {runner.id}").data
    assert (found["round"], found["way"]) == ([], [[500.0, 243.0]])


def test_an_error_of_the_zone_script_is_listed(tmp_path: Path) -> None:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    scene = ScriptScene(tmp_path)
    scene.zone_script("function init_zone_script(Zone)\nZone()\nend")
    found = scene.harness.console(f"zonemap show {scene.zone.zone_id}").data
    (error,) = found["errors"]
    assert error["event"] == "init_zone_script"
    assert not any(row[7] for row in found["spawns"])
