"""Which configuration and which database a command works on, wherever that is said."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from emu.cli.common import load_config
from emu.cli.main import NOUNS, root
from emu.cli.root_options import Root
from emu.errors import ConfigError
from tests.support.running.command_line import CommandLine


@click.command()
def probe() -> None:
    config = load_config()
    click.echo(f"{config.world.name} {config.database.path}")


def seen(**chosen: Path) -> list[str]:
    result = CliRunner().invoke(probe, obj=Root(**chosen), catch_exceptions=False)
    return result.output.split()


def write(path: Path, name: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'[world]\nname = "{name}"\n[database]\nurl = "sqlite:{name}.sqlite"\n')
    return path


def test_the_working_folder_is_searched_when_no_file_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "state" / "emu.toml", "Prepared")
    assert seen() == ["Prepared", str(tmp_path / "state" / "Prepared.sqlite")]
    write(tmp_path / "emu.toml", "Here")
    assert seen() == ["Here", str(tmp_path / "Here.sqlite")]
    named = write(tmp_path / "named" / "any.toml", "Named")
    monkeypatch.setenv("EMU_CONFIG", str(named))
    assert seen()[0] == "Named"
    assert seen(config=tmp_path / "emu.toml")[0] == "Here"
    monkeypatch.setenv("EMU_CONFIG", "missing.toml")
    with pytest.raises(ConfigError, match=r"missing.toml: cannot be read .* or \$EMU_CONFIG"):
        seen()


def test_a_database_that_is_named_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    config = write(tmp_path / "emu.toml", "Here")
    assert seen(config=config, db=Path("mine")) == ["Here", str(tmp_path / "mine")]


def leaves(group: click.Group, path: tuple[str, ...] = ()):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from leaves(command, (*path, name))
        else:
            yield (*path, name), command


def test_options_of_one_name_mean_the_same_everywhere() -> None:
    helps: dict[str, set[str]] = {"db": set(), "config": set(), "--json": set()}
    formats = set()
    for path, command in leaves(root):
        options = {one: param for param in command.params for one in param.opts}
        for name in ("db", "config"):
            helps[name].add(options[f"--{name}"].help)
        assert ("--json" in options) == ("--format" in options), path
        if "--json" in options:
            helps["--json"].add(options["--json"].help)
            formats.add(tuple(options["--format"].type.choices))
    assert all(len(texts) == 1 for texts in helps.values()), helps
    assert formats == {("table", "csv", "json"), ("text", "json")}
    assert len(NOUNS) == len({path[0] for path, _ in leaves(root)})


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("account", "add", "bob", "--password", "x"),
        ("account", "password", "alice", "--password", "y"),
        ("account", "disable", "alice"),
        ("account", "enable", "alice"),
        ("account", "ban", "alice"),
        ("account", "unban", "alice"),
        ("account", "remove", "alice"),
        ("account", "address", "ban", "192.0.2.1"),
        ("world", "add", "Antonia", "--account", "a", "--password", "x"),
        ("opcodes", "set", "OP_MineMsg", "600", "--range", "546-546"),
        ("opcodes", "derive", "64754", "--from", "64753"),
    ],
)
def test_what_writes_names_its_database(words: tuple[str, ...], tmp_path: Path) -> None:
    command = CommandLine(tmp_path)
    command.good("account", "add", "alice", "--password", "x")
    assert f"database: {command.database}\n" in command.good(*words).stderr


def test_what_reads_or_fails_names_none(tmp_path: Path) -> None:
    command = CommandLine(tmp_path)
    command.good("account", "add", "alice", "--password", "x")
    assert "database:" not in command.good("account", "list").output
    assert "database:" not in command.run("account", "add", "alice", "--password", "x").output
