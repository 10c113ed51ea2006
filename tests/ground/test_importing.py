"""Folders of maps imported: made, unchanged, refused, interrupted."""

import builtins
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest

from emu.errors import FileFormatError
from emu.ground import importing, source_bytes
from emu.ground.ground_map import GroundMap
from emu.ground.importing import GROUND, import_maps, plan_maps
from emu.ground.map_names import MapName
from emu.ground.path_mesh import PathMesh
from tests.support.ground.map_bytes import Part, net_string, square
from tests.support.ground.map_folders import write_map, write_maps


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_maps(tmp_path / "eq2emu-maps")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "content.maps"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_map_a_mesh_and_regions_are_imported(source: Path, target: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    report = import_maps(source, target, lambda *step: seen.append(step))
    assert (report.made, report.unchanged, report.faults) == (2, 0, [])
    assert (report.triangles, report.kept, report.polygons) == (4, 4, 17)
    assert names(target) == ["meadow.ground", "meadow.outline", "meadow.paths"]
    assert [name for _, _, name in seen] == [
        "meadow.EQ2MapDeflated", "meadow.nav", "meadow.EQ2Region",
    ]  # fmt: skip
    assert seen[0][0] == 0 < seen[1][0] < seen[2][0] < seen[2][1]
    (regions,) = report.regions.values()
    assert [one.file for one in regions.regions] == ["pond_l0.region", "lava.region"]
    GroundMap(target / "meadow.ground").check()
    PathMesh(target / "meadow.paths").check()


def test_unchanged_files_are_not_made_again(source: Path, target: Path) -> None:
    import_maps(source, target)
    before = [path.stat().st_mtime_ns for path in sorted(target.iterdir())]
    report = import_maps(source, target)
    assert (report.made, report.unchanged, len(report.regions)) == (0, 2, 1)
    assert [path.stat().st_mtime_ns for path in sorted(target.iterdir())] == before


def test_an_outline_that_is_missing_or_damaged_is_made_of_the_ground_file(
    source: Path, target: Path
) -> None:
    assert import_maps(source, target).outlines == 1
    outline = target / "meadow.outline"
    good = outline.read_bytes()
    assert import_maps(source, target).outlines == 0
    outline.unlink()
    plan = [one for one in plan_maps(source, target, {}) if one.name == outline.name]
    assert [one.change for one in plan] == ["new"]
    report = import_maps(source, target)
    assert (report.made, report.unchanged, report.outlines) == (0, 2, 1)
    assert outline.read_bytes() == good
    os.truncate(outline, 40)
    plan = [one for one in plan_maps(source, target, {}) if one.name == outline.name]
    assert [one.change for one in plan] == ["changed"]
    assert import_maps(source, target).outlines == 1
    write_map(source, "meadow", [Part(square((0, 0, 0), (9, 0, 9)))])
    assert import_maps(source, target).outlines == 1
    assert outline.read_bytes() != good


def test_a_changed_or_damaged_file_is_made_again(source: Path, target: Path) -> None:
    import_maps(source, target)
    os.truncate(target / "meadow.ground", 100)
    (source / "Maps" / "nav" / "meadow.nav").write_bytes(
        b"TESM" + struct.pack("<ii", 1, 0) + bytes(28)
    )
    assert import_maps(source, target).made == 2
    GroundMap(target / "meadow.ground").check()
    assert PathMesh(target / "meadow.paths").polygons == 0


def test_what_was_made_in_another_way_is_made_again(
    source: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_maps(source, target)
    monkeypatch.setitem(importing._MAKINGS, GROUND, 99)
    assert import_maps(source, target).made == 1


def test_ranges_of_versions_are_kept_in_names(source: Path, target: Path) -> None:
    write_map(source, "meadow").rename(source / "Maps" / "Meadow-1-561.EQ2MapDeflated")
    import_maps(source, target)
    assert "meadow-1-561.ground" in names(target)


def test_copies_that_match_no_zone_are_not_read(source: Path, target: Path) -> None:
    """As tutorial_island02.bkp of the public folder."""
    (source / "Maps" / "meadow.bkp.EQ2MapDeflated").write_bytes(b"nothing")
    assert import_maps(source, target).faults == []


BOMB = zlib.compressobj(9, wbits=31)
COUNT = 1 << 18
ZEROS = struct.pack("<4fIII", 0, 0, 0, 0, 1, 5, 3 * COUNT) + bytes(36 * COUNT)
BOMB_BYTES = BOMB.compress(net_string("meadow") + ZEROS) + BOMB.flush()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "compressed byte 0: the gzip data is cut off"),
        (b"PK\x03\x04", "no usable gzip data"),
        (BOMB_BYTES, "inflates to more than"),
    ],
)
def test_a_bad_map_is_named_and_skipped(
    source: Path,
    target: Path,
    data: bytes,
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source_bytes, "FREE_INFLATED", 100_000)
    import_maps(source, target)
    good = (target / "meadow.ground").read_bytes()
    (source / "Maps" / "meadow.EQ2MapDeflated").write_bytes(data)
    report = import_maps(source, target)
    (fault,) = report.faults
    assert fault.startswith(f"{source / 'Maps' / 'meadow.EQ2MapDeflated'}: ")
    assert reason in fault
    assert (target / "meadow.ground").read_bytes() == good, "the file before stays"
    assert names(target) == ["meadow.ground", "meadow.outline", "meadow.paths"]
    assert report.unchanged == 1, "the others are imported"


