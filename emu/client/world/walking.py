"""How a client walks: straight ahead, telling honestly where it is four times a second.

Knows no session: `Walker` says when the next step is due and what it is. Source:
docs/protocol/world/movement.md#prediction, docs/protocol/world/movement.md#speed.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from emu.sight.position import FULL_TURN, HALF_TURN, Position
from emu.times import Monotonic

STEP: Final = 0.25
"""Seconds between two predictions."""
RUNNING_SPEED: Final = 8.0
"""World units a second."""
RUNNING, SITTING = 128, 6336
"""Activities (docs/protocol/world/movement.md#prediction)."""
Place = Position
"""Where somebody is; of the grid a client knows nothing."""


class Stride(NamedTuple):
    """One prediction: where the client is, and how fast it goes on."""

    place: Place
    speed: float
    activity: int

    def fields(self) -> dict[str, float]:
        """Return the fields of Player_Update. A client counts headings from the opposite."""
        direction = (self.place.heading - HALF_TURN) % FULL_TURN
        return {
            "activity": self.activity,
            "direction1": direction,
            "direction2": direction,
            "speed": self.speed,
            "x": self.place.x,
            "y": self.place.y,
            "z": self.place.z,
        }


class Walker:
    """Where a client is, where it goes, and what it says of that."""

    __slots__ = ("_due", "_goal", "_last", "_speed", "is_sitting", "place")

    def __init__(self) -> None:
        self.place = Place(0.0, 0.0, 0.0)
        self.is_sitting = False
        self._goal: Place | None = None
        self._speed = RUNNING_SPEED
        self._due: float | None = None
        self._last = 0.0

    @property
    def goal(self) -> Place | None:
        """Where it goes, None when it stands."""
        return self._goal

    def put(self, place: Place) -> None:
        """Be somewhere else, at rest: the server has said so."""
        self.place = place
        self._goal = None
        self._due = None

    def walk_to(self, goal: Place, now: Monotonic, speed: float = RUNNING_SPEED) -> None:
        """Go on to another place; a walker who sits stands up. Steps begin now."""
        if self._due is None:
            self._due = self._last = now
        self._goal, self._speed, self.is_sitting = goal, speed, False

    def stop(self, now: Monotonic) -> None:
        """Stand where the next step would begin, and say so."""
        self._goal = self.place
        self._due = self._last = now

    def get_timer(self) -> Monotonic | None:
        """Return when `step` is due, None while there is nothing to say."""
        return None if self._due is None else Monotonic(self._due)

    def step(self, now: Monotonic) -> Stride:
        """Go on for the time that has passed; at the goal the last step says speed 0."""
        goal = self._goal or self.place
        way = (now - self._last) * self._speed
        self._last = now
        self.place = self.place.toward(goal, way)
        arrived = self.place[:3] == goal[:3]
        if arrived:
            self._goal = self._due = None
        else:
            self._due = now + STEP
        activity = SITTING if self.is_sitting else RUNNING
        return Stride(self.place, 0.0 if arrived else self._speed, activity)
