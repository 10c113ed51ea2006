"""Faults of zone files that show only together with behaviors and commands."""

from __future__ import annotations

from pathlib import Path

from emu.world.behaviors import Library
from emu.world.population.atlas import read_atlas
from emu.world.population.checks import content_faults
from emu.world.population.eq2emu_files import text_of
from emu.world.subjects.every import all_command_words
from tests.support.world.zone_files import write_zones, zone_text

SPAWN = """
[[spawn]]
kind = "npc"
name = "Ann"
place = [0, 0, 0]
"""


def faults(folder: Path, more: str) -> list[str]:
    """The faults of a zone with a spawn, after the file's name."""
    atlas = read_atlas(write_zones(folder, a=zone_text(900, "one", more)))
    found = content_faults(atlas, Library().faults, all_command_words())
    return [one.removeprefix(f"{folder / 'a.toml'}, ") for one in found]


def test_the_shipped_zones_have_no_faults() -> None:
    assert content_faults(read_atlas(), Library().faults, all_command_words()) == []


def test_behaviors_and_their_options(tmp_path: Path) -> None:
    assert faults(tmp_path, SPAWN + 'behavior = "greter"\n') == [
        "line 13: spawn 1 (Ann): behavior: unknown behavior 'greter'; did you mean greeter?"
    ]
    options = 'behavior = "greeter"\n[spawn.behavior_options]\nanswer = "Hi"\ngreting = "Hi"\n'
    assert faults(tmp_path, SPAWN + options) == [
        "line 16: spawn 1 (Ann): behavior_options.greting: unknown key; did you mean greeting?"
    ]
    options = 'behavior = "greeter"\nbehavior_options = {\n}\n'.replace(
        "\n}", ' answers = ["a", "{nam}"] }'
    )
    assert faults(tmp_path, SPAWN + options) == [
        (
            "line 14: spawn 1 (Ann): behavior_options.answers: unknown placeholder {nam};"
            " did you mean name?"
        )
    ]
    assert faults(tmp_path, 'behavior = "wanderer"\nbehavior_options = { speed = "fast" }\n') == [
        "line 9: zone: behavior_options.speed: must be a number from 0.1 to 100, not 'fast'"
    ]


def test_zones_of_revive_points(tmp_path: Path) -> None:
    row = 'revive = [{ name = "Camp" }, { name = "Far", zone = "%s" }]\n'
    assert faults(tmp_path, row % "nowhere") == [
        "line 8: zone: revive[1].zone: there is no zone 'nowhere'"
    ]
    assert faults(tmp_path, row % "Antonica") == []


def test_verbs(tmp_path: Path) -> None:
    def verb(text: str, more: str = "") -> list[str]:
        return faults(tmp_path, f"{SPAWN}{more}verbs = [{{ {text} }}]\n")

    assert verb('name = "Hail"') == []
    assert verb('name = "Speak", command = "say hello"') == []
    assert verb('name = "Greet", command = "hial"') == [
        "line 13: spawn 1 (Ann): verbs[0].command: unknown command 'hial'; did you mean hail?"
    ]
    assert verb('name = "Dance with"') == [
        (
            "line 13: spawn 1 (Ann): verbs[0].name: unknown command 'dance_with'; use a command of"
            " the server (`help` lists them), or set `to`"
        )
    ]
    way = 'to = { zone = "Antonica" }\n'
    assert verb('name = "Ring the bell", command = "use"', way) == []
    assert verb('name = "Hial"', way) == [], "a name may be any text"
    assert len(verb('name = "Greet", command = "hial"', way)) == 1


def test_commands_of_an_imported_file_are_not_checked(tmp_path: Path) -> None:
    zone = {"id": 900, "name": "a", "file": "a", "description": "a", "safe": [0, 0, 0]}
    verbs = [{"name": "Buy", "command": "buy_from_merchant"}]
    row = {"kind": "npc", "name": "Ann", "place": [0, 0, 0], "verbs": verbs}
    (tmp_path / "a.toml").write_text(text_of({"zone": zone, "spawn": [row]}))
    assert content_faults(read_atlas(tmp_path), Library().faults, all_command_words()) == []
