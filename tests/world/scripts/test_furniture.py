"""Scripts of the things that stand in houses: their life.

Source: eq2-lua.md 2.4 (`placed`: put into a house).
"""

from pathlib import Path

import pytest

from tests.support.world.scripted_houses import CRATE, ScriptedHouse

pytest.importorskip("lupa", reason="the package lupa is not installed")


def test_a_thing_has_its_script_again_when_the_house_is_opened(tmp_path: Path) -> None:
    scene = ScriptedHouse(tmp_path, 546)
    scene.places()
    house = scene.player.zone
    scene.harness.service.send_away(scene.player, "test", scene.harness.now)
    scene.harness.run(400.0)
    scene.client = scene.harness.stand(5, 546)
    assert scene.client.player is not None
    scene.player = scene.client.player
    scene.harness.run(1.0)
    assert scene.player.zone is not house
    assert scene.shops()[0] == f"5 {CRATE}"


def test_a_thing_that_is_picked_up_is_gone_for_scripts(tmp_path: Path) -> None:
    scene = ScriptedHouse(tmp_path, 546)
    scene.places()
    scripts = scene.harness.parts.scripts
    assert scripts is not None
    home = scripts.homes.of(scene.player.zone)
    assert len(home.furniture) == 1
    (crate,) = [one for one in scene.player.zone if one.name == "a crate"]
    scene.player.set_target(crate)
    scene.client.types("/pickup")
    scene.harness.run(1.0)
    assert not home.furniture
    assert crate.id not in home.bodies
