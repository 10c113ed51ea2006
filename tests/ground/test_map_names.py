"""Names of map files. Source: docs/protocol/maps.md#names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import FileFormatError
from emu.ground.map_names import MapName, check_path, chosen, read_name, zones_of


def test_a_name_may_have_a_range_of_versions() -> None:
    assert read_name("antonica-1-561") == MapName("antonica", 1, 561)
    assert read_name("Antonica") == MapName("antonica")
    assert not read_name("antonica").has_range
    assert read_name("my-zone") == MapName("my-zone")


@given(st.from_regex(r"[a-z_]{1,9}", fullmatch=True), st.integers(0, 99999), st.integers(0, 99999))
def test_names_are_read_as_they_are_written(zone: str, low: int, high: int) -> None:
    name = MapName(zone, low, high)
    assert read_name(str(name)) == name
    assert read_name(str(MapName(zone))) == MapName(zone)


def test_the_range_of_a_version_comes_before_the_map_for_all() -> None:
    maps = {MapName("antonica"): "all", MapName("antonica", 1, 561): "old", MapName("x"): "x"}
    assert chosen(maps, "Antonica", 546) == "old"
    assert chosen(maps, "antonica", 562) == "all"
    assert chosen(maps, "antonica", None) == "all"
    assert chosen(maps, "commonlands", 546) is None
    assert chosen({MapName("antonica", 1, 561): "old"}, "antonica", None) is None
    assert zones_of(maps) == {"antonica", "x"}


@pytest.mark.parametrize("zone", ["../other", "a/b", ".hidden", "a\0b", ""])
def test_a_name_that_leaves_the_folder_is_refused(zone: str) -> None:
    with pytest.raises(FileFormatError, match="no name of a zone"):
        check_path(MapName(zone), f"zones/{zone}")


def test_a_file_of_another_zone_is_refused() -> None:
    check_path(MapName("antonica"), "Zones/Antonica/antonica.vdl")
    with pytest.raises(FileFormatError, match="byte 0: was made from 'zones/x'"):
        check_path(MapName("antonica"), "zones/x")
