"""The height at which creatures of a content file stand on the ground of their zone.

The rows are right nearly everywhere: a creature over the ground flies without saying so, or stands
on furniture that the map does not have. So only who is under the ground is lifted, and who was
rolled to another place gets the height of that place. EQ2Emulator's server puts everybody on the
ground, which moves one of seven wrongly; the setting ``world.ground`` does so, too.
Source: docs/protocol/maps.md#height.
"""

from __future__ import annotations

from typing import Final

from emu.content.standing import Standing
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.visibility.fields import hovers
from emu.world.zones.ground import ZoneGround
from emu.world_stream.movement import Position

UNDER: Final = 0.3
"""Meters under the ground from which a creature is lifted."""
DEEPEST: Final = 5.0
"""Meters under the ground from which a creature is on another floor."""
ON_GROUND: Final = 1.0
"""Meters from the ground at which a row's place is meant to be on it."""


def place_on_ground(ground: ZoneGround, spawn: Spawn, standing: Standing, *, snap: bool) -> None:
    """Give a creature the height and the grid of its place, before it is put into its zone.

    `snap` puts all on the ground that neither fly nor swim. Without a map nothing changes.
    """
    if ground.map is None or spawn.kind is not SpawnKind.NPC or hovers(spawn):
        return
    here = spawn.position
    surface = ground.surface(here)
    if surface is None:
        return
    under = surface.y - here.y
    is_lifted = UNDER < under < DEEPEST
    if is_lifted or ((snap or _is_rolled(ground, standing)) and not ground.is_water(here)):
        here = here._replace(y=surface.y)
    if here.grid not in ground.grids:
        here = here._replace(grid=surface.grid)
    if here is not spawn.position:
        spawn.position = spawn.origin = here


def _is_rolled(ground: ZoneGround, standing: Standing) -> bool:
    """Return whether a creature stands beside its row's place, which is on the ground."""
    row = standing.placement
    if (standing.x, standing.z) == (row.x, row.z):
        return False
    surface = ground.surface(Position(row.x, row.y, row.z))
    return surface is not None and abs(surface.y - row.y) <= ON_GROUND
