"""Spawns that are saved into zone files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from emu.errors import CommandError
from emu.world.actors.spawn import Destination, Spawn, SpawnKind, Verb
from emu.world.population.atlas import read_atlas
from emu.world.population.eq2emu_files import text_of
from emu.world.population.files import read_fixtures
from emu.world.population.saving import ZoneFiles, row_of
from emu.world.zones.definitions import Atlas
from emu.world_stream.movement import Position
from tests.support.world.zone_files import write_zones, zone_text

PLACE = Position(1.23456, -7.5, 3.0, 271.5)
MEADOW = zone_text(
    900,
    "Meadow",
    """# The sheep come first.

[[spawn]]   # the only one
name = "a sheep"        # not alphabetical
kind = "npc"
place = [ 1,2,  3 ]
[spawn.behavior_options]
rest = 5    # seconds""",
)


def wolf(**changes: Any) -> Spawn:
    looks = {"model_type": 85, "soga_model_type": 85}
    given: dict[str, Any] = {"appearance": looks, "level": 12}
    return Spawn(1, SpawnKind.NPC, "a wolf", PLACE, **given | changes)


def atlas_of(folder: Path) -> Atlas:
    return read_atlas(folder)


def save(folder: Path, row: dict[str, Any], name: str = "", zone_id: int = 900) -> Path:
    atlas = atlas_of(folder)
    zone = atlas.get(zone_id)
    assert zone is not None
    return ZoneFiles(atlas, lambda: folder).save(zone, row, name)


def test_a_file_keeps_every_byte_and_gets_the_spawn(tmp_path: Path) -> None:
    path = write_zones(tmp_path, meadow=MEADOW) / "meadow.toml"
    path.chmod(0o640)
    row = row_of(wolf(), "wanderer", {"rest": 2.5, "path": [[1.0, 2.0, 3.0]], "says": 'A "word".'})
    assert save(tmp_path, row) == path
    text = path.read_text()
    assert text.startswith(MEADOW)
    assert text.removeprefix(MEADOW) == (
        '\n\n[[spawn]]\nkind = "npc"\nname = "a wolf"\nplace = [1.235, -7.5, 3.0, 271.5]\n'
        'model = 85\nlevel = 12\nbehavior = "wanderer"\n'
        'behavior_options = {rest = 2.5, path = [[1.0, 2.0, 3.0]], says = "A \\"word\\"."}\n'
    )
    assert path.stat().st_mode & 0o777 == 0o640
    assert [one.name for one in path.parent.iterdir()] == ["meadow.toml"]
    saved = read_atlas(tmp_path).fixtures(900)[1].spawn(2)
    assert (saved.name, saved.level, saved.appearance) == ("a wolf", 12, wolf().appearance)
    assert saved.position == PLACE._replace(x=1.235)
    assert save(tmp_path, row_of(wolf(), "", {})) == path
    assert [one.key for one in read_atlas(tmp_path).fixtures(900)][1:] == ["a wolf", "a wolf#2"]


def test_everything_that_a_creature_is_comes_back() -> None:
    whole = wolf(
        last_name="Grey", guild="The Pack", size=40, collision_radius=12,
        words=frozenset(("afk",)), verbs=(Verb("Hail", 10.0, "hail"),), attackable=True,
        targetable=False, show_name=False, visual_state=5,
        appearance={"model_type": 85, "soga_model_type": 86, "gender": 2},
    )  # fmt: skip
    (read,) = read_fixtures(Path("a.toml"), [row_of(whole)], int)
    again = read.spawn(1)
    for name in (
        "kind", "name", "last_name", "guild", "level", "size", "collision_radius", "appearance",
        "words", "verbs", "attackable", "targetable", "show_name", "visual_state", "mood_state",
    ):  # fmt: skip
        assert getattr(again, name) == getattr(whole, name), name


def test_what_scripts_have_changed_comes_back() -> None:
    changed = wolf()
    changed.set_info(prefix="Sir", suffix="the Grey", icon=4, difficulty=9, heroic=2, faction=7)
    changed.set_visibility(show_level=False, show_commands=True, hand_icon=3)
    changed.set_shape(position_state=49156, size=60)
    changed.set_verbs(more_verbs=(Verb("Howl", 5.0, "howl", "Too far!", 1.5, 7),))
    (read,) = read_fixtures(Path("a.toml"), [row_of(changed)], int)
    assert read.template == changed.template()


def test_a_shipped_zone_gets_a_file_that_extends_it(tmp_path: Path) -> None:
    path = save(tmp_path, row_of(wolf()), zone_id=12)
    assert path.name == "Antonica.toml"
    assert path.read_text().startswith("[zone]\nid = 12\nextends = true\n\n[[spawn]]\n")
    before = len(read_atlas().fixtures(12))
    assert len(read_atlas(tmp_path).fixtures(12)) == before + 1
    assert read_atlas(tmp_path).faults == ()
    assert save(tmp_path, row_of(wolf()), "more", zone_id=12).name == "more.toml"


def test_an_imported_file_is_not_changed(tmp_path: Path) -> None:
    zone = {"id": 900, "name": "A b/c", "file": "a", "description": "a", "safe": [0, 0, 0]}
    imported = tmp_path / "00900-a.toml"
    imported.write_text(text_of({"zone": zone}))
    before = imported.read_bytes()
    assert save(tmp_path, row_of(wolf())).name == "A-b-c.toml"
    assert imported.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../meadow", "is no name of a zone file"),
        ("/etc/cron", "is no name of a zone file"),
        (".hidden", "is no name of a zone file"),
        ("meadow.txt", "is no name of a zone file"),
        ("starts", r"starts\.toml has no spawns"),
        ("link", "is a link to another place"),
        ("isle", "is no file of Meadow"),
        ("inline", "cannot be added at the end"),
        ("broken", "not a TOML file"),
    ],
)
def test_a_wrong_file_is_refused_and_stays(tmp_path: Path, name: str, reason: str) -> None:
    folder = write_zones(tmp_path / "zones", meadow=MEADOW)
    atlas = read_atlas(folder)
    other = tmp_path / "other.toml"
    other.write_text(MEADOW)
    (folder / "link.toml").symlink_to(other)
    row = "{ kind = 'npc', name = 'a', place = [0, 0, 0] }"
    inline = f"spawn = [{row}]\n[zone]\nid = 900\nextends = true\n"
    write_zones(folder, isle=zone_text(325, "Isle"), inline=inline, broken="[")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    zone = atlas.get(900)
    assert zone is not None
    with pytest.raises(CommandError, match=reason):
        ZoneFiles(atlas, lambda: folder).save(zone, row_of(wolf()), name)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    with pytest.raises(CommandError, match=r"set world\.zones"):
        ZoneFiles(atlas, lambda: None).save(zone, row_of(wolf()))


def test_widgets_and_ways_are_not_saved() -> None:
    gate = Spawn(1, SpawnKind.WIDGET, "a gate", PLACE)
    for spawn in (gate, wolf(destination=Destination(12))):
        with pytest.raises(CommandError, match="cannot be saved"):
            row_of(spawn)
