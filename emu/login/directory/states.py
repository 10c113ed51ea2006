"""What clients are to know of each world: whether it is up, and whether it is locked."""

from __future__ import annotations

from collections.abc import Iterable

from emu.model import WorldEntry

WorldState = tuple[bool, bool]
"""Up and locked, all that a status message can say."""

GONE: WorldState = (False, False)


def state_of(world: WorldEntry) -> WorldState:
    """Return the state of a listed world."""
    return world.up, world.up and world.locked


class WorldStates:
    """The states of all worlds; one that is not known is gone."""

    def __init__(self, worlds: Iterable[WorldEntry]) -> None:
        self._states = {world.id: state_of(world) for world in worlds if world.up}

    def __getitem__(self, world_id: int) -> WorldState:
        return self._states.get(world_id, GONE)

    def change(self, world_id: int, state: WorldState) -> bool:
        """Note a world's state; False when it is the one it had."""
        if self[world_id] == state:
            return False
        if state == GONE:
            del self._states[world_id]
        else:
            self._states[world_id] = state
        return True
