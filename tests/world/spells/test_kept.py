"""What players keep of spells over a change of the zone."""

from pathlib import Path

import pytest

from emu.world.events import Entered, LeftZone
from emu.world.spells.living import Ward
from tests.support.world.spell_scenes import BUFF, SMITE, SpellScene

pytest.importorskip("lupa", reason="the package lupa is not installed")
COURAGE, SMITE_ID = 110002, 110014


def change_zone(scene: SpellScene, seconds: float = 5.0) -> None:
    """Leave and enter, as a change of the zone does."""
    events, player = scene.harness.world.events, scene.player
    events.publish(LeftZone(player))
    assert scene.spells.states.get(player.spawn) is None
    assert player.spawn.sheet.attribute("sta") == 20
    scene.run(seconds)
    events.publish(Entered(player, scene.harness.now))


def test_own_spells_go_on_with_the_time_that_was_left(tmp_path: Path) -> None:
    timed = BUFF.replace("lasts_until_cancelled = true\ncast_kind = 1\n", "")
    scene = SpellScene(tmp_path, toml=timed.replace("duration1 = 432000", "duration1 = 600"))
    scene.know(COURAGE)
    scene.cast(COURAGE)
    scene.effects()[0].ward = Ward(30, kept=True)
    scene.run(20.0)
    change_zone(scene)
    (spell,) = scene.effects()
    assert scene.player.spawn.sheet.attribute("sta") == 32
    assert spell.ward is not None
    assert spell.seconds_left(scene.harness.now) == pytest.approx(40.0, abs=0.2)
    scene.run(41.0)
    assert scene.effects() == []
    assert scene.player.spawn.sheet.attribute("sta") == 20


def test_a_toggle_stays_on_and_holds_its_concentration(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=BUFF)
    scene.know(COURAGE)
    scene.cast(COURAGE)
    change_zone(scene)
    assert scene.state().concentration == 1
    scene.cast(COURAGE)
    assert scene.effects() == []
    assert scene.state().concentration == 0


def test_what_others_gave_and_harm_stay_behind(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=BUFF)
    friend = scene.friend()
    scene.spells.cast_for_free(friend, scene.kind(COURAGE), 1, scene.player.spawn)
    assert len(scene.effects()) == 1
    change_zone(scene)
    assert scene.effects() == []


def test_recasts_stay(tmp_path: Path) -> None:
    slow = SMITE.replace("recast = 3", "recast = 30")
    scene = SpellScene(tmp_path, toml=slow)
    scene.cast(SMITE_ID, scene.creature())
    scene.run(3.0)
    due = scene.state().ready[SMITE_ID]
    change_zone(scene)
    assert scene.state().ready[SMITE_ID] == due
    change_zone(scene, 40.0)
    assert SMITE_ID not in scene.state().ready
