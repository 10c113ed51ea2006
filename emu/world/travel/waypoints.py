"""Waypoints: names in the client's window of ways, and the glowing path to the one it selects.

Scripts give a player waypoints, which end with its stay in the zone. The path leads to the nearest
spawn of the waypoint's name. Source: docs/protocol/world/travel.md#waypoints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from emu.ground.ground_layout import Point
from emu.ground.routes import Route
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import SpawnKind
from emu.world.events import LeftZone
from emu.world.messages import WorldMessages
from emu.world.world import World
from emu.world.zones.ground import Grounds
from emu.world_stream.movement import Position

MOST_WAYPOINTS: Final = 100
"""Waypoints of one player."""
LONGEST_NAME: Final = 255
MOST_POINTS: Final = 200
"""Points of a path before its goal."""


class _Waypoint(NamedTuple):
    id: int
    category: int


class Waypoints:
    """The waypoints of one world's players."""

    def __init__(self, world: World, grounds: Grounds) -> None:
        self._world, self._grounds = world, grounds
        self._searching: set[Player] = set()
        self._waypoints: dict[int, dict[str, _Waypoint]] = {}
        """By character id and name."""
        self._last = 0
        world.events.subscribe(LeftZone, lambda event: self.forget(event.player))

    def register(self, messages: WorldMessages) -> None:
        """Add the message of a selection to the table."""
        messages.add_handler("OP_WaypointSelectMsg", self._selected, IN_ZONE)

    def forget(self, player: Player) -> None:
        """Forget the waypoints of a player who leaves the zone."""
        self._waypoints.pop(player.id, None)

    def add_waypoint(self, player: Player, name: str, category: int) -> None:
        """Give a player a waypoint; it is shown by `send`. One of the same name is replaced."""
        own = self._waypoints.setdefault(player.id, {})
        name = name[:LONGEST_NAME]
        if name and (name in own or len(own) < MOST_WAYPOINTS):
            self._last += 1
            own[name] = _Waypoint(self._last, category & 0xFF)

    def remove(self, player: Player, name: str) -> None:
        """Take a waypoint from a player."""
        self._waypoints.get(player.id, {}).pop(name[:LONGEST_NAME], None)

    def send(self, player: Player) -> None:
        """Show a player its waypoints."""
        rows = [
            {"waypoint_name": name, "waypoint_category": one.category, "spawn_id": one.id}
            for name, one in self._waypoints.get(player.id, {}).items()
        ]
        player.client.send(
            "WS_WaypointUpdate",
            {"num_updates": len(rows), "update_array": rows, "unknown": 0xFFFFFFFF},
        )

    def _selected(self, player: Player, body: bytes, _now: Monotonic) -> None:
        """Show the path to a waypoint that a client has selected. Raises `MalformedMessage`."""
        number = _selection(player.client.dialect.layout("WS_WaypointSelect").decode(body))
        own = self._waypoints.get(player.id, {})
        name = next((name for name, one in own.items() if one.id == number), None)
        if name is None:
            self._world.count("waypoint unknown")
            return
        here = player.position
        # No players: the path would show where a hidden one is.
        places = [
            one.position for one in player.zone
            if one.name == name and one.kind is not SpawnKind.PLAYER
        ]  # fmt: skip
        if places:
            self.show_way(player, min(places, key=here.distance_to))
        else:
            player.client.send("WS_GlowPath")

    def show_way(self, player: Player, goal: Position) -> None:
        """Show a player the glowing path to a place, around what is in the way if a map is there.

        The path leads straight in a zone without a map, and while a search for the player is
        running: a client that asks all the time must not keep the server at work.
        """
        zone, ground = player.zone, self._grounds.of(player.zone)
        if player in self._searching or (ground.map is None and ground.mesh is None):
            _send_path(player, [goal[:3]], goal)
            return
        self._searching.add(player)

        def found(route: Route | None) -> None:
            self._searching.discard(player)
            if route is not None and player.zone is zone and player.is_online:
                places = [corner.place for corner in route.corners[1:MOST_POINTS]]
                _send_path(player, [*places, goal[:3]], goal)

        self._grounds.find_route(zone, player.position, goal, found)


def _send_path(player: Player, places: Sequence[Point], goal: Position) -> None:
    x, y, z = goal[:3]
    points = [{"x": one[0], "y": one[1], "z": one[2]} for one in places]
    player.client.send(
        "WS_GlowPath",
        {"num_points": len(points), "points_array": points,
         "waypoint_x": x, "waypoint_y": y, "waypoint_z": z},
    )  # fmt: skip


def _selection(fields: Mapping[str, Any]) -> int:
    """Return the number that a client has selected: older ones send it alone; 0 for none."""
    if "selection" in fields:
        return int(fields["selection"])
    return next((int(row["entry_id"]) for row in fields["selection_array"]), 0)
