"""Functions that ask the map of a zone, and change it.

Source: docs/guides/lua.md#maps.
"""

from __future__ import annotations

from typing import Final

from emu.scripts.signatures import FunctionTable
from emu.world.scripts.bodies import Body, Home
from emu.world.scripts.host import Scripts
from emu.world.zones.ground import WidgetRegion

MAPS: Final = FunctionTable()
MOST_CHANGES: Final = 1000
"""Widgets and regions that scripts change in one zone."""


# -- questions ------------------------------------------------------------------------------------


@MAPS("CheckLOS", "S spawn, S other")
def sees(scripts: Scripts, body: Body | None, other: Body | None) -> bool:
    """Return whether two spawns have a line of sight; everybody has one without a map."""
    if body is None or other is None or body.home is not other.home:
        return False
    return scripts.grounds.sees(body.home.zone, body.spawn, other.spawn)


@MAPS("CheckLOSByCoordinates", "S spawn, f x, f y, f z")
def sees_place(scripts: Scripts, body: Body | None, x: float, y: float, z: float) -> bool:
    """Return whether a spawn has a line of sight to somebody who stands at a place."""
    if body is None:
        return False
    at = body.spawn.position
    return scripts.grounds.of(body.home.zone).sees(at, at._replace(x=x, y=y, z=z))


@MAPS("InWater", "S spawn")
def is_in_water(scripts: Scripts, body: Body | None) -> bool:
    """Return whether a spawn is in water, as the regions of the map have it."""
    if body is None:
        return False
    return scripts.grounds.of(body.home.zone).is_water(body.spawn.position)


@MAPS("InLava", "S spawn")
def is_in_lava(scripts: Scripts, body: Body | None) -> bool:
    """Return whether a spawn is in lava or another deadly region of the map."""
    if body is None:
        return False
    return scripts.grounds.of(body.home.zone).is_lava(body.spawn.position)


# -- changes --------------------------------------------------------------------------------------


@MAPS("RemoveWidgetFromZoneMap", "Z zone, u widget")
def remove_widget(scripts: Scripts, home: Home | None, widget: int) -> bool:
    """Remove a widget from a zone's map; only while the zone starts, else it returns false."""
    if home is None or home.is_ready or not widget:
        return False
    ground = scripts.grounds.of(home.zone)
    removed = ground.changes.removed
    if widget not in removed and len(removed) < MOST_CHANGES:
        ground.remove_widget(widget)
    return widget in removed


@MAPS(
    "CreateWidgetRegion",
    "Z zone, u version, t region, t environment, u grid, u widget, f distance",
)
def add_region(
    scripts: Scripts, home: Home | None, version: int, region: str, environment: str, grid: int,
    widget: int, distance: float,
) -> bool:  # fmt: skip
    """Add a region around a widget to a zone's map, for clients with the map of a version."""
    if home is None or not region or distance <= 0:
        return False
    ground = scripts.grounds.of(home.zone)
    if len(ground.changes.regions) >= MOST_CHANGES:
        return False
    ground.add_region(version, region, WidgetRegion(environment, grid, widget, distance))
    return True


@MAPS("RemoveRegion", "Z zone, u version, t region")
def remove_region(scripts: Scripts, home: Home | None, version: int, region: str) -> bool:
    """Remove a region that a script has added to a zone's map."""
    return home is not None and scripts.grounds.of(home.zone).remove_region(version, region)
