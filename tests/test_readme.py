"""The commands, keys and links of the README, and of the pages that continue it, work."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
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
def test_the_first_run_makes_what_the_readme_shows(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "tools" / "first_run.py"), "--state", str(tmp_path)]
    first = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (tmp_path / "emu.toml").exists()
    assert (tmp_path / "emu.sqlite").exists()
    assert "testlabs" in first.stdout
    second = subprocess.run(command, capture_output=True, text=True, check=True)
    assert second.stdout == first.stdout[first.stdout.index("next, in another terminal:") :]
    run_the_next_commands(second.stdout, tmp_path)


def run_the_next_commands(printed: str, state: Path) -> None:
    """Run the commands that `make run` suggests, in an unrelated folder."""
    lines = [line.strip() for line in printed.splitlines()[1:]]
    assert len(lines) > 3
    for line in lines:
        words = shlex.split(line, comments=True)
        assert words[1:3] == ["--config", str(state / "emu.toml")]
        if words[3] == "client" or {"edit", "rank"} & set(words):
            words.append("--help")  # there is no server, terminal or character here
        assert Path(words[0]) == BIN / "emu"
        done = subprocess.run(
            [*forked_words("emu"), *words[1:]],
            cwd="/",
            input="long enough\n",
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (line, done.stderr)


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
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
