"""The public files of emagi/eq2emu-maps, parsed whole. Counts: docs/protocol/maps.md#map-faults.

The repository is GPL, so nothing of it is here. `EMU_MAPS` names a folder with its files. Some
copies lack the files of more than 4 MiB; the counts are those of the others, at commit 65f2c95.
"""

import io
import os
from collections import Counter
from pathlib import Path

import pytest

from emu.ground.map_files import MapReader
from emu.ground.map_names import check_path, read_name
from emu.ground.mesh_building import build_paths
from emu.ground.mesh_files import read_mesh
from emu.ground.region_files import read_regions
from emu.ground.source_bytes import SourceBytes

FOLDER = Path(os.environ.get("EMU_MAPS", "/nowhere"))
LARGE = 4 << 20
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="EMU_MAPS names no folder of public maps"),
]


def files(place: str, ending: str) -> list[Path]:
    found = sorted((FOLDER / place).glob(f"*{ending}"))
    return [path for path in found if path.stat().st_size <= LARGE]


def test_every_map_is_parsed_to_its_last_byte() -> None:
    sizes, empty = [], []
    most_groups = 0
    versions: Counter[int] = Counter()
    for path in files("Maps", ".EQ2MapDeflated"):
        with path.open("rb") as stream:
            reader = MapReader(stream)
            groups = [group.triangles for group in reader.groups()]
        check_path(read_name(path.stem.removesuffix(".bkp")), reader.path)
        versions[reader.version] += 1
        sizes.append(sum(groups))
        most_groups = max(most_groups, len(groups))
        if not sizes[-1]:
            empty.append(path.stem)
    assert len(sizes) == 412
    assert sum(sizes) == 57_263_605
    assert max(sizes) == 536_549
    assert most_groups == 1547
    assert empty == ["live_epic_mystic", "live_epic_mystic_horde", "live_epic_mystic_odus"]
    assert versions == {2: 3, 3: 409}


def test_every_region_file_is_parsed_to_its_last_byte() -> None:
    kinds: Counter[int] = Counter()
    counts, nodes = [], 0
    for path in files("Regions", ".EQ2Region"):
        with path.open("rb") as stream:
            found = read_regions(SourceBytes(stream.read))
        check_path(read_name(path.stem), found.path)
        counts.append(len(found.regions))
        for region in found.regions:
            kinds[region.kind] += 1
            nodes += len(region.nodes)
    assert (len(counts), sum(counts), nodes) == (518, 1711, 188_302)
    assert (counts.count(0), max(counts)) == (247, 57)
    assert kinds == {0: 1104, 1: 534, 3: 23, 4: 41, 5: 9}


def test_every_mesh_is_parsed_to_its_last_byte_and_joined() -> None:
    polygons, tiles, largest = [], [], {}
    for path in files("Maps/nav", ".nav"):
        with path.open("rb") as stream:
            mesh = read_mesh(SourceBytes(stream.read))
        built = build_paths(mesh, bytes(32), io.BytesIO())
        polygons.append(built.polygons)
        tiles.append(built.tiles)
        largest[path.stem] = built.components, round(100 * built.largest / built.polygons)
    assert (len(tiles), sum(tiles), sum(polygons)) == (106, 17_561, 344_343)
    assert (sorted(polygons)[53], max(polygons), tiles.count(1)) == (1853, 19_895, 88)
    assert largest["tutorial_island02"] == (137, 63)
    assert largest["runnyeye"] == (365, 41)
    assert largest["qey_north"] == (2379, 13)
