import tempfile
from pathlib import Path

from click.testing import CliRunner

from emu.cli.main import root
from emu.config import load
from emu.store import Store


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


def test_secrets_are_shown_only_when_asked_for_and_the_output_can_be_saved(tmp_path: Path) -> None:
    file = tmp_path / "emu.toml"
    link = '[world]\nlogin_servers = ["127.0.0.1:9100"]\naccount = "norrath"\n'
    file.write_text(link + 'password = "very secret"\n')
    hidden = CliRunner().invoke(root, ["--config", str(file), "config", "show"]).stdout
    assert "very secret" not in hidden
    assert "# password = (set; see --secrets)" in hidden
    whole = CliRunner().invoke(root, ["--config", str(file), "config", "show", "--secrets"]).stdout
    again = tmp_path / "again.toml"
    again.write_text(whole)
    assert load(again) == load(file)
    (tmp_path / "link.txt").write_text("very secret\n")
    file.write_text(link + 'password_file = "link.txt"\n')
    whole = CliRunner().invoke(root, ["--config", str(file), "config", "show", "--secrets"]).stdout
    assert "very secret" not in whole
    again.write_text(whole)
    assert load(again) == load(file)


def test_check_reports_files_that_every_user_can_read() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "emu.toml").write_text('[database]\nurl = "sqlite:e.sqlite"\n')
        Store.create(folder / "e.sqlite").close()
        (folder / "e.sqlite").chmod(0o644)
        result = CliRunner().invoke(root, ["--config", f"{folder}/emu.toml", "config", "check"])
        assert result.exit_code == 0
        assert f"warning: {folder / 'e.sqlite'} holds password hashes" in result.stderr


def test_what_is_shown_means_the_same_wherever_it_is_saved(tmp_path: Path, monkeypatch) -> None:
    """Relative names count from the folder of the file that was read, not of the copy."""
    file = tmp_path / "here" / "emu.toml"
    file.parent.mkdir()
    file.write_text(
        '[database]\nurl = "sqlite:we \\"ird\\u007f\\t/emu.sqlite"\n[trace]\nfile = "t.pcapng"\n'
        '[link]\ncertificate = "link.pem"\ntls_listen = "[::1]:9101"\n'
        '[world]\nname = "N\u00f6rr\\"ath\\\\"\nname_filter = ["a", "b c"]\n'
        "[login]\ncrc_seed = 5\npassword_memory = 0.5\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(file.parent)
    shown = CliRunner().invoke(root, ["config", "show"]).stdout
    assert shown.startswith(f"# configuration file: {file}\n")
    copy = tmp_path / "elsewhere.toml"
    copy.write_text(shown, encoding="utf-8")
    assert load(copy) == load(file)
    assert load(copy).database.path.parent.name == 'we "ird\x7f\t'


def test_what_is_shown_of_defaults_means_them(tmp_path: Path) -> None:
    copy = tmp_path / "any.toml"
    copy.write_text(CliRunner().invoke(root, ["config", "show"]).stdout)
    assert load(copy) == load(None)
