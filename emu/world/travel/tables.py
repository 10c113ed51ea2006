"""Travel in a content file: transporters, their maps, revive points and areas.

All of it is read at once, when the world starts: some hundreds of rows.
Source: docs/guides/travel.md#tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from emu.content.file import ContentFile
from emu.content.rows import Row
from emu.facts import FARTHEST
from emu.world.actors.spawn import Destination
from emu.world_stream.movement import Position

T = TypeVar("T")
LOCATION: Final = "location"
ZONE: Final = "zone"
FORCED: Final = "forcezone"
LARGEST_RADIUS: Final = 1000.0


class Way(NamedTuple):
    """One destination of a transporter, or of a place that moves whoever comes near."""

    id: int
    name: str
    to: Destination
    kind: str = ZONE
    message: str = ""
    """A line for who takes it."""
    cost: int = 0
    """Copper."""
    min_level: int = 0
    max_level: int = 0
    """Levels of who is offered it; 0 for any."""
    quests: tuple[int, ...] = ()
    """Numbers of quests that it needs, active or done."""
    map_at: tuple[int, int] = (0, 0)
    versions: tuple[int, int] = (0, 0)
    """The first and the last client version; 0 for any."""


class Trigger(NamedTuple):
    """A place that moves whoever comes near."""

    x: float
    y: float
    z: float
    radius: float
    way: Way

    def holds(self, at: Position) -> bool:
        """Return whether a position is within its radius."""
        return math.dist((self.x, self.y, self.z), at[:3]) <= self.radius


class RevivePoint(NamedTuple):
    """A place where players of a zone revive."""

    id: int
    name: str
    to: Destination
    always: bool
    """Whether it is offered however far it is."""


class Area(NamedTuple):
    """A named part of a zone: a box around its points, or a cell of the client's map."""

    id: int
    name: str
    is_discovery: bool
    """Whether a player discovers it once."""
    low: tuple[float, float, float] | None = None
    high: tuple[float, float, float] | None = None
    """Corners of the box; None without points."""
    grid: int = 0

    def holds(self, at: Position) -> bool:
        """Return whether a position is in the area."""
        if self.low is None or self.high is None:
            return bool(self.grid) and at.grid == self.grid
        return all(
            low <= one <= high for low, one, high in zip(self.low, at[:3], self.high, strict=True)
        )


@dataclass(frozen=True, slots=True)
class TravelTables:
    """The rows of all zones."""

    ways: Mapping[int, Sequence[Way]] = field(default_factory=dict)
    """By the number of their list."""
    triggers: Mapping[int, Sequence[Trigger]] = field(default_factory=dict)
    """By zone."""
    maps: Mapping[int, str] = field(default_factory=dict)
    """The name of the map of a list; a map may have an empty one."""
    revive_points: Mapping[int, Sequence[RevivePoint]] = field(default_factory=dict)
    """By the zone in which a player dies or is stuck."""
    areas: Mapping[int, Sequence[Area]] = field(default_factory=dict)
    """By zone."""
    flights: Mapping[int, Destination] = field(default_factory=dict)
    """Where each flight path ends, by its number."""
    problems: Sequence[str] = ()
    """Bad rows of a damaged file, which are left out; one line each."""


def read_tables(path: Path | None) -> TravelTables:
    """Read the tables of a content file; without one they are empty. Raises `FileFormatError`."""
    if path is None:
        return TravelTables()
    with ContentFile(path) as file:
        rows = file.table("transporters")
        triggers = [
            (row["zone_id"], Trigger(row["x"], row["y"], row["z"], row["radius"], _way(row)))
            for row in rows
            if row["kind"] == LOCATION and 0 < row["radius"] <= LARGEST_RADIUS and row["to_zone"]
        ]
        ways = [
            (row["list_id"], _way(row))
            for row in rows
            if row["list_id"] and row["kind"] != LOCATION and row["to_zone"]
        ]
        revive = [(row["zone_id"], _revive_point(row)) for row in file.table("revive_points")]
        points = _grouped((row["area_id"], row) for row in file.table("area_points"))
        areas = [
            (row["zone_id"], _area(row, points.get(row["id"], ())))
            for row in file.table("areas")
            if row["name"]
        ]
        maps = {row["id"]: row["map"] for row in file.table("transport_maps")}
        flights = _flights(file)
        problems = tuple(file.problems)
    return TravelTables(
        _grouped(ways), _grouped(triggers), maps, _grouped(revive), _grouped(areas), flights,
        problems,
    )  # fmt: skip


def _flights(file: ContentFile) -> dict[int, Destination]:
    """Return where each flight path ends: at its last point."""
    last: dict[int, Row] = {}
    for point in file.each("flight_points"):
        known = last.get(point["path_id"])
        if known is None or point["id"] > known["id"]:
            last[point["path_id"]] = point
    return {
        path["id"]: Destination(path["zone_id"], Position(end["x"], end["y"], end["z"]))
        for path in file.table("flight_paths")
        if (end := last.get(path["id"])) is not None
        and max(abs(end["x"]), abs(end["y"]), abs(end["z"])) <= FARTHEST
    }


def _grouped(rows: Iterable[tuple[int, T]]) -> dict[int, list[T]]:
    found: dict[int, list[T]] = {}
    for number, one in rows:
        found.setdefault(number, []).append(one)
    return found


def destination_of(row: Row, prefix: str = "to_") -> Destination:
    """Return where a row leads; all zeros mean the safe place of the zone."""
    x, y, z = (row[f"{prefix}{axis}"] for axis in "xyz")
    zone_id = row["to_zone"]
    if not (x or y or z) or max(abs(x), abs(y), abs(z)) > FARTHEST:
        return Destination(zone_id)
    return Destination(zone_id, Position(x, y, z, row[f"{prefix}heading"] % 360.0))


def _way(row: Row) -> Way:
    return Way(
        row["id"], row["name"], destination_of(row), row["kind"], row["message"],
        max(0, row["cost"]), row["min_level"], row["max_level"],
        tuple(number for number in (row["quest"], row["quest_completed"]) if number),
        (row["map_x"], row["map_y"]), (row["min_version"], row["max_version"]),
    )  # fmt: skip


def _revive_point(row: Row) -> RevivePoint:
    to = row["to_zone"] or row["zone_id"]
    return RevivePoint(
        row["id"], row["name"], destination_of({**row, "to_zone": to}, ""), bool(row["always"])
    )


def _area(row: Row, points: Sequence[Row]) -> Area:
    low = high = None
    if points:
        corners = [[point[axis] for point in points] for axis in "xyz"]
        if not row["with_height"]:
            corners[1] = [-math.inf, math.inf]
        x, y, z = corners
        low, high = (min(x), min(y), min(z)), (max(x), max(y), max(z))
    return Area(row["id"], row["name"], bool(row["discovery"]), low, high, row["grid"])
