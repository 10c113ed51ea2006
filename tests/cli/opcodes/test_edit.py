"""`emu opcodes edit` needs a terminal and textual, and says so in one line."""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from click.testing import CliRunner

from emu.cli.installed import install_command
from emu.cli.main import root
from emu.opcodes import OpcodeStore


def test_without_textual_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec

    def missing(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name == "textual" else real(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", missing)
    result = CliRunner().invoke(root, ["opcodes", "edit"])
    assert result.exit_code == 1
    assert str(result.exception) == (
        f"the editor needs textual; install it with: {install_command('editor')}"
    )


def test_without_a_terminal_it_says_what_to_use() -> None:
    result = CliRunner().invoke(root, ["opcodes", "edit"])
    assert result.exit_code == 1
    assert "the editor needs a terminal" in str(result.exception)


@pytest.mark.slow
def test_it_opens_the_database_at_a_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("textual")
    opened = []

    def run(editor: object) -> None:
        opened.append(editor)

    monkeypatch.setattr("emu.cli.opcodes.editor.OpcodeEditor.run", run)
    monkeypatch.setattr("emu.cli.opcodes.edit.is_terminal", lambda: True)
    path = tmp_path / "emu.sqlite"
    words = ["opcodes", "--db", str(path), "edit", "--version", "546"]
    assert CliRunner().invoke(root, words).exit_code == 0
    assert len(opened) == 1
    with OpcodeStore(path) as store:
        assert store.rows()
    assert "textual" in sys.modules
