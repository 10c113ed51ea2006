from pathlib import Path

import pytest

from emu.errors import FileFormatError
from emu.world.zones import read_zones


def test_the_shipped_zones_know_the_start_zone() -> None:
    table = read_zones()
    start = table.get(table.start_zone_of(None))
    assert start is not None
    assert start.file == "tutorial_island02"
    assert start.safe == (1.56, -7.97, 243.45, 92.0)


def test_login_servers_hear_of_zones_by_number() -> None:
    described = read_zones().described()
    assert [item.zone_id for item in described] == sorted(item.zone_id for item in described)
    assert "Isle of Refuge" in {item.description for item in described}


def test_an_unknown_zone_is_none() -> None:
    assert read_zones().get(65000) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "start_zone = 1",
        "start_zone = 1\n[[zone]]\nid = 2\nname='a'\nfile='a'\ndescription='a'\nsafe=[0,0,0,0]",
        "start_zone = 2\n[[zone]]\nid = 2\nname='a'\nfile='a'\ndescription='a'\nsafe=[0,0]",
        "start_zone = 2\n[[zone]]\nid = 2\nfile='a'\ndescription='a'\nsafe=[0,0,0,0]",
        "[",
    ],
)
def test_a_wrong_file_is_one_clear_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "zones.toml"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=r"zones\.toml"):
        read_zones(path)
