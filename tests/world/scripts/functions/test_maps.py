"""What scripts change in the map of a zone."""

from pathlib import Path

import pytest

from emu.ground.map_names import MapName
from emu.world.scripts.functions import maps
from emu.world.scripts.functions.maps import MAPS
from emu.world.zones.ground import WidgetRegion
from tests.support.ground.region_bytes import LAVA, pool
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

REGION = 'CreateWidgetRegion(Zone, 1, "Pond", "water", 7, 924281492, 2.5)'


def test_widgets_are_removed_while_the_zone_starts(scene: ScriptScene) -> None:
    scene.zone_script("""
        function preinit_zone_script(Zone)
            RemoveWidgetFromZoneMap(Zone, 3680524526)
            RemoveWidgetFromZoneMap(Zone, 0)
            RemoveWidgetFromZoneMap(nil, 5)
        end
        function init_zone_script(Zone) RemoveWidgetFromZoneMap(nil, 6) end""")
    home, changes = scene.scripts.homes.of(scene.zone), scene.scripts.grounds.of(scene.zone).changes
    assert changes.removed == {3680524526}
    assert maps.remove_widget(scene.scripts, home, 7) is False
    assert changes.removed == {3680524526}
    assert scene.lines == []


def test_only_so_many_widgets_are_removed(
    scene: ScriptScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maps, "MOST_CHANGES", 2)
    home = scene.scripts.homes.of(scene.zone)
    assert [maps.remove_widget(scene.scripts, home, number) for number in (1, 2, 3, 1)] == [
        True, True, False, True,
    ]  # fmt: skip


def test_regions_are_added_and_removed(scene: ScriptScene) -> None:
    scene.zone_script(f"""
        function init_zone_script(Zone)
            {REGION}
            CreateWidgetRegion(Zone, 1, "", "", 7, 9, 2.5)
        end
    """)
    home = scene.scripts.homes.of(scene.zone)
    expected = WidgetRegion("water", 7, 924281492, 2.5)
    assert scene.scripts.grounds.of(scene.zone).changes.regions == {(1, "Pond"): expected}
    assert maps.remove_region(scene.scripts, home, 1, "Sea") is False
    assert maps.remove_region(scene.scripts, home, 1, "Pond") is True
    assert maps.remove_region(scene.scripts, home, 1, "Pond") is False
    assert scene.lines == []


def test_regions_of_the_map_are_removed_by_a_part_of_their_names(scene: ScriptScene) -> None:
    """Source: RemoveRegionNode of the C++ server."""
    file, ground = scene.zone.definition.file, scene.scripts.grounds.of(scene.zone)
    lakes = [pool((0, 0, 0), (9, 9, 9), file=f"{name}.region") for name in ("lake_a", "sea")]
    scene.scripts.grounds.note_regions(file, {MapName(file.lower()): lakes})
    home = scene.scripts.homes.of(scene.zone)
    assert maps.remove_region(scene.scripts, home, 0, "lake_") is True
    assert list(ground.regions) == lakes[1:]
    assert ground.regions_for(546) == lakes[1:]
    assert maps.remove_region(scene.scripts, home, 0, "lake_") is False


def test_scripts_ask_the_map(scene: ScriptScene) -> None:
    """Without a map all is seen; the walls of one are in tests/world/test_maps.py."""
    file, at = scene.zone.definition.file, (3.0, -7.97, 243.45)
    low, high = [one - 1 for one in at], [one + 1 for one in at]
    lava = pool((low[0], low[1], low[2]), (high[0], high[1], high[2]), kind=1, special=LAVA)
    scene.scripts.grounds.note_regions(file, {MapName(file.lower()): [lava]})
    assert scene.says(
        "", "CheckLOS(NPC, Spawn)", "CheckLOSByCoordinates(NPC, 1, 2, 3)", "InLava(NPC)",
        "InWater(NPC)", "InLava(Spawn)", "CheckLOS(NPC, nil)", "InLava(nil)", "InWater(nil)",
        "CheckLOSByCoordinates(nil, 1, 2, 3)",
    ) == ["true", "true", "true", "false", "false", "false", "false", "false", "false"]  # fmt: skip


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), MAPS) == []
