"""`emu content import --maps` and `emu content maps`."""

import builtins
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.content.dumps import meadow, write_dumps
from tests.support.ground.map_bytes import Part
from tests.support.ground.map_folders import FLOOR, write_map, write_maps
from tests.support.running.command_line import CommandLine


@pytest.fixture
def dumps(tmp_path: Path) -> str:
    return str(write_dumps(tmp_path / "dumps", meadow()))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_maps(tmp_path / "eq2emu-maps", "exp01_meadow")


@pytest.fixture
def emu(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


@pytest.fixture
def filled(emu: CommandLine, dumps: str, source: Path) -> CommandLine:
    emu.good("content", "import", dumps, "--maps", str(source))
    return emu


def folder(emu: CommandLine) -> Path:
    return emu.database.with_name("content.maps")


def show(emu: CommandLine, *words: str) -> Any:
    return json.loads(emu.good("content", "maps", *words, "--json").stdout)


def test_an_import_makes_files_beside_the_content_file(
    emu: CommandLine, dumps: str, source: Path
) -> None:
    result = emu.good("content", "import", dumps, "--maps", str(source))
    assert (
        "2 ground and path files made, 0 unchanged, 1 outline made, 4 triangles read, 2 regions"
        in result.stderr
    )
    assert "0 %: exp01_meadow" in result.stderr, "the progress names files"
    assert sorted(path.name for path in folder(emu).iterdir()) == [
        "exp01_meadow.ground",
        "exp01_meadow.outline",
        "exp01_meadow.paths",
    ]
    again = emu.good("content", "import", dumps, "--maps", str(source))
    assert "0 ground and path files made, 2 unchanged, 2 regions" in again.stderr


def test_a_bad_map_is_named_and_the_exit_code_is_1(
    emu: CommandLine, dumps: str, source: Path
) -> None:
    bad = source / "Maps" / "forest.EQ2MapDeflated"
    bad.write_bytes(b"no map")
    result = emu.run("content", "import", dumps, "--maps", str(source))
    assert result.exit_code == 1
    assert f"left out: {bad}: compressed byte 0: is no usable gzip data" in result.stderr
    assert (folder(emu) / "exp01_meadow.ground").exists()
    assert result.stdout == f"{emu.database.with_name('content.sqlite')}\n", "the rest is imported"


def test_without_numpy_the_extra_is_named(
    emu: CommandLine, dumps: str, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "emu.ground.building":
            raise ImportError("No module named 'numpy'", name="numpy")
        return usual(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    line = emu.refused("content", "import", dumps, "--maps", str(source))
    assert line.startswith("--maps needs numpy; install it: ")
    assert "pip install 'numpy" in line
    assert not emu.database.with_name("content.sqlite").exists()


@pytest.mark.slow
def test_a_trial_shows_what_would_change(emu: CommandLine, dumps: str, source: Path) -> None:
    words = ("content", "import", dumps, "--maps", str(source))
    tried = emu.good(*words, "--dry-run")
    new = ("exp01_meadow.ground", "exp01_meadow.paths", "exp01_meadow regions")
    assert [line for line in tried.stderr.splitlines() if line.startswith("new: ")] == [
        f"new: {one}" for one in new
    ]
    assert "maps, meshes and region files: 3 new" in tried.stderr
    assert not folder(emu).exists()
    emu.good(*words)
    before = {one.name: one.stat().st_mtime_ns for one in folder(emu).iterdir()}
    assert "maps, meshes and region files: 3 unchanged" in emu.good(*words, "--dry-run").stderr
    write_map(source, "exp01_meadow", [Part(FLOOR, 6)])
    (source / "Maps" / "nav" / "exp01_meadow.nav").unlink()
    region = source / "Regions" / "exp01_meadow.EQ2Region"
    region.write_bytes(region.read_bytes()[:-9])
    again = emu.good(*words, "--dry-run").stderr
    assert "changed: exp01_meadow.ground" in again
    assert f"left out: {region}: " in again
    region.rename(region.with_name("other.EQ2Region"))
    assert "removed: exp01_meadow regions" in emu.good(*words, "--dry-run").stderr
    assert before == {one.name: one.stat().st_mtime_ns for one in folder(emu).iterdir()}


def test_the_maps_are_listed(filled: CommandLine) -> None:
    (row,) = show(filled, "info")
    assert {name: row[name] for name in ("map", "triangles", "grids", "polygons", "regions")} == {
        "map": "exp01_meadow", "triangles": 4, "grids": 1, "polygons": 17, "regions": 2,
    }  # fmt: skip


def test_region_scripts_are_counted(filled: CommandLine, tmp_path: Path) -> None:
    scripts = tmp_path / "scripts"
    (scripts / "RegionScripts" / "exp01_meadow").mkdir(parents=True)
    (scripts / "RegionScripts" / "exp01_meadow" / "lava.lua").write_text("-- burns\n")
    with filled.config.open("a", encoding="utf-8") as file:
        file.write(f'[world]\nscripts = "{scripts}"\n')
    (row,) = show(filled, "info")
    assert row["scripts"] == 1


def test_the_placements_of_a_zone_are_counted_by_their_ground(
    emu: CommandLine, dumps: str, source: Path
) -> None:
    emu.good("content", "import", dumps, "--maps", str(source))
    record = show(emu, "info", "A Meadow")
    assert record["map"] == "exp01_meadow"
    assert record["lowest"] == 0.0
    assert record["highest"] == 3.0
    counts = [value for name, value in record.items() if name.startswith("placements ")]
    assert len(counts) == 4
    assert sum(counts) > 0


def test_good_files_pass_the_check_and_damaged_ones_do_not(filled: CommandLine) -> None:
    good = filled.good("content", "maps", "check")
    assert good.stdout == "2 files: good\n"
    path = folder(filled) / "exp01_meadow.ground"
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    result = filled.run("content", "maps", "check")
    assert f"{path}: the checksum is wrong" in result.stderr
    assert "1 file damaged; `emu content import --maps` makes them anew" in str(result.exception)


def test_zones_without_a_map_are_named(filled: CommandLine) -> None:
    (folder(filled) / "exp01_meadow.ground").unlink()
    result = filled.good("content", "maps", "check")
    assert "without a map: " in result.stderr
    assert "meadow" in result.stderr


def test_a_height_is_the_server_s_answer(filled: CommandLine) -> None:
    assert show(filled, "height", "exp01_meadow", "2", "-5", "2") == {
        "y": 0.0, "grid": 5, "widget": 0, "polygon": 0, "component": 0, "regions": "",
    }  # fmt: skip
    found = show(filled, "height", "exp01_meadow", "2", "0.5", "2")
    assert found["regions"] == "pond_l0.region (water)"
    assert (
        show(filled, "height", "exp01_meadow", "26", "0.5", "2")["regions"] == "lava.region (lava)"
    )
    assert show(filled, "height", "exp01_meadow", "-90", "0", "2")["y"] is None


def test_a_line_of_sight_is_the_server_s_answer(filled: CommandLine) -> None:
    blocked = show(filled, "sight", "exp01_meadow", "10", "0", "2", "18", "0", "2")
    assert blocked == {"sees": False, "meters": 8.0}
    assert show(filled, "sight", "exp01_meadow", "10", "0", "10", "18", "0", "10")["sees"] is True


def test_a_path_is_the_server_s_answer(filled: CommandLine) -> None:
    result = filled.good(
        "content", "maps", "path", "exp01_meadow", *["10", "0", "2", "22", "0", "2"], "--json"
    )
    assert [(row["x"], row["z"]) for row in json.loads(result.stdout)] == [
        (10.0, 2.0), (12.0, 8.0), (20.0, 8.0), (22.0, 2.0),
    ]  # fmt: skip
    assert "over the mesh, to the goal" in result.stderr


def test_a_zone_is_named_by_its_description_too(filled: CommandLine) -> None:
    with_file = show(filled, "height", "exp01_meadow", "2", "0", "2")
    assert show(filled, "height", "9", "2", "0", "2") == with_file


def test_an_unknown_zone_is_an_error(filled: CommandLine) -> None:
    line = filled.refused("content", "maps", "height", "nowhere", "1", "2", "3")
    assert line == "there is no map of 'nowhere'; `emu content maps info` lists the maps"


def test_a_damaged_map_is_named(filled: CommandLine) -> None:
    os.truncate(folder(filled) / "exp01_meadow.ground", 50)
    result = filled.run("content", "maps", "sight", "exp01_meadow", *["1", "2", "3", "4", "5", "6"])
    assert "exp01_meadow.ground: byte 50: is too short for a ground file" in result.stderr
    assert "there is no usable map of exp01_meadow; `emu content import" in str(result.exception)
    listed = filled.good("content", "maps", "info")
    assert "meadow" in listed.stdout


def test_another_folder_of_maps_can_be_named(filled: CommandLine, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    folder(filled).rename(moved)
    (row,) = show(filled, "info", "--folder", str(moved))
    assert row["triangles"] == 4


def test_a_map_for_some_versions_answers_their_clients(
    emu: CommandLine, dumps: str, source: Path
) -> None:
    write_map(source, "exp01_meadow").rename(source / "Maps" / "exp01_meadow-1-561.EQ2MapDeflated")
    emu.good("content", "import", dumps, "--maps", str(source))
    line = emu.refused("content", "maps", "sight", "exp01_meadow", *["1", "2", "3", "4", "5", "6"])
    assert line.startswith("there is no usable map of exp01_meadow")
    words = (*["10", "0", "2", "18", "0", "2"], "--version", "546")
    assert show(emu, "sight", "exp01_meadow", *words)["sees"] is False
