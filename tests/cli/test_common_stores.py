"""Asking for passwords; opening is shown with the nouns that do it."""

import io
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from emu.cli import common
from emu.cli.options import password_option
from emu.cli.root_options import Root
from emu.errors import CommandError, StoreError


@click.command()
@password_option
def ask(password: str | None) -> None:
    click.echo(repr(common.chosen_password(password)))


def test_a_given_password_is_taken() -> None:
    assert CliRunner().invoke(ask, ["--password", "ä"]).stdout == "b'\\xc3\\xa4'\n"


def test_a_password_is_asked_for_twice_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "_is_terminal", lambda: True)
    result = CliRunner().invoke(ask, input="one\ntwo\nthree\nthree\n")
    assert result.stdout == "b'three'\n"
    assert "do not match" in result.stderr
    assert "one" not in result.output


def test_standard_input_that_is_no_terminal_gives_its_first_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("secret\r\nmore\n"))
    assert common.chosen_password(None) == b"secret"


@pytest.mark.parametrize("given", ["", "x" * 256, "ä" * 128])
def test_a_password_has_a_size(given: str) -> None:
    with pytest.raises(CommandError, match="password must not be"):
        common.chosen_password(given)


def test_only_creating_makes_a_database(tmp_path: Path) -> None:
    config = tmp_path / "emu.toml"
    config.write_text('[database]\nurl = "sqlite:deep/emu.sqlite"\n', encoding="utf-8")
    context = click.Context(ask, obj=Root(config))
    with context:
        with pytest.raises(StoreError, match="no such database"), common.change_store():
            pass
        with common.change_store(create=True):
            pass
        with common.read_store() as store:
            assert store.path == tmp_path / "deep" / "emu.sqlite"
