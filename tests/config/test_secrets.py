"""Secrets come from safe places, and files that expose them are reported."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from emu.config import exposed, load
from emu.config.secrets import secret_keys, variable
from emu.errors import ConfigError

LINK = '[world]\nlogin_servers = ["127.0.0.1:9100"]\naccount = "norrath"\n'


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may enter, which pytest's own is not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def written(folder: Path, text: str, mode: int = 0o600, name: str = "emu.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def problems(path: Path) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(path)
    return list(caught.value.problems)


def test_the_link_password_is_a_secret() -> None:
    assert list(secret_keys()) == [
        ("login", "invite_code"),
        ("world", "password"),
        ("rcon", "password"),
        ("ssq", "password"),
        ("webhook", "url"),
    ]
    assert variable("world", "password") == "EMU_WORLD_PASSWORD"


def test_a_secret_comes_from_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(folder, LINK + 'password = "from the file"\n')
    assert load(path).world.password == "from the file"
    monkeypatch.setenv("EMU_WORLD_PASSWORD", "from outside")
    assert load(path).world.password == "from outside"
    assert load(path, ["world.password=typed"]).world.password == "typed"
    assert load(None).world.password == "from outside"
    other = written(folder, LINK + 'password_file = "none.txt"\n', name="other.toml")
    assert load(other).world.password == "from outside"


def test_a_secret_comes_from_a_file_beside_the_configuration(folder: Path) -> None:
    written(folder, "from a f\u00efle\r\nand a remark\n", name="link.txt")
    path = written(folder, LINK + 'password_file = "link.txt"\n')
    world = load(path).world
    assert (world.password, world.password_file) == ("from a f\u00efle", folder / "link.txt")
    written(folder, "\ufeffby Notepad\n", name="link.txt")
    assert load(path).world.password == "by Notepad"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "its first line is empty"),
        (b"\nsecond", "its first line is empty"),
        (b"\xff\xfe", "its first line is not UTF-8"),
        (b"x" * 5000, "its first line is longer than 4096 bytes"),
        (None, "No such file or directory"),
    ],
)
def test_a_file_that_holds_no_secret_is_a_problem(
    folder: Path, content: bytes | None, reason: str
) -> None:
    if content is not None:
        (folder / "link.txt").write_bytes(content)
    path = written(folder, LINK + 'password_file = "link.txt"\n')
    found = problems(path)
    assert f"world.password_file: {folder / 'link.txt'} cannot be used ({reason})" in found[0]


def test_a_secret_in_two_places_is_a_problem(folder: Path) -> None:
    path = written(folder, LINK + 'password = "x"\npassword_file = "link.txt"\n')
    assert problems(path) == [f"{path}: world.password, world.password_file: set only one of them"]


def test_a_wrong_secret_is_not_repeated_in_the_problem(folder: Path) -> None:
    path = written(folder, LINK + 'password = "secret\\nsecond"\n')
    (problem,) = problems(path)
    assert "world.password: must be text" in problem
    assert "secret" not in problem.replace(str(folder), "")


def test_files_that_every_user_can_read_are_reported(folder: Path) -> None:
    own = 'password = "x"\n[database]\nurl = "sqlite:emu.sqlite"\n[trace]\nfile = "t.pcapng"\n'
    link = '[link]\ncertificate = "link.pem"\ntls_listen = "127.0.0.1:9101"\n'
    path = written(folder, LINK + own + link, 0o644)
    for name in ("emu.sqlite", "emu.sqlite-wal", "emu.sqlite.schema4.bak", "t.pcapng"):
        written(folder, "", 0o644, name)
    written(folder, "-----BEGIN EC PRIVATE KEY-----", 0o644, "link.pem")
    reported = {line.partition(" holds ")[0]: line for line in exposed(load(path), path)}
    assert {Path(name).name: line.partition(" holds ")[2].partition(" and")[0]
            for name, line in reported.items()} == {
        "emu.sqlite": "password hashes",
        "emu.sqlite-wal": "password hashes",
        "emu.sqlite.schema4.bak": "password hashes",
        "t.pcapng": "sessions with their keys",
        "link.pem": "the link's private key",
        "emu.toml": "world.password",
    }  # fmt: skip
    assert reported[str(path)].endswith(f"chmod o= {path}")
    for one in folder.iterdir():
        one.chmod(0o640)
    assert list(exposed(load(path), path)) == []


def test_a_file_in_a_closed_folder_is_safe_and_so_is_one_without_secrets(folder: Path) -> None:
    path = written(folder, LINK + 'password = "x"\n[database]\nurl = "sqlite:e.sqlite"\n', 0o644)
    folder.chmod(0o700)
    assert list(exposed(load(path), path)) == []
    folder.chmod(0o755)
    plain = written(folder, '[database]\nurl = "sqlite:e.sqlite"\n', 0o644, "plain.toml")
    assert list(exposed(load(plain), plain)) == []


def test_the_secrets_own_file_is_reported_and_not_the_configuration(folder: Path) -> None:
    written(folder, "secret\n", 0o644, "link.txt")
    text = LINK + 'password_file = "link.txt"\n[database]\nurl = "sqlite:e.sqlite"\n'
    path = written(folder, text, 0o644)
    (line,) = exposed(load(path), path)
    assert line.startswith(f"{folder / 'link.txt'} holds world.password")


def test_a_database_that_is_a_link_to_itself_is_not_reported(folder: Path) -> None:
    path = folder / "emu.toml"
    path.write_text("[database]\nurl = 'sqlite:loop'\n")
    (folder / "loop").symlink_to("loop")
    assert list(exposed(load(path), path)) == []
