"""A world with scripts for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.world.script_scenes import ScriptScene


@pytest.fixture
def scene(tmp_path: Path) -> ScriptScene:
    return ScriptScene(tmp_path)
