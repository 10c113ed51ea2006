"""What the README tells a newcomer to type is typed here."""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

from emu.cli.config import as_toml
from emu.cli.main import NOUNS, root
from emu.config import Config

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BIN = Path(sys.executable).parent


def code_lines() -> list[str]:
    return [line.strip() for line in README.splitlines() if line.startswith("    ")]


def test_the_two_commands_come_first_and_are_targets() -> None:
    assert [line.split("#")[0].strip() for line in code_lines()[:2]] == ["make run", "make test"]
    for target in re.findall(r"(?:`|^    )make ([a-z-]+)", README, flags=re.MULTILINE):
        done = subprocess.run(
            ["make", "-n", target, f"VENV={BIN.parent}"],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"make {target}: {done.stderr}"


def test_the_first_run_makes_what_the_readme_shows(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "tools" / "first_run.py"), "--state", str(tmp_path)]
    first = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (tmp_path / "emu.toml").exists()
    assert (tmp_path / "emu.sqlite").exists()
    assert "testlabs" in first.stdout
    second = subprocess.run(command, capture_output=True, text=True, check=True)
    assert second.stdout == first.stdout[first.stdout.index("next, in another terminal:") :]
    run_the_next_commands(second.stdout, tmp_path)


def run_the_next_commands(told: str, state: Path) -> None:
    """Run what `make run` says may be typed next, from a folder that has nothing to do with it."""
    lines = [line.strip() for line in told.splitlines()[1:]]
    assert len(lines) > 3
    for line in lines:
        words = shlex.split(line, comments=True)
        assert words[1:3] == ["--config", str(state / "emu.toml")]
        if words[3] == "client" or "edit" in words:
            words.append("--help")  # there is no server and no terminal here
        done = subprocess.run(
            words, cwd="/", input="secret\n", capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (line, done.stderr)


def test_the_readme_names_every_noun_and_only_those() -> None:
    named = set(re.findall(r"^\| `emu ([a-z]+)`", README, flags=re.MULTILINE))
    assert named == set(NOUNS)


def test_the_keys_of_the_readme_exist_with_their_defaults() -> None:
    settings = tomllib.loads("\n".join(as_toml(Config())))
    for table, key in re.findall(r"`([a-z]+)\.([a-z_]+)`", README):
        assert key in settings[table], f"{table}.{key}"
    for table, key, default in re.findall(
        r"^\| `([a-z]+)\.([a-z_]+)` \| `([^`~]+)` \|", README, flags=re.MULTILINE
    ):
        assert str(settings[table][key]) == default.strip('"').replace("false", "False")


def test_the_programs_of_the_readme_are_there() -> None:
    for line in code_lines():
        words = line.split()
        if words and "/bin/" in words[0]:
            assert (BIN / Path(words[0]).name).exists(), line


def examples() -> list[str]:
    """Each example that the help of a command shows, and each emu command of the README."""
    found = [
        line.removeprefix(".venv/bin/")
        for line in code_lines()
        if line.removeprefix(".venv/bin/").startswith("emu ")
    ]

    def walk(group: click.Group) -> None:
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            text = f"{command.help or ''}\n{command.epilog or ''}"
            found.extend(re.findall(r"\b(emu (?:-|[a-z]).*)", "".join(text.split("Example")[1:])))
            if isinstance(command, click.Group):
                walk(command)

    assert isinstance(root, click.Group)
    walk(root)
    return sorted(set(found))


@pytest.mark.parametrize("line", examples())
def test_every_documented_command_line_makes_sense(line: str) -> None:
    """Each is parsed by the real parser, up to the point where it would begin its work."""
    words = shlex.split(line, comments=True)
    for stop in ("|", ">", "<", "&&", ";"):
        if stop in words:
            words = words[: words.index(stop)]
    arguments = words[1:]
    group: click.Command = root
    context = click.Context(root, info_name="emu")
    while isinstance(group, click.Group):
        made = group.make_context(group.name or "emu", list(arguments), parent=context,
                                  allow_extra_args=True, allow_interspersed_args=False)  # fmt: skip
        rest = (
            [*made._protected_args, *made.args] if hasattr(made, "_protected_args") else made.args
        )
        name, command, arguments = group.resolve_command(made, rest)
        assert command is not None, f"{line}: {name} is no command"
        group, context = command, made
    try:
        group.make_context(group.name, list(arguments), parent=context)
    except click.FileError:
        pass
    except click.BadParameter as error:
        assert "does not exist" in error.format_message(), line  # noqa: PT017
