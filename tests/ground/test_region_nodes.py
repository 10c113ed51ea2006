"""Nodes of regions: stored, read back, and refused if they are no tree."""

import pytest

from emu.errors import FileFormatError
from emu.ground.region_nodes import unpack_nodes
from emu.ground.regions import Region
from tests.support.ground.region_bytes import pool


def test_nodes_are_unpacked_as_they_were_packed() -> None:
    region = pool((0, 0, 0), (8, 1, 4))
    assert unpack_nodes(region.pack()) == region.nodes
    assert unpack_nodes(b"") == ()


@pytest.mark.parametrize(
    ("children", "reason"), [((0, -1), "node 0"), ((-5, -1), "node 0"), ((1, -1), "node 0")]
)
def test_stored_nodes_that_are_no_tree_are_refused(children: tuple[int, int], reason: str) -> None:
    data = Region(1, 0, (0, 0, 0), 1, "", "", 0, ((0, 1, 0, 0, 1, *children),)).pack()
    with pytest.raises(FileFormatError, match=reason):
        unpack_nodes(data)
    with pytest.raises(FileFormatError, match="cut off"):
        unpack_nodes(data[:-1])
