"""The commands, keys and links of the README, and of the pages that continue it, work."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from emu.cli.main import NOUNS, root
from emu.config import Config
from emu.config.reference import as_toml
from tests.support.running.documented import (
    INSTALLING,
    ON_A_SERVER,
    README,
    TOOLS,
    before,
    code_lines,
    examples,
    prepare,
    words_of,
)
from tests.support.running.forked import forked_words

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent


def test_the_two_commands_come_first_and_are_targets() -> None:
    assert [line.split("#")[0].strip() for line in code_lines()[:2]] == ["make run", "make test"]
    for target in re.findall(r"(?:`|^    )make ([a-z-]+)", README, flags=re.MULTILINE):
        done = subprocess.run(
            ["make", "-n", target, f"VENV={BIN.parent}"],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"make {target}: {done.stderr}"


@pytest.mark.slow
def test_the_first_run_says_in_three_lines_what_it_made_and_the_second_nothing(
    tmp_path: Path,
) -> None:
    command = [sys.executable, str(ROOT / "tools" / "first_run.py"), "--state", "state"]
    run = partial(subprocess.run, command, cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = run().stdout.splitlines()
    assert (tmp_path / "state" / "emu.toml").exists()
    assert (tmp_path / "state" / "emu.sqlite").exists()
    assert lines[0] == "made state/emu.toml, state/emu.sqlite and the account testlabs"
    assert len(lines) == 3
    words = shlex.split(lines[2])
    assert Path(words[0]) == BIN / "emu"
    assert lines[2].replace(f"{BIN}", ".venv/bin") in README
    done = subprocess.run(
        [*forked_words("emu"), *words[1:], "--help"],  # there is no server here
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert run().stdout == ""


@pytest.mark.slow
def test_the_first_run_names_the_configuration_that_no_command_finds_alone(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "tools" / "first_run.py"), "--state", "elsewhere"]
    first = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    words = shlex.split(first.stdout.splitlines()[2])
    assert words[1:3] == ["--config", "elsewhere/emu.toml"]


def test_the_page_about_tools_names_every_noun_and_only_those() -> None:
    named = set(re.findall(r"^\| `emu ([a-z]+)`", TOOLS, flags=re.MULTILINE))
    assert named == set(NOUNS)


def test_the_keys_in_the_tables_exist_with_their_defaults() -> None:
    settings = tomllib.loads("\n".join(as_toml(Config())))
    for table, key in re.findall(r"`([a-z]+)\.([a-z_]+)`", INSTALLING):
        assert key in settings[table], f"{table}.{key}"
    for table, key, default in re.findall(
        r"^\| `([a-z]+)\.([a-z_]+)` \| `([^`~]+)` \|", INSTALLING, flags=re.MULTILINE
    ):
        assert str(settings[table][key]) == default.strip('"').replace("false", "False")


LONGEST_README = 90
"""Lines: one and a half screens."""


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= LONGEST_README


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_the_links_lead_to_files(name: str) -> None:
    links = re.findall(r"\]\(([^)#]+)", (ROOT / name).read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_programs_of_the_readme_are_there() -> None:
    for line in code_lines():
        words = line.split()
        if words and "/bin/" in words[0]:
            assert (BIN / Path(words[0]).name).exists(), line


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, few_opcodes: None) -> Path:
    """A folder with the files that the examples need; each runs in a copy of it."""
    folder = tmp_path_factory.mktemp("prepared")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for words in prepare(folder):
            succeed(words)
    return folder


def succeed(words: list[str]) -> Result:
    result = CliRunner().invoke(root, words, input="secret\nsecret\n")
    assert result.exit_code == 0, (words, result.output, result.exception)
    return result


def interrupted(_seconds: float) -> None:
    raise KeyboardInterrupt


@pytest.mark.slow
@pytest.mark.parametrize("line", [one for one in examples() if not one.startswith(ON_A_SERVER)])
def test_every_documented_command_runs(
    line: str, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run each example, but those that need a server; the tests of a whole server run them."""
    folder = tmp_path / "copy"
    shutil.copytree(prepared, folder)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("EMU_CONFIG", raising=False)
    monkeypatch.setattr("emu.cli.capture.time.sleep", interrupted)  # following ends with Ctrl-C
    monkeypatch.setattr("emu.cli.opcodes.edit.is_terminal", lambda: True)
    monkeypatch.setattr("emu.cli.opcodes.editor.OpcodeEditor.run", lambda _editor: None)
    for words in before(line):
        succeed(words)
    succeed(words_of(line))
