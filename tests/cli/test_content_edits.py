"""`emu content edits`: what operators see of edits made in the game."""

import json
import tomllib
from pathlib import Path

import pytest

from emu.processes.ports import ContentEdit
from emu.store import Store
from emu.times import Moment
from tests.support.content.dumps import meadow, write_dumps
from tests.support.running.command_line import CommandLine


@pytest.fixture
def emu(tmp_path: Path) -> CommandLine:
    made = CommandLine(tmp_path)
    made.good("content", "import", str(write_dumps(tmp_path / "dumps", meadow())))
    with Store.create(made.database) as store:
        store.world.content_edits.save_edits([
            ContentEdit(*key, value, old, "Aldana", Moment(5.0))
            for key, value, old in (
                (("placement", 15, "x"), "7.5", "0.0"),
                (("spawn", 90001, "name"), '"a watchman"', '"an old guard"'),
                (("placement", 77, "removed"), "true", "false"),
            )
        ])  # fmt: skip
    return made


def test_edits_are_listed_with_their_conflicts(emu: CommandLine) -> None:
    rows = json.loads(emu.good("content", "edits", "list", "--format", "json").stdout)
    assert {(row["number"], row["conflict"]) for row in rows} == {
        (15, ""), (77, "is no longer in the content file"),
        (90001, 'the content file had "an old guard", and has "a guard" now'),
    }  # fmt: skip
    rows = json.loads(
        emu.good("content", "edits", "list", "--conflicts", "--format", "json").stdout
    )
    assert [row["number"] for row in rows] == [77, 90001]


def test_edits_of_a_zone_become_a_zone_file(emu: CommandLine, tmp_path: Path) -> None:
    document = tomllib.loads(emu.good("content", "edits", "export", "meadow").stdout)
    assert document["change"] == [
        {"placement": 15, "x": 7.5}, {"spawn": 90001, "name": "a watchman"},
    ]  # fmt: skip
    target = tmp_path / "edits.toml"
    emu.good("content", "edits", "export", "9", "--to", str(target))
    assert tomllib.loads(target.read_text()) == document
    assert "exists; choose another file" in emu.refused(
        "content", "edits", "export", "9", "--to", str(target)
    )
    assert "there is no zone 'nowhere'" in emu.refused("content", "edits", "export", "nowhere")


def test_edits_are_removed(emu: CommandLine) -> None:
    emu.good("content", "edits", "remove", "placement", "15")
    emu.good("content", "edits", "remove", "spawn", "90001", "name")
    rows = json.loads(emu.good("content", "edits", "list", "--format", "json").stdout)
    assert [row["number"] for row in rows] == [77]
    assert "has no such edit" in emu.refused("content", "edits", "remove", "placement", "15")
