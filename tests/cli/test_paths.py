from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from emu.cli.main import NOUNS, root
from emu.cli.paths import FilePath
from tests.support.running.command_line import CommandLine


@pytest.mark.parametrize(
    "words",
    [
        ("backup", ""),
        ("content", "back", "--file="),
        ("content", "maps", "info", "--file="),
        ("account", "list", "--db="),
        ("account", "add", "x", "--password-file="),
    ],
)
def test_an_empty_name_is_not_the_working_directory(
    emu: CommandLine, words: tuple[str, ...]
) -> None:
    emu.good("account", "add", "bob", stdin="secret-enough\n")
    result = emu.run(*words)
    assert result.exit_code == 2
    assert "the name is empty" in result.stderr
    assert list(Path().iterdir()) == []


def test_every_command_refuses_it() -> None:
    def kinds(command: click.Command, path: str) -> None:
        for param in command.params:
            assert type(param.type) is not click.Path, f"{path} {param.name}"
        if isinstance(command, click.Group):
            for name, inner in command.commands.items():
                kinds(inner, f"{path} {name}")

    assert isinstance(root, click.Group)
    for noun in NOUNS:
        command = root.get_command(click.Context(root), noun)
        assert command is not None
        kinds(command, noun)


def test_another_name_is_a_path(tmp_path: Path) -> None:
    @click.command()
    @click.argument("file", type=FilePath(path_type=Path))
    def shown(file: Path) -> None:
        click.echo(file)

    result = CliRunner().invoke(shown, [str(tmp_path)])
    assert result.output == f"{tmp_path}\n"
