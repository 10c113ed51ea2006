"""Completion as the shells ask for it, and as the page about tools says."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from emu.opcodes import OpcodeStore, VersionRange
from tests.support.running.forked import forked_words

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent.parent


def offered(line: str, folder: Path, shell: str = "bash") -> list[str]:
    """Return what TAB offers at the end of a command line."""
    words = line.split(" ")
    where = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    if shell == "fish":
        where["COMP_CWORD"] = words[-1]
    done = subprocess.run(
        forked_words("emu"), cwd=folder, capture_output=True, text=True, check=True,
        env={**os.environ, "_EMU_COMPLETE": f"{shell}_complete", **where},
    )  # fmt: skip
    return done.stdout.splitlines()


def test_message_names_are_completed(tmp_path: Path) -> None:
    assert "plain,OP_KeymapLoadMsg" in offered("emu opcodes show OP_Keymap", tmp_path)
    assert "plain,OP_KeymapLoadMsg" in offered("emu opcodes set op_keymap", tmp_path)
    assert "plain,OP_KeymapLoadMsg" in offered("emu opcodes unset OP_Keymap", tmp_path)
    assert "plain,OP_KeymapLoadMsg" in offered("emu opcodes history --name OP_Keymap", tmp_path)
    assert offered("emu opcodes show OP_NoSuchThing", tmp_path) == [""]


def test_struct_names_are_completed(tmp_path: Path) -> None:
    for verb in ("show", "decode", "encode", "list"):
        assert "plain,WS_HearChat" in offered(f"emu structs {verb} WS_Hear", tmp_path)


def test_names_of_the_chosen_database_are_completed(tmp_path: Path) -> None:
    path = tmp_path / "mine.sqlite"
    with OpcodeStore.ensure(path) as store:
        store.set(VersionRange(546, 546), "OP_OfMyOwnMsg", 600)
    line = f"emu --db {path} opcodes show OP_OfMy"
    assert offered(line, tmp_path) == ["plain,OP_OfMyOwnMsg"]


def test_a_damaged_database_costs_no_completion(tmp_path: Path) -> None:
    path = tmp_path / "bad.sqlite"
    path.write_bytes(b"no database at all" * 100)
    assert offered(f"emu --db {path} opcodes show OP_KeymapL", tmp_path)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script_as_documented(shell: str, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "guides" / "tools.md").read_text(encoding="utf-8")
    assert re.search(rf"_EMU_COMPLETE={shell}_source emu\b", page)
    done = subprocess.run(
        forked_words("emu"), cwd=tmp_path, capture_output=True, text=True, check=True,
        env={**os.environ, "_EMU_COMPLETE": f"{shell}_source"},
    )  # fmt: skip
    assert f"_EMU_COMPLETE={shell}_complete" in done.stdout
    if shell != "bash":
        assert offered("emu structs show WS_HearCha", tmp_path, shell)
