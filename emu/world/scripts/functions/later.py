"""Functions for timers, nearness of players and spawns, and spawns that leave."""

from __future__ import annotations

from typing import Final

from emu.scripts.signatures import FunctionTable
from emu.world.scripts.bodies import Body, Home
from emu.world.scripts.host import Scripts
from emu.world.scripts.waits import DESPAWN
from emu.world_stream.movement import Position

LATER: Final = FunctionTable()


@LATER("AddTimer", "S spawn, u milliseconds, t function, u times=1, S other?")
def add_timer(
    scripts: Scripts, body: Body | None, milliseconds: int, function: str, times: int,
    other: Body | None,
) -> None:  # fmt: skip
    """Call a function of a spawn's script later; of a player's, one of the players' scripts."""
    if body is not None and milliseconds and function:
        scripts.waits.add_timer(body, milliseconds / 1000, function, times, other)


@LATER("StopTimer", "S spawn, t function?")
def stop_timer(scripts: Scripts, body: Body | None, function: str) -> None:
    """Stop the timers of a spawn with a function; all of them without one."""
    if body is not None:
        scripts.waits.stop_timers(body, function)


@LATER("SetPlayerProximityFunction", "S spawn, f distance, t enter, t leave?")
def watch_nearness(
    scripts: Scripts, body: Body | None, distance: float, enter: str, leave: str
) -> None:
    """Call a function when a player comes near a spawn, and one when the player leaves."""
    if body is not None and body.player is None and distance > 0:
        scripts.waits.watch_players(body, distance, enter, leave)


@LATER("AddSpawnProximity", "S spawn, u number, n kind, f distance, t enter, t leave")
def watch_spawns(
    scripts: Scripts, body: Body | None, number: int, kind: int, distance: float, enter: str,
    leave: str,
) -> None:  # fmt: skip
    """Call a function when spawns with a number come near, of kind 1 by that of their place."""
    if body is not None and body.player is None and distance > 0:
        home = body.home
        others = (
            (lambda: home.by_location.get(number, [])) if kind == 1
            else (lambda: list(home.of_spawn(number)))
        )  # fmt: skip
        scripts.waits.watch_spawns(body, others, distance, enter, leave)


@LATER(
    "SetLocationProximityFunction", "Z zone, f x, f y, f z, f distance, t enter, t leave?"
)  # fmt: skip
def watch_place(
    scripts: Scripts, home: Home | None, x: float, y: float, z: float, distance: float,
    enter: str, leave: str,
) -> None:  # fmt: skip
    """Call a function of the zone's script when a player comes to a place, one on leaving it."""
    if home is not None and enter:
        scripts.waits.watch_place(home, Position(x, y, z, 0.0), distance, enter, leave)


@LATER("Despawn", "S spawn, u milliseconds?")
def despawn(scripts: Scripts, body: Body | None, milliseconds: int) -> None:
    """Remove a spawn; it returns after the respawn time of its place."""
    if body is not None and body.player is None:
        scripts.waits.add_timer(body, milliseconds / 1000, DESPAWN)
