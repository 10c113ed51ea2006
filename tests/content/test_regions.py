"""Regions in content files: stored, kept, copied and read."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from emu.content.file import ContentFile
from emu.content.importing import import_content
from emu.content.regions import region_counts, regions_of
from emu.content.sources import dump_parts
from emu.errors import FileFormatError
from emu.ground.importing import MapsReport, RegionSource
from emu.ground.map_names import MapName
from emu.ground.regions import Substance, ZoneRegions
from tests.support.content.dumps import meadow, write_dumps
from tests.support.ground.region_bytes import LAVA, pool

POND = pool((0, -1, 0), (4, 1, 4), file="pond_l0.region")
LAKE = pool((24, -1, 0), (28, 1, 4), kind=1, special=LAVA, file="lava.region")
FOUND = {
    MapName("meadow"): RegionSource("d1", [POND, LAKE]),
    MapName("meadow", 1, 546): RegionSource("d2", [LAKE]),
    MapName("antonica"): RegionSource("d3", []),
}


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "content.sqlite"


def fill(target: Path, maps: MapsReport | None) -> None:
    folder = target.parent / "dumps"
    if not folder.exists():
        write_dumps(folder, meadow())
    import_content(dump_parts([folder]), target, maps=maps)


def digest(target: Path) -> str:
    with ContentFile(target) as file:
        return file.digest()


def test_regions_are_read_as_they_were_found(target: Path) -> None:
    fill(target, MapsReport(regions=FOUND))
    assert region_counts(target) == {
        MapName("antonica"): 0, MapName("meadow"): 2, MapName("meadow", 1, 546): 1,
    }  # fmt: skip
    found = regions_of(target, "Meadow")
    assert set(found) == {MapName("meadow"), MapName("meadow", 1, 546)}
    pond, lake = found[MapName("meadow")]
    for one, other in ((pond, POND), (lake, LAKE)):
        for name in ("number", "kind", "place", "radius", "environment", "file", "grid"):
            assert getattr(one, name) == getattr(other, name)
        assert one.nodes == other.nodes
    assert ZoneRegions(found[MapName("meadow")]).at((25, 0, 1)) == [(lake, Substance.LAVA)]
    assert regions_of(target, "antonica") == regions_of(target, "forest") == {}


def test_an_import_without_maps_keeps_the_regions(target: Path) -> None:
    fill(target, MapsReport(regions=FOUND))
    fill(target, None)
    assert region_counts(target)[MapName("meadow")] == 2


def test_an_import_with_maps_replaces_all_but_those_of_unusable_files(target: Path) -> None:
    fill(target, MapsReport(regions=FOUND))
    fill(target, MapsReport(unread_regions={MapName("meadow"), MapName("forest")}))
    assert region_counts(target) == {MapName("meadow"): 2}


def test_the_digest_changes_with_the_regions(target: Path) -> None:
    """Nodes of a cluster compare it."""
    fill(target, None)
    without = digest(target)
    fill(target, MapsReport(regions=FOUND))
    assert digest(target) != without
    fill(target, None)
    assert digest(target) != without


def test_a_damaged_tree_is_named(target: Path) -> None:
    fill(target, MapsReport(regions=FOUND))
    with closing(sqlite3.connect(target)) as database:
        database.execute("UPDATE regions SET nodes = substr(nodes, 2)")
        database.commit()
    with pytest.raises(FileFormatError, match="table regions, meadow: the nodes of a region are"):
        regions_of(target, "meadow")


def test_a_file_without_the_tables_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    path.write_bytes(b"")
    with pytest.raises(FileFormatError, match="its regions cannot be read"):
        region_counts(path)
