"""The test client in the world: enters with a hand-off key, sees, speaks, walks and leaves.

`WorldClientCore` is the client without input or output, over as many sessions as it changes zones.
Its Twisted side is `emu.net.client.connection`.
"""

from __future__ import annotations

from emu.client.world.core import Pass, WorldClientCore, WorldPhase, make_session
from emu.client.world.messages import WorldMessages
from emu.client.world.surroundings import Place, SeenGhost, Surroundings, Walker

__all__ = [
    "Pass",
    "Place",
    "SeenGhost",
    "Surroundings",
    "Walker",
    "WorldClientCore",
    "WorldMessages",
    "WorldPhase",
    "make_session",
]
