"""The test client in the world: enters with a hand-off key, sees, speaks, walks and leaves.

`WorldClient` is the client without input or output, over as many sessions as it changes zones.
Its Twisted side is `emu.net.client.world_connection`.
"""

from __future__ import annotations

from emu.client.world.core import Pass, WorldClient, WorldStage
from emu.client.world.messages import WorldMessages
from emu.client.world.surroundings import Seen, Surroundings
from emu.client.world.walking import Place, Walker

__all__ = [
    "Pass",
    "Place",
    "Seen",
    "Surroundings",
    "Walker",
    "WorldClient",
    "WorldMessages",
    "WorldStage",
]
