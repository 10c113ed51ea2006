"""The options of the whole command line, before the noun and behind it."""

from pathlib import Path

from click.testing import CliRunner

from emu.cli.main import root
from tests.support.running.command_line import CommandLine


def test_config_and_db_may_stand_anywhere(tmp_path: Path) -> None:
    words = ["account", "list", "--json"]
    good = CommandLine(tmp_path)
    good.good("account", "add", "alice", "--password", "x")
    options = ["--config", str(good.config), "--db", str(good.database)]
    for place in range(len(words) + 1):
        result = CliRunner().invoke(root, words[:place] + options + words[place:])
        assert result.exit_code == 0, result.output
        assert '"alice"' in result.output
    empty = ["--db", str(tmp_path / "other.sqlite")]
    result = CliRunner().invoke(root, [*options, "account", "list", *empty])
    assert "other.sqlite: there is no such database" in str(result.exception)
