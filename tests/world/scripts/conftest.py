"""A world with scripts for each test."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from emu.scripts import runtime
from emu.scripts.runtime import ScriptLimits
from tests.support.world.script_scenes import ScriptScene


@pytest.fixture(autouse=True)
def patient_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the guard count instructions only: on a busy machine each takes more CPU time."""
    limits = replace(ScriptLimits(), seconds=60.0)
    monkeypatch.setattr(runtime, "ScriptLimits", lambda: limits)


@pytest.fixture
def scene(tmp_path: Path) -> ScriptScene:
    return ScriptScene(tmp_path)
