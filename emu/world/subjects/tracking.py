"""Tracking: the window with all that is near, and the glowing path to what a player chooses in it.

Source: docs/protocol/world/travel.md#tracking.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator
from typing import Final, NamedTuple

from emu.commands import Call
from emu.errors import CommandError
from emu.rules.stance import arrow_color
from emu.scripts.signatures import FunctionTable
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.commands.context import PlayerCommandSet
from emu.world.deadlines import Timetable
from emu.world.events import Entered, LeftZone
from emu.world.messages import WorldMessages
from emu.world.scripts.bodies import Body
from emu.world.skills import Skills
from emu.world.subjects.subject import Subject
from emu.world.travel.waypoints import LONGEST_NAME, Waypoints
from emu.world.world import World

SKILL: Final = "Tracking"
REACH: Final = 80.0
"""How far away a spawn is listed, in units."""
PERIOD: Final = 5.0
"""Seconds between two lists."""
MOST_LISTED: Final = 100
"""Spawns of one list: the nearest ones. Its count has one byte from 562 on."""
CATEGORY: Final = 6
"""The category of the waypoint to what is tracked."""
ENTITIES: Final = 1
"""The type of a list of players and creatures."""
UNTAUGHT: Final = "you do not know how to track"
_LOOK: Final = "look"


class Mode(enum.IntEnum):
    """What a message about tracking says."""

    STOP = 0
    START = 1
    LIST = 2
    CLOSE = 3
    """One of the list is chosen: the window is closed."""


class Tracked(NamedTuple):
    """One row of a list."""

    spawn: Spawn
    number: int
    """The index by which the client knows it."""
    name: str
    color: int


class Tracking(Subject):
    """Who tracks in one world, and what each of them was shown."""

    def __init__(
        self, world: World, skills: Skills, waypoints: Waypoints, timetable: Timetable
    ) -> None:
        self._world = world
        self._skills = skills
        self._waypoints = waypoints
        self._looks = timetable.deadlines("tracking", self._look)
        self._lists: dict[Player, list[Tracked]] = {}
        """The last list of each player whose window is open."""
        self._followed: dict[Player, str] = {}
        """The waypoint to what a player has chosen."""
        world.events.subscribe(Entered, lambda event: self.forget(event.player))
        world.events.subscribe(LeftZone, lambda event: self.forget(event.player))

    def register(self, messages: WorldMessages) -> None:
        """Add the messages of the window."""
        messages.add_handler("OP_BeginTrackingMsg", self._chosen, IN_ZONE)
        messages.add_handler("OP_StopTrackingMsg", self._stopped, IN_ZONE)

    def forget(self, player: Player) -> None:
        """Forget a player who leaves the zone, or whose client has begun anew."""
        self._lists.pop(player, None)
        self._followed.pop(player, None)
        self._looks.clear(player, _LOOK)

    def may_track(self, player: Player) -> bool:
        """Return whether a player has the skill."""
        return self._skills.value(player, SKILL) > 0

    def is_tracking(self, player: Player) -> bool:
        """Return whether the window of a player is open."""
        return player in self._lists

    def toggle(self, player: Player) -> None:
        """Open the window of a player, or close it and let the path go."""
        if self.is_tracking(player) or player in self._followed:
            self._stop(player)
        elif player.spawn.hp_percent > 0:
            self._lists[player] = []
            self._send(player, Mode.START)
            self._show(player, self._world.clock.now())

    def _stop(self, player: Player) -> None:
        if self.is_tracking(player):
            self._close(player, Mode.STOP)
        name = self._followed.pop(player, None)
        if name is not None:
            self._waypoints.remove(player, name)
            self._waypoints.send(player)
            player.client.send("WS_GlowPath")

    def _close(self, player: Player, mode: Mode) -> None:
        del self._lists[player]
        self._looks.clear(player, _LOOK)
        self._send(player, mode)

    # -- the list ---------------------------------------------------------------------------------

    def _look(self, player: Player, _name: str, now: Monotonic) -> None:
        if not player.is_online or player.spawn.hp_percent <= 0:
            self._stop(player)
        else:
            self._show(player, now)

    def _show(self, player: Player, now: Monotonic) -> None:
        """Send a player what is near, if that has changed, and look again later."""
        self._looks.set(player, _LOOK, Monotonic(now + PERIOD))
        near = sorted(self._near(player), key=lambda one: (one[0], one[1].number))
        rows = [row for _, row in near[:MOST_LISTED]]
        if rows == self._lists[player]:
            return
        self._lists[player] = rows
        self._send(player, Mode.LIST, rows)

    def _near(self, player: Player) -> Iterator[tuple[float, Tracked]]:
        """Yield what a player can track, with its distance."""
        here, level = player.position, player.spawn.level
        for spawn in player.zone.around(here, REACH):
            index = player.index_of(spawn)
            # What the client does not know has no number for it: nobody finds hidden players so.
            if index is None or spawn is player.spawn or spawn.hp_percent <= 0:
                continue
            away = math.dist(spawn.position[:3], here[:3])
            if away <= REACH and spawn.kind in (SpawnKind.NPC, SpawnKind.PLAYER):
                color = arrow_color(spawn.level, level)
                yield away, Tracked(spawn, index, spawn.name[:LONGEST_NAME], color)

    def _send(self, player: Player, mode: Mode, rows: list[Tracked] | None = None) -> None:
        rows = rows or []
        player.client.send(
            "WS_TrackingUpdate",
            {
                "mode": mode, "type": ENTITIES,
                "spawn_array": [
                    {"spawn_id": row.number, "spawn_name": row.name,
                     "spawn_type": int(row.spawn.kind is not SpawnKind.PLAYER),
                     "spawn_con_color": row.color}
                    for row in rows
                ],
                "list_order": [
                    {"list_spawn_id": row.number, "list_number": place}
                    for place, row in enumerate(rows)
                ],
            },
        )  # fmt: skip

    # -- what a client says -----------------------------------------------------------------------

    def _chosen(self, player: Player, body: bytes, _now: Monotonic) -> None:
        """Lead a player to one of its list. Raises `MalformedMessage`."""
        number = player.client.dialect.layout("WS_BeginTracking").decode(body)["spawn_id"]
        rows = self._lists.get(player, ())
        row = next((one for one in rows if one.number == number), None)
        if row is None or player.index_of(row.spawn) != number:
            self._world.count("tracked unknown")
            return
        self._close(player, Mode.CLOSE)
        before = self._followed.pop(player, None)
        if before is not None:
            self._waypoints.remove(player, before)
        self._followed[player] = row.name
        self._waypoints.add_waypoint(player, row.name, CATEGORY)
        self._waypoints.send(player)
        self._waypoints.show_way(player, row.spawn.position)

    def _stopped(self, player: Player, _body: bytes, _now: Monotonic) -> None:
        self._stop(player)


COMMANDS = PlayerCommandSet[Tracking]()


@COMMANDS.for_players("track", "open the window of what is near you, or close it", is_quiet=True)
async def _track(tracking: Tracking, player: Player, _call: Call) -> None:
    if not tracking.may_track(player):
        raise CommandError(UNTAUGHT)
    tracking.toggle(player)


Tracking.COMMANDS = COMMANDS

FUNCTIONS: Final = FunctionTable()


@FUNCTIONS("ToggleTracking", "P player")
def toggle(tracking: Tracking, body: Body | None) -> None:
    """Open a player's window of what is near it, or close it."""
    if body is not None and body.player is not None:
        tracking.toggle(body.player)


Tracking.FUNCTIONS = FUNCTIONS
