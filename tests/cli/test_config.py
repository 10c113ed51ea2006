from pathlib import Path

from click.testing import CliRunner

from emu.cli.main import root


def test_show_prints_every_table() -> None:
    result = CliRunner().invoke(root, ["config", "show"])
    assert result.exit_code == 0
    assert "[login]" in result.output
    assert 'listen = "127.0.0.1:9100"' in result.output


def test_check_fails_with_the_key(tmp_path: Path) -> None:
    file = tmp_path / "emu.toml"
    file.write_text("[login]\nlisten = 1\n")
    result = CliRunner().invoke(root, ["--config", str(file), "config", "check"])
    assert result.exit_code == 1
    assert "login.listen" in str(result.exception)