def test_a_map_of_another_zone_is_refused(source: Path, target: Path) -> None:
    write_map(source, "meadow", made_from="D:/zones/antonica/antonica.vdl")
    (fault,) = import_maps(source, target).faults
    assert "byte 0: was made from 'D:/zones/antonica/antonica.vdl', not from" in fault


def test_bad_meshes_and_regions_are_named(source: Path, target: Path) -> None:
    (source / "Maps" / "nav" / "meadow.nav").write_bytes(b"TESM")
    (source / "Regions" / "meadow.EQ2Region").write_bytes(b"\x06meadow")
    report = import_maps(source, target)
    assert [fault.partition(": ")[2] for fault in report.faults] == [
        "byte 4: the file ends within the version", "byte 7: the file ends within the version",
    ]  # fmt: skip
    assert report.unread_regions == {MapName("meadow")}


def test_a_file_that_cannot_be_read_is_named(source: Path, target: Path) -> None:
    path = source / "Maps" / "nav" / "meadow.nav"
    path.unlink()
    path.symlink_to("/proc/self/mem")
    (fault,) = import_maps(source, target).faults
    assert fault.startswith(f"{path}: ")


def test_two_names_that_differ_in_case_only_are_refused(source: Path, target: Path) -> None:
    write_map(source, "Meadow")
    (fault,) = import_maps(source, target).faults
    assert "same name in other letters" in fault


def test_an_interrupted_import_keeps_the_files_before(
    source: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_maps(source, target)
    good = (target / "meadow.ground").read_bytes()
    write_map(source, "meadow", [])
    write_map(source, "meadow", made_from="zones/meadow/other.vdl")

    def interrupted(_path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(importing, "flush", interrupted)
    with pytest.raises(KeyboardInterrupt):
        import_maps(source, target)
    assert (target / "meadow.ground").read_bytes() == good
    assert names(target) == ["meadow.ground", "meadow.outline", "meadow.paths"]


def test_a_folder_without_maps_is_refused(tmp_path: Path, target: Path) -> None:
    with pytest.raises(FileFormatError, match="name the folder with Maps and Regions"):
        import_maps(tmp_path, target)
    assert not target.exists()


def test_a_target_that_cannot_be_made_is_named(source: Path, target: Path) -> None:
    target.write_bytes(b"")
    with pytest.raises(FileFormatError, match="cannot be made"):
        import_maps(source, target)


def test_without_numpy_the_error_is_its_absence(
    source: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "emu.ground.building":
            raise ImportError("No module named 'numpy'", name="numpy")
        return usual(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="numpy"):
        import_maps(source, target)
    assert not target.exists()
