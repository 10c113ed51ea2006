"""Kinds of spawns that are read alone: their rows, verbs and script."""

from pathlib import Path

import pytest

from emu.content.importing import import_content
from emu.content.sources import dump_parts
from emu.content.strays import Strays
from tests.support.content.dumps import meadow, write_dumps


@pytest.fixture
def strays(tmp_path: Path) -> Strays:
    target = tmp_path / "content.sqlite"
    import_content(dump_parts([write_dumps(tmp_path / "dumps", meadow())]), target)
    return Strays(target)


def test_a_kind_has_its_verbs_and_the_script_of_its_number(strays: Strays) -> None:
    guard = strays.get(90001)
    assert guard is not None
    assert (guard.template.spawn["name"], guard.template.kind) == ("a guard", "npcs")
    assert [row["command"] for row in guard.commands[9]] == ["hail"]
    assert guard.script == "SpawnScripts/meadow/guard.lua"


def test_a_kind_may_have_neither(strays: Strays) -> None:
    captain = strays.get(90002)
    assert captain is not None
    # The script of its entry is that of a place, which it does not have here.
    assert (captain.commands, captain.script) == ({}, "")


def test_there_is_no_unknown_kind_and_none_of_a_world_without_content(strays: Strays) -> None:
    assert strays.get(90009) is None
    strays.reload(None)
    assert strays.get(90001) is None
