"""The hook `commit-msg`: the rules of CONTRIBUTING.md for the text of a commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools import commit_message
from tools.commit_message import HOOK, faults, install

GOOD = "Save a character before it changes the zone\n\nThe new node read an older row.\n"


@pytest.mark.parametrize(
    "message",
    [
        GOOD,
        "\n" + GOOD,
        f"{GOOD}# Please enter the commit message\n",
        f"{'x' * 72}\n\nThe longest first line that is allowed.\n",
        "Merge branch 'topic'\n",
        'Revert "Save a character before it changes the zone"\n',
        "fixup! Save a character\n",
    ],
)
def test_a_message_by_the_rules_is_taken(message: str) -> None:
    assert faults(message) == []


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("", "empty"),
        ("# only a comment\n", "empty"),
        (f"{'x' * 73}\n\nThe reason.\n", "73 characters"),
        ("Save a character.\n\nThe reason.\n", "full stop"),
        ("Save a character\nThe reason.\n", "second line"),
        ("Save a character\n", "missing"),
        ("Save a character\n\n# a comment is no reason\n", "missing"),
        (f"Save a character\n\n{commit_message.SCISSORS}\ndiff --git a/x b/x\n", "missing"),
    ],
)
def test_a_message_against_the_rules_is_refused(message: str, words: str) -> None:
    assert [line for line in faults(message) if words in line], faults(message)


def test_the_exit_status_and_the_rule_reach_git(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = tmp_path / "message"
    message.write_text(GOOD)
    assert commit_message.main([str(message)]) == 0
    message.write_text("Save a character\n")
    assert commit_message.main([str(message)]) == 1
    assert "CONTRIBUTING.md" in capsys.readouterr().err
    assert commit_message.main([]) == 2


def test_it_is_installed_once_and_leaves_a_hook_of_the_user(tmp_path: Path) -> None:
    assert install(tmp_path) == ""  # no checkout
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    place = tmp_path / ".git" / "hooks" / "commit-msg"
    assert install(tmp_path) == ""
    assert place.read_bytes() == HOOK.read_bytes()
    assert place.stat().st_mode & 0o111
    place.write_text("#!/bin/sh\n# an older commit_message.py\n")
    assert install(tmp_path) == ""
    assert place.read_bytes() == HOOK.read_bytes()
    place.write_text("#!/bin/sh\nexit 0\n")
    assert "your own hook" in install(tmp_path)
    assert place.read_text() == "#!/bin/sh\nexit 0\n"
