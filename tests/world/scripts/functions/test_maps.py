"""What scripts change in the map of a zone."""

import pytest

from emu.world.scripts.bodies import WidgetRegion
from emu.world.scripts.functions import maps
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
    home = scene.scripts.homes.of(scene.zone)
    assert home.changes.removed_widgets == {3680524526}
    assert maps.remove_widget(scene.scripts, home, 7) is False
    assert home.changes.removed_widgets == {3680524526}
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
    assert home.changes.regions == {(1, "Pond"): expected}
    assert maps.remove_region(scene.scripts, home, 2, "Pond") is False
    assert maps.remove_region(scene.scripts, home, 1, "Pond") is True
    assert maps.remove_region(scene.scripts, home, 1, "Pond") is False
    assert scene.lines == []
