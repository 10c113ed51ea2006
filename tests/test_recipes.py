"""The recipes for contributors work: each runs, exactly as shown, in a copy of the project."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.examples import nightly
from tests.support.running.guides import Block, Shell, blocks, change_file, commands

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent
RECIPES = sorted((ROOT / "docs" / "contributing" / "recipes").glob("*.md"))
NIGHTLY = {"hook", "opcode", "setting"}
"""A recipe takes ten seconds. The others run the same commands, and change more layers."""
COPIED = (
    "emu", "data", "opcodes", "docs", "tests", "tools", "twistd-plugins", "pyproject.toml",
    "Makefile", "README.md", "CHANGELOG.md", ".importlinter",
)  # fmt: skip
# Compiled modules are copied, with the times of their sources: to make them anew takes longer than
# most recipes.
LEFT_OUT = shutil.ignore_patterns("node_modules", "*.so")


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Shell]:
    """A copy of the project in which `.venv` is this Python's environment."""
    folder = tmp_path / "emu"
    folder.mkdir()
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=LEFT_OUT)
        else:
            shutil.copy2(ROOT / name, folder / name)
    (folder / ".venv").symlink_to(Path(sys.prefix), target_is_directory=True)
    # The environment's editable install would import emu from the original.
    # The examples of properties that the recipes do not write are tried by the other tests.
    yield Shell(
        folder, PYTHONPATH=str(folder), HOME=os.environ["HOME"],
        PYTEST_ADDOPTS=f"{os.environ.get('PYTEST_ADDOPTS', '')} --hypothesis-profile=quick",
    )  # fmt: skip
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    "page",
    [nightly(page) if page.stem in NIGHTLY else page for page in RECIPES],
    ids=lambda page: page.stem,
)
def test_a_recipe_works_as_shown(page: Path, checkout: Shell) -> None:
    found = blocks(page)
    assert any(block.title for block in found), "a recipe changes files"
    assert any(block.language == "console" for block in found), "a recipe runs something"
    for block in found:
        if block.title:
            change_file(checkout.folder, block)
        elif block.language == "console":
            for command, shown in commands(block.text):
                checkout.type(command, shown)
        else:
            pytest.fail(f"no test runs this block: {block.text}")


def test_a_block_with_a_title_is_a_new_file_or_the_end_of_one(tmp_path: Path) -> None:
    block = Block("toml", "new/file.toml", "one = 1\n")
    change_file(tmp_path, block)
    change_file(tmp_path, block)
    assert (tmp_path / "new" / "file.toml").read_text() == "one = 1\none = 1\n"


def test_a_diff_changes_the_one_place_that_has_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("one\ntwo\nthree\n")
    change_file(tmp_path, Block("diff", "file", " one\n-two\n+2\n"))
    assert path.read_text() == "one\n2\nthree\n"
    with pytest.raises(AssertionError, match="0 places"):
        change_file(tmp_path, Block("diff", "file", " one\n-two\n+2\n"))
