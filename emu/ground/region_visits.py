"""The regions that one player is in: what he enters, leaves and loses.

A player who comes into the volume of a region enters it. He leaves it when he leaves the volume
inside of its sphere. If he leaves the sphere in one step, or a script removes the region, he loses
it: its script's ticks end, and LeaveRegion is not called.
Source: docs/protocol/maps.md#region-scripts.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

from emu.ground.ground_layout import Point
from emu.ground.regions import Region, Substance, ZoneRegions
from emu.times import Monotonic

INTERVAL: Final = 0.125
"""Seconds between two checks of one player."""


class Visit(Enum):
    """What happened between a player and a region."""

    ENTERED = "entered"
    LEFT = "left"
    LOST = "lost"


class RegionVisit(NamedTuple):
    """One such event."""

    visit: Visit
    region: Region
    substance: Substance
    """The substance at the entry; the script gets its number if that is above 0."""


class RegionVisits:
    """The regions of one zone that one player is in."""

    def __init__(self, regions: ZoneRegions) -> None:
        self.regions = regions
        self._stays: dict[Region, Substance] = {}
        self._place: Point | None = None
        self._surface = 0, 0
        self._next_check = 0.0

    @property
    def inside(self) -> list[Region]:
        """The regions that the player is in."""
        return list(self._stays)

    def moved(self, place: Point, grid: int = 0, widget: int = 0) -> None:
        """Note a new place, with grid and widget of the surface there."""
        self._place, self._surface = place, (grid, widget)

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` has something to do; None if the player stands."""
        return None if self._place is None else Monotonic(self._next_check)

    def handle_timer(self, now: Monotonic) -> list[RegionVisit]:
        """Return the events of the last place, in the order in which scripts run."""
        place = self._place
        if place is None or now < self._next_check:
            return []
        self._place, self._next_check = None, now + INTERVAL
        visits = []
        present = set()
        for region in self.regions:
            present.add(region)
            visit = self._visit(region, place)
            if visit is not None:
                visits.append(visit)
        lost = [one for one in self._stays if one not in present]
        return visits + [RegionVisit(Visit.LOST, one, self._stays.pop(one)) for one in lost]

    def _visit(self, region: Region, place: Point) -> RegionVisit | None:
        """Return the event of one region, None if nothing has changed."""
        before, substance = self._stays.get(region), self._substance(region, place)
        if substance is not Substance.NONE:
            if before is not None:
                return None
            self._stays[region] = substance
            return RegionVisit(Visit.ENTERED, region, substance)
        if before is None:
            return None
        del self._stays[region]
        is_left = bool(region.widget) or region.is_near(place)
        return RegionVisit(Visit.LEFT if is_left else Visit.LOST, region, before)

    def _substance(self, region: Region, place: Point) -> Substance:
        """Return the substance of a region at a place.

        A widget's region has its grid only: the widget itself, and a sphere if it has a radius.
        """
        if not region.widget:
            return region.substance(place)
        grid, widget = self._surface
        is_at = widget == region.widget or (region.radius > 0 and region.is_near(place))
        return Substance.UNTAGGED if grid == region.grid and is_at else Substance.NONE
