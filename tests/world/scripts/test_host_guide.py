"""The scripts, settings and commands of docs/guides/lua.md, each as it stands there."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import attrs
import click
import pytest

from emu.cli.main import root
from emu.config.world import WorldConfig
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "lua.md"


def blocks() -> Iterator[str]:
    """Yield the indented blocks of the guide."""
    text = GUIDE.read_text(encoding="utf-8")
    for block in re.findall(r"(?:^ {4}.*\n|(?<=\n)\n(?= {4}))+", text, re.MULTILINE):
        yield "\n".join(line[4:] for line in block.strip("\n").split("\n"))


SCRIPTS = [block for block in blocks() if "function " in block]
COMMANDS = [
    line.partition("#")[0].split()[1:]
    for block in blocks()
    for line in block.split("\n")
    if line.startswith("emu ")
]
SETTINGS = [block for block in blocks() if block.startswith("[")]


def test_the_first_script_answers_a_hail(tmp_path: Path) -> None:
    scene = ScriptScene(tmp_path)
    assert scene.hail(scene.spawn(SCRIPTS[0])) == [("Guard", "Well met, Aldana.")]


@pytest.mark.slow
@pytest.mark.parametrize("source", SCRIPTS)
def test_every_script_loads_and_answers_without_an_error(tmp_path: Path, source: str) -> None:
    scene = ScriptScene(tmp_path)
    scene.hail(scene.spawn(source))
    assert scene.lines == []


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_is_there(words: list[str]) -> None:
    group: click.Command = root
    context = click.Context(root, info_name="emu")
    for word in words:
        found = group.get_command(context, word) if isinstance(group, click.Group) else None
        if found is None:
            break
        group = found
    assert not isinstance(group, click.Group), words
    options = {name for parameter in group.params for name in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= options


def test_the_settings_are_there() -> None:
    assert SETTINGS
    known = {item.name for item in attrs.fields(WorldConfig)}
    for block in SETTINGS:
        assert set(tomllib.loads(block)["world"]) <= known
