"""The public scripts of regions run for a player: none ends in an error of this server."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import attrs
import pytest

from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

FOLDER = os.environ.get("EMU_CONTENT_SCRIPTS", "")
TICKS = 12.0
"""Seconds in a region: lava burns each 5 s."""


@pytest.mark.skipif(not FOLDER, reason="EMU_CONTENT_SCRIPTS names no folder of public scripts")
def test_every_script_of_a_region_runs() -> None:
    folder = Path(FOLDER)
    scripts = sorted(path for path in (folder / "RegionScripts").rglob("*.lua"))
    assert len(scripts) >= 55
    ran: Counter[str] = Counter()
    scene = ScriptScene(folder)
    definition = scene.zone.definition
    for path in scripts:
        scene.zone.definition = attrs.evolve(definition, file=path.parent.name)
        scene.scripts.zone_starts(scene.zone)
        home, regions = scene.scripts.homes.of(scene.zone), scene.scripts.regions
        name = f"{path.stem}.region"
        found = regions.script(home, name, "")
        assert found.endswith(path.name), path
        for kind in (0, 1, 2):
            regions.entered(scene.zone, scene.player.spawn, name, "", kind)
            ran["entered"] += 1
            scene.harness.run(TICKS)
            regions.left(scene.zone, scene.player.spawn, name, "")
    faults = [str(one) for one in scene.harness.parts.minds.errors.faults()]
    assert faults == []
    assert scene.lines == []
