"""What scripts want later: timers, players who come near, and spawns that leave."""

from __future__ import annotations

from typing import Final

from emu.scripts.signatures import FunctionTable
from emu.world.scripts.bodies import Body
from emu.world.scripts.host import DESPAWN, Scripts

LATER: Final = FunctionTable()


@LATER("AddTimer", "S spawn, u milliseconds, t function, u times=1, S other?")
def add_timer(
    scripts: Scripts, body: Body | None, milliseconds: int, function: str, times: int,
    other: Body | None,
) -> None:  # fmt: skip
    """Call a function of a spawn's script later."""
    if body is not None and body.player is None and function:
        scripts.add_timer(body, milliseconds / 1000, function, times, other)


@LATER("StopTimer", "S spawn, t function?")
def stop_timer(scripts: Scripts, body: Body | None, function: str) -> None:
    """Stop the timers of a spawn with a function; all of them without one."""
    if body is not None:
        scripts.stop_timers(body, function)


@LATER("SetPlayerProximityFunction", "S spawn, f distance, t enter, t leave?")
def watch_nearness(
    scripts: Scripts, body: Body | None, distance: float, enter: str, leave: str
) -> None:
    """Call a function when a player comes near a spawn, and one when the player leaves."""
    if body is not None and body.player is None and distance > 0:
        scripts.watch_nearness(body, distance, enter, leave)


@LATER("Despawn", "S spawn, u milliseconds?")
def despawn(scripts: Scripts, body: Body | None, milliseconds: int) -> None:
    """Remove a spawn; it returns after the respawn time of its place."""
    if body is not None and body.player is None:
        scripts.add_timer(body, milliseconds / 1000, DESPAWN, 1, None)
