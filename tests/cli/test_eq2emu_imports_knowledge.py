"""`emu world import-eq2emu-knowledge`."""

import json
from pathlib import Path

from tests.support.running.command_line import CommandLine
from tests.support.world.world_dumps import world_dump

TITLES = "INSERT INTO titles (id, title, prefix) VALUES (50, 'Duke', 1);\n"


def test_titles_go_where_the_options_say(emu: CommandLine, tmp_path: Path) -> None:
    folder, dump = tmp_path / "mine", str(world_dump(tmp_path, TITLES))
    reported = emu.refused("world", "import-eq2emu-knowledge", dump)
    assert "world.knowledge" in reported
    arguments = ("world", "import-eq2emu-knowledge", dump, "--to", str(folder), "--format", "json")
    done = emu.good(*arguments)
    rows = {row["table"]: row for row in json.loads(done.stdout)}
    assert rows["titles"]["added"] == 1
    assert f"set knowledge = '{folder}'" in done.stderr
    assert 'text = "Duke"' in (folder / "eq2emu.toml").read_text()


def test_rows_left_out_are_reported_at_the_end(emu: CommandLine, tmp_path: Path) -> None:
    bad = TITLES + "INSERT INTO titles (id, title) VALUES (51, '');\n"
    dump = str(world_dump(tmp_path, bad))
    reported = emu.refused("world", "import-eq2emu-knowledge", dump, "--to", str(tmp_path / "mine"))
    assert "1 rows skipped" in reported
