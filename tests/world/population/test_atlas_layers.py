"""Zone files over a content file: what they extend, change and replace."""

from pathlib import Path

import pytest

from emu.content.importing import import_content
from emu.content.layers import Edit, ZoneLayer
from emu.content.sources import dump_parts
from emu.errors import FileFormatError
from emu.world.population.atlas import read_atlas
from tests.support.content.dumps import meadow, write_dumps

HEAD = "[zone]\nid = 9\nextends = true\n"
CHANGES = """
[[change]]
placement = 11
x = 5

[[remove]]
spawn = 90002
"""
SHEEP = """
[[spawn]]
kind = "npc"
name = "a sheep"
place = [1, 2, 3]
"""


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("atlas")
    tables = meadow()
    tables["zones"].append({**tables["zones"][0], "id": 12, "name": "Antonica"})
    import_content(dump_parts([write_dumps(folder / "dumps", tables)]), folder / "content.sqlite")
    return folder / "content.sqlite"


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text)
    return folder


def test_a_file_extends_a_zone_of_the_content_file(tmp_path: Path, content: Path) -> None:
    atlas = read_atlas(
        written(tmp_path, a=HEAD + 'motd = "Hush."\n' + CHANGES, b=HEAD + SHEEP), content
    )
    zone = atlas.get(9)
    assert zone is not None
    assert (zone.motd, zone.description, zone.safe.x) == ("Hush.", "A Meadow", 1.5)
    assert [one.template.name for one in atlas.fixtures(9)] == ["a sheep"]
    edits = Edit("placement", 11, "x", 5.0), Edit("spawn", 90002, "removed", True)
    assert atlas.layers == {9: ZoneLayer(edits)}
    assert atlas.faults == ()


def test_a_file_extends_the_content_and_not_the_shipped_zone(tmp_path: Path, content: Path) -> None:
    atlas = read_atlas(written(tmp_path, a=HEAD.replace("9", "12") + CHANGES), content)
    zone = atlas.get(12)
    assert zone is not None
    assert zone.description == "A Meadow"
    assert [one.number for one in atlas.layers[12].edits] == [11, 90002]


def test_a_file_without_extends_replaces_the_zone(tmp_path: Path, content: Path) -> None:
    text = '[zone]\nid = 9\nname = "mine"\nfile = "x"\ndescription = "M"\nsafe = [0, 0, 0]\n'
    atlas = read_atlas(written(tmp_path, a=text + "replaces = true\n"), content)
    assert atlas.layers == {9: ZoneLayer(replaces=True)}
    assert atlas.faults == ()


def test_changes_need_a_zone_of_the_content_file(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="change: zone 12 is not in the content file"):
        read_atlas(written(tmp_path, a=HEAD.replace("9", "12") + CHANGES))
    with pytest.raises(FileFormatError, match="there is no zone 9 to extend"):
        read_atlas(written(tmp_path, a=HEAD))


def test_another_atlas_brings_its_layers(tmp_path: Path, content: Path) -> None:
    atlas = read_atlas(None, content)
    assert atlas.layers == {}
    atlas.replace(read_atlas(written(tmp_path, a=HEAD + CHANGES), content))
    assert list(atlas.layers) == [9]
