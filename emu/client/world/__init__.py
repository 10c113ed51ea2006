"""The test client in the world: enters with a world key, sees, speaks, walks and leaves.

`WorldClientCore` is the client without input and output, over one session for each zone. Its
Twisted side is `emu.net.client.world_connection`.
"""

from __future__ import annotations

from emu.client.world.core import WorldClientCore, WorldHandoff, WorldPhase, make_session
from emu.client.world.messages import ClientWorldMessages
from emu.client.world.surroundings import ClientSurroundings, Place, SeenGhost, Walker

__all__ = [
    "ClientSurroundings",
    "ClientWorldMessages",
    "Place",
    "SeenGhost",
    "Walker",
    "WorldClientCore",
    "WorldHandoff",
    "WorldPhase",
    "make_session",
]
