"""The URL of the database: from the file, the environment or a file of its own; never shown."""

from pathlib import Path

import pytest

from emu.config import Config, load, parse, secrets
from emu.config.secrets import exposed
from emu.config.setting import settings_of
from emu.database import ServerUrl
from emu.errors import ConfigError

URL = "postgresql://emu:hidden@db.example/emu"


def test_a_url_of_a_server_is_read_and_keeps_its_files_elsewhere(tmp_path: Path) -> None:
    config = parse({"database": {"url": URL, "node_file": "a.sqlite"}}, folder=tmp_path)
    assert config.database.url == ServerUrl.parse(URL)
    assert config.database.path == tmp_path / "a.sqlite"
    assert "hidden" not in repr(config)
    for one in settings_of(config):
        if one.key == "database.url":
            write = one.rule.form.write
            assert write is not None
            assert write(one.value(config)) == "postgresql://emu@db.example/emu"


def test_the_environment_comes_before_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "emu.toml"
    file.write_text('[database]\nurl_file = "url"\n', encoding="utf-8")
    (tmp_path / "url").write_text(f"{URL}\n", encoding="utf-8")
    assert load(file).database.url == ServerUrl.parse(URL)
    monkeypatch.setenv("EMU_DATABASE_URL", "postgresql://other@db/emu")
    assert str(load(file).database.url) == "postgresql://other@db/emu"


@pytest.mark.parametrize(
    ("document", "overrides", "words"),
    [
        ({"url": URL, "url_file": "url"}, [], "database.url, database.url_file: set only one"),
        ({"url_file": "missing"}, [], "database.url_file: .*missing cannot be used"),
        ({"url_file": "wrong"}, [], "database.url: must be"),
        ({"url_file": "~nobody-at-all/url"}, [], "^database.url_file: must not name the home"),
        ({"url_file": "u" * 300}, [], "^database.url_file: must be the name of a file"),
        ({"url": "postgresql://emu:hidden@db:x/emu"}, [], "database.url: must be"),
        ({}, [f"database.url={URL}"], "a password on a command line is shown"),
    ],
)
def test_a_wrong_url_is_refused_without_its_password(
    tmp_path: Path, document: dict[str, str], overrides: list[str], words: str
) -> None:
    (tmp_path / "wrong").write_text("postgresql://emu:hidden@db:y/emu\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=words) as caught:
        parse({"database": document}, overrides, folder=tmp_path)
    assert "hidden" not in str(caught.value)


def test_a_url_on_the_command_line_replaces_the_file(tmp_path: Path) -> None:
    config = parse(
        {"database": {"url_file": "url"}}, ["database.url=postgresql://a@b/c"], folder=tmp_path
    )
    assert str(config.database.url) == "postgresql://a@b/c"


def test_files_with_the_password_must_not_be_open_to_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets, "_is_open", lambda path: path.stat().st_mode & 0o004)
    own, source = tmp_path / "url", tmp_path / "emu.toml"
    own.write_text(URL, encoding="utf-8")
    source.write_text(f'[database]\nurl = "{URL}"\n', encoding="utf-8")
    for path in (own, source):
        path.chmod(0o644)
    by_file = parse({"database": {"url_file": str(own)}})
    assert [line for line in exposed(by_file, None) if "database.url" in line]
    inside: Config = load(source)
    assert [line for line in exposed(inside, source) if str(source) in line]
    own.chmod(0o600)
    assert not list(exposed(by_file, None))
