"""`emu content diff` and `emu content import --dry-run`."""

import json
from pathlib import Path

import pytest

from tests.support.content.dumps import meadow, write_dumps
from tests.support.running.command_line import CommandLine


@pytest.fixture
def emu(tmp_path: Path) -> CommandLine:
    emu = CommandLine(tmp_path)
    emu.good("content", "import", str(write_dumps(tmp_path / "dumps", meadow())))
    placements = meadow()["spawn_location_placement"]
    placements[0]["x"] = 11.5
    write_dumps(tmp_path / "dumps", {"spawn_location_placement": placements})
    return emu


SUMS = {
    "table": "placements", "zone": "meadow", "new": 0, "gone": 0, "changed": 1, "columns": "x 1",
}  # fmt: skip


@pytest.mark.slow
def test_a_dry_run_shows_the_differences_and_changes_nothing(
    emu: CommandLine, tmp_path: Path
) -> None:
    before = {path.name for path in tmp_path.glob("**/content.sqlite*")}
    words = ("content", "import", str(tmp_path / "dumps"), "--dry-run", "--format", "json")
    result = emu.good(*words)
    assert json.loads(result.stdout) == [SUMS]
    assert "nothing was changed" in result.stderr
    assert json.loads(emu.good(*words).stdout) == [SUMS]
    assert {path.name for path in tmp_path.glob("**/content.sqlite*")} == before


def test_a_dry_run_without_a_file_only_counts(tmp_path: Path) -> None:
    emu = CommandLine(tmp_path)
    dumps = write_dumps(tmp_path / "dumps", meadow())
    result = emu.good("content", "import", str(dumps), "--dry-run")
    assert result.stdout == ""
    assert "placements: nothing can stand there: 1 row" in result.stderr
    assert not list(tmp_path.glob("**/content.sqlite*"))


def test_two_files_are_compared_by_table_and_zone(emu: CommandLine, tmp_path: Path) -> None:
    emu.good("content", "import", str(tmp_path / "dumps"))
    new = emu.database.with_name("content.sqlite")
    old = new.with_name("content.sqlite.previous")
    result = emu.good("content", "diff", str(old), str(new), "--format", "json")
    assert json.loads(result.stdout) == [SUMS]
    lines = emu.good("content", "diff", str(old), str(new), "--table", "placements").stdout
    assert lines == "~ 9 11  x: 10.25 -> 11.5\n"
    back = emu.good("content", "diff", str(new), str(old), "--table", "placements").stdout
    assert back == "~ 9 11  x: 11.5 -> 10.25\n"
