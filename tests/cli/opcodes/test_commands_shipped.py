"""`emu opcodes check` on all tables that ship; the other tests of the commands have a few."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from emu.cli.main import root

pytestmark = pytest.mark.slow


def test_check_is_silent_about_shipped_rows(db: Path) -> None:
    result = CliRunner().invoke(root, ["opcodes", "--db", str(db), "check", "--format", "json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == []
