"""`emu world import-eq2emu`."""

import json
from pathlib import Path

import pytest

from tests.support.running.command_line import CommandLine
from tests.support.world.world_dumps import ZONES, world_dump


@pytest.fixture
def dump(tmp_path: Path) -> str:
    return str(world_dump(tmp_path, ZONES))


def test_zones_go_where_the_options_say(emu: CommandLine, tmp_path: Path, dump: str) -> None:
    folder = tmp_path / "zones"
    done = emu.good("world", "import-eq2emu", dump, "--to", str(folder), "--format", "json")
    rows = {row["table"]: row for row in json.loads(done.stdout)}
    assert rows["zones"] == {
        "table": "zones", "rows": 2, "added": 2, "here_already": 0, "left_out": 0,
    }  # fmt: skip
    assert "2 rows were imported" in done.stderr
    assert f"set zones = '{folder}'" in done.stderr
    assert (folder / "00900-mine.toml").exists()


def test_a_dry_run_writes_nothing(emu: CommandLine, tmp_path: Path, dump: str) -> None:
    folder = tmp_path / "zones"
    done = emu.good("world", "import-eq2emu", dump, "--to", str(folder), "--dry-run")
    assert "nothing was changed" in done.stderr
    assert not folder.exists()


def test_the_folder_of_the_configuration_is_used(
    emu: CommandLine, tmp_path: Path, dump: str
) -> None:
    with emu.config.open("a", encoding="utf-8") as config:
        config.write(f"[world]\nzones = '{tmp_path / 'mine'}'\n")
    done = emu.good("world", "import-eq2emu", dump)
    assert (tmp_path / "mine" / "00900-mine.toml").exists()
    assert "set zones" not in done.stderr


def test_no_folder_is_one_clear_line(emu: CommandLine, dump: str) -> None:
    reported = emu.refused("world", "import-eq2emu", dump)
    assert "--to" in reported
    assert "world.zones" in reported


def test_rows_left_out_are_reported_and_refused_at_the_end(
    emu: CommandLine, tmp_path: Path
) -> None:
    dump = world_dump(tmp_path, ZONES + "INSERT INTO zones (id, name) VALUES ('x', 'y');\n")
    reported = emu.refused("world", "import-eq2emu", str(dump), "--to", str(tmp_path / "zones"))
    assert "1 rows skipped" in reported
    assert (tmp_path / "zones" / "00900-mine.toml").exists()


def test_a_dump_that_cannot_be_read_changes_nothing(emu: CommandLine, tmp_path: Path) -> None:
    dump = world_dump(tmp_path, ZONES + "INSERT INTO zones VALUES ('")
    reported = emu.refused("world", "import-eq2emu", str(dump), "--to", str(tmp_path / "zones"))
    assert "line" in reported
    assert not (tmp_path / "zones").exists()
