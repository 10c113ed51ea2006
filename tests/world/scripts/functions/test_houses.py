"""Functions for the things that stand in houses.

Source: eq2-lua.md 3 (SetSpawnHouseScript, SetHouseCharacterID, SpawnMove and their kin).
"""

from pathlib import Path

import pytest

from emu.world.scripts.functions.houses import HOUSES
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import ScriptScene
from tests.support.world.scripted_houses import CRATE, ScriptedHouse

pytest.importorskip("lupa", reason="the package lupa is not installed")


@pytest.mark.parametrize("version", [546, 60114])
def test_a_placed_thing_has_a_script_of_its_own(tmp_path: Path, version: int) -> None:
    scene = ScriptedHouse(tmp_path, version)
    scene.places()
    assert scene.shops() == [f"5 {CRATE}", "0 0", "Nothing is for sale here."]
    assert len(scene.client.decoded("WS_MoveObjectMode")) == 2
    assert scene.reported == []


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), HOUSES) == []
