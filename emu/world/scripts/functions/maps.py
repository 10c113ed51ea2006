"""Functions for the map of a zone: widgets that are removed, regions that are added.

Maps are not read yet: the changes wait for them. Source: docs/guides/lua.md#maps.
"""

from __future__ import annotations

from typing import Final

from emu.scripts.signatures import FunctionTable
from emu.world.scripts.bodies import Home, WidgetRegion
from emu.world.scripts.host import Scripts

MAPS: Final = FunctionTable()
MOST_CHANGES: Final = 1000
"""Widgets and regions that scripts change in one zone."""


@MAPS("RemoveWidgetFromZoneMap", "Z zone, u widget")
def remove_widget(_scripts: Scripts, home: Home | None, widget: int) -> bool:
    """Remove a widget from a zone's map; only while the zone starts, else it returns false."""
    if home is None or home.is_ready or not widget:
        return False
    removed = home.changes.removed_widgets
    if len(removed) < MOST_CHANGES:
        removed.add(widget)
    return widget in removed


@MAPS(
    "CreateWidgetRegion",
    "Z zone, u version, t region, t environment, u grid, u widget, f distance",
)
def add_region(
    _scripts: Scripts, home: Home | None, version: int, region: str, environment: str, grid: int,
    widget: int, distance: float,
) -> bool:  # fmt: skip
    """Add a region around a widget to a zone's map."""
    if home is None or not region or distance <= 0 or len(home.changes.regions) >= MOST_CHANGES:
        return False
    found = WidgetRegion(environment, grid, widget, distance)
    home.changes.regions[version, region] = found
    return True


@MAPS("RemoveRegion", "Z zone, u version, t region")
def remove_region(_scripts: Scripts, home: Home | None, version: int, region: str) -> bool:
    """Remove a region that a script has added to a zone's map."""
    return home is not None and home.changes.regions.pop((version, region), None) is not None
