"""Regions of a zone: volumes of water and lava, and those whose scripts run.

A region is a sphere, and in it a tree of planes. At a node the side of the plane decides: in front
is where n * p > d. A child is a node, or `OUTSIDE`, or `INSIDE`. Of a water region the node says
whether inside is water, lava or neither; inside of all other classes is water. Oceans have rules of
their own (`oceans`).
Source: docs/protocol/maps.md#regions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from math import dist
from typing import Final, NamedTuple

from emu.ground.ground_layout import Point
from emu.ground.oceans import in_ocean, is_ocean
from emu.ground.region_nodes import INSIDE, OUTSIDE, Node, pack_nodes

WATER_REGION: Final = 1
"""The class whose nodes name their substance."""
_SCRIPTS: Final = "RegionScripts"


class Substance(IntEnum):
    """A kind of region, by the number that its scripts get."""

    UNTAGGED = -1
    NONE = 0
    """Outside of the volume."""
    WATER = 1
    LAVA = 2
    """Lava, or death."""


_SUBSTANCES: Final = {1: Substance.WATER, 0xFFFFFFFD: Substance.LAVA}
"""Substances by the number of a node; others are untagged."""


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """One region of a zone."""

    number: int
    kind: int
    """Its class: 0 water volume, 1 water region, 3 and 5 ocean, 4 cavern."""
    place: Point
    radius: float
    """Meters around its place in which anything of it is."""
    environment: str
    file: str
    grid: int
    nodes: tuple[Node, ...] = ()
    """The tree of planes; without one the whole sphere is inside."""
    widget: int = 0
    """The widget that it was made for; 0 for one of the map."""

    def is_near(self, point: Point) -> bool:
        """Return whether a place is in the sphere."""
        (x, y, z), (ox, oy, oz) = point, self.place
        return (x - ox) ** 2 + (y - oy) ** 2 + (z - oz) ** 2 <= self.radius * self.radius

    def substance(self, point: Point) -> Substance:
        """Return the substance at a place, `Substance.NONE` outside of the volume."""
        if not self.is_near(point):
            return Substance.NONE
        if not self.nodes:
            return Substance.UNTAGGED
        if is_ocean(self.kind):
            share = dist(point, self.place) / self.radius if self.radius else 0.0
            is_in = in_ocean(self.nodes, self.kind, point, share)
            return Substance.WATER if is_in else Substance.NONE
        x, y, z = point
        at = 0
        while True:
            nx, ny, nz, d, special, front, behind = self.nodes[at]
            side = nx * x + ny * y + nz * z - d
            at = front if side > 0.0 else behind
            if at >= 0:
                continue
            if at == OUTSIDE or not self._is_inside(side, front):
                return Substance.NONE
            if self.kind == WATER_REGION:
                return _SUBSTANCES.get(special, Substance.UNTAGGED)
            return Substance.WATER

    def _is_inside(self, side: float, front: int) -> bool:
        """Return whether `INSIDE` counts at a leaf: behind a plane only of some classes.

        EQ2Emulator's server decides so: behind a plane nothing of a water region is inside, and of
        other classes nothing if inside is in front of the plane, too.
        """
        return side > 0.0 or (self.kind != WATER_REGION and front != INSIDE)

    def pack(self) -> bytes:
        """Return the tree's bytes."""
        return pack_nodes(self.nodes)

    def scripts(self, zone: str) -> list[str]:
        """Return the names of the scripts it may have, the first that exists is its script.

        Source: docs/protocol/maps.md#region-scripts.
        """
        stems = [name.partition(".")[0] for name in (self.file, self.environment) if name]
        return [f"{_SCRIPTS}/{zone.lower()}/{stem}.lua" for stem in (*stems, "default")]


class RegionAt(NamedTuple):
    """A region that has a place, and the substance there."""

    region: Region
    substance: Substance


class ZoneRegions:
    """Some regions of one zone."""

    def __init__(self, regions: Iterable[Region] = ()) -> None:
        self._regions = list(regions)

    def __iter__(self) -> Iterator[Region]:
        return iter(self._regions)

    def __len__(self) -> int:
        return len(self._regions)

    def at(self, point: Point) -> list[RegionAt]:
        """Return the regions whose volume has a place."""
        found = []
        for region in self._regions:
            substance = region.substance(point)
            if substance is not Substance.NONE:
                found.append(RegionAt(region, substance))
        return found

    def is_water(self, point: Point) -> bool:
        """Return whether a place is in water."""
        return any(one.substance(point) is Substance.WATER for one in self._regions)

    def is_lava(self, point: Point) -> bool:
        """Return whether a place is in lava, or where creatures die."""
        return any(one.substance(point) is Substance.LAVA for one in self._regions)
