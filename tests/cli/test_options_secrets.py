"""Ways to give a password that do not show it in the list of processes."""

import io
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from emu.cli.options import asked_secret, given_password, password_option
from emu.errors import CommandError


@click.command()
@click.argument("name")
@password_option
def ask(name: str, password: str | None) -> None:
    click.echo(f"{name} {password!r}")


def test_a_password_comes_from_the_command_line_the_environment_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "password.txt"
    file.write_text("from the file\nand more\n")
    run = CliRunner().invoke
    outside = {"EMU_PASSWORD": "from outside"}
    assert run(ask, ["bob"]).stdout == "bob None\n"
    assert run(ask, ["bob", "--password", "x"], env=outside).stdout == "bob 'x'\n"
    assert run(ask, ["bob"], env=outside).stdout == "bob 'from outside'\n"
    words = ["bob", "--password-file", str(file)]
    assert run(ask, words, env=outside).stdout == "bob 'from the file'\n"


def test_two_passwords_are_wrong_usage(tmp_path: Path) -> None:
    result = CliRunner().invoke(ask, ["bob", "--password", "x", "--password-file", "y"])
    assert result.exit_code == 2
    assert "not both" in result.output


@pytest.mark.parametrize("content", [None, b"", b"\xff"])
def test_a_file_without_a_password_is_one_line(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "password.txt"
    if content is not None:
        file.write_bytes(content)
    result = CliRunner().invoke(ask, ["bob", "--password-file", str(file)])
    assert isinstance(result.exception, CommandError)
    assert str(result.exception).startswith(f"{file}: cannot read a password from it (")


def test_a_password_that_is_not_given_is_the_first_line_of_a_pipe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert given_password("secret") == "secret"
    monkeypatch.setattr("sys.stdin", io.StringIO("from a pipe\nstatus\n"))
    assert given_password(None) == "from a pipe"
    assert sys.stdin.read() == "status\n"


def test_without_any_password_it_says_how_to_give_one(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    with pytest.raises(CommandError, match=r"--password-file FILE, or set \$EMU_PASSWORD"):
        given_password(None)
    assert capfd.readouterr() == ("", "")


def test_at_a_terminal_it_is_asked_for_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    def typed() -> None:
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
        click.echo(repr(asked_secret("Token")))

    result = CliRunner().invoke(typed, input="hush\n")
    assert (result.stdout, result.stderr) == ("'hush'\n", "Token: \n")


def test_the_help_names_both_ways_around() -> None:
    text = CliRunner().invoke(ask, ["--help"]).stdout
    assert "--password-file" in text
    assert "EMU_PASSWORD" in text
