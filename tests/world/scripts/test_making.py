"""The maker of spawns: what it does without content, and with a full zone."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


class FullZones:
    """A zone with places, to which nothing can be added."""

    def __init__(self, scene: ScriptScene) -> None:
        self.standing = scene.standing("made.lua")
        self.factions = {7: {"name": "The Watch", "default": -200}}

    def population(self, _zone: Any) -> Any:
        return self

    def make_at(self, *_where: Any) -> Any:
        return self.standing

    def make_group(self, *_where: Any) -> Any:
        return [self.standing, self.standing]

    def make_one(self, *_where: Any) -> Any:
        return self.standing

    def put_spawn(self, *_what: Any) -> None:
        return None

    def despawn(self, _zone: Any, _spawn: Any) -> None:
        """Nothing stands here."""

    def keep_dead(self, *_where: Any) -> bool:
        return False


@pytest.mark.parametrize("is_full", [True, False])
def test_nothing_is_made_without_content_or_in_a_full_zone(tmp_path: Path, is_full: bool) -> None:
    scene = ScriptScene(tmp_path)
    maker = scene.scripts.maker
    maker.zones = FullZones(scene) if is_full else None
    home = scene.scripts.homes.of(scene.zone)
    assert maker.at_location(home, 70) is None
    assert maker.group(home, 5) == []
    assert maker.one(home, 980, (1.0, 2.0, 3.0, 0.0), is_private=True) is None
    assert list(scene.zone) == [scene.player.spawn]
    row = maker.faction(home, 7)
    assert (row["name"] if row is not None else "") == ("The Watch" if is_full else "")
    assert maker.usual_standing(home, 7) == (-200 if is_full else 0)
    assert (maker.faction(home, 8), maker.usual_standing(home, 8)) == (None, 0)
