"""A client that notes what its player asks for, and spawns around it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from emu.client.evening.seen import SeenSpawn, SeenSpawns
from emu.client.world import WorldClientCore
from emu.client.world.surroundings import Place
from emu.times import Monotonic

OWN = 1


@dataclass
class NotingClient:
    """Stands for `WorldClientCore`: each request is a line of `asked`."""

    asked: list[str] = field(default_factory=list)
    place: Place = Place(0.0, 0.0, 0.0)
    own_index: int = OWN
    possessions: Any = None
    surroundings: Any = None
    dialog: Any = None
    options: Any = None
    ways: Any = None

    def __getattr__(self, name: str) -> Any:
        return lambda *values: self.asked.append(" ".join(map(str, (name, *values))))

    def walk_to(self, x: float, y: float, z: float, _now: float, _speed: float) -> None:
        """Be there at once."""
        self.place = Place(x, y, z)

    approach = WorldClientCore.approach


class KnownSpawns(SeenSpawns):
    """Spawns that a test has put there."""

    def __init__(self, core: Any, *spawns: SeenSpawn) -> None:
        super().__init__(core)
        self.by_index = {one.index: one for one in spawns}
        self.remembered = {}

    def get(self, index: int) -> SeenSpawn | None:
        return self.by_index.get(index)

    def place_now(self, spawn: SeenSpawn, now: Monotonic) -> Place:
        return spawn.place

    def all(self) -> list[SeenSpawn]:
        return list(self.by_index.values())


def spawn(
    index: int, name: str, x: float = 10.0, *, level: int = 1, is_enemy: bool = False,
    harm: int = 0, mark: int = 0,
) -> SeenSpawn:  # fmt: skip
    return SeenSpawn(index, name, level, Place(x, 0.0, 0.0), is_enemy, harm, mark)


@pytest.fixture
def core() -> NotingClient:
    return NotingClient()
