"""What GGMP needs of the world, stated as a protocol; `emu.net.admin.ggmp_stage` implements it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from emu.admin.status import ServerStatus
from emu.times import Monotonic


class Place(NamedTuple):
    """Where something stands: world units with Y up, and degrees."""

    x: float
    y: float
    z: float
    heading: float


class ActorState(NamedTuple):
    """An actor, which is a spawn of the world, as tools see it."""

    id: int
    name: str
    zone: int
    place: Place


class Stage(Protocol):
    """The actors and what they can do."""

    def status(self, now: Monotonic) -> ServerStatus:
        """Return how the whole server is."""

    def find(self, actor: int) -> ActorState | None:
        """Return an actor by its number."""

    def named(self, name: str) -> ActorState | None:
        """Return an actor by its name, without regard to case; a player before all others."""

    def inside(self, zone: int) -> Sequence[int]:
        """Return the actors of all running instances of a zone."""

    def move(self, actor: int, place: Place) -> None:
        """Put an actor elsewhere. Raises `CommandError` for a player or nobody."""

    def say(self, actor: int, text: str) -> None:
        """Let an actor speak. Raises `CommandError` for a player or nobody."""
