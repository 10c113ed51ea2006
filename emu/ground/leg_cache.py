"""The corners of walked legs, traced in turns and kept: walks repeat the same legs all day."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container
from typing import Final, NamedTuple

from emu.ground.ground_layout import Point
from emu.ground.ground_map import VISITS_A_TURN, GroundMap
from emu.ground.legs import LegCorner, LegTrace

MOST_KEPT: Final = 8192
"""Legs that are kept, for 390 creatures on rounds of 21 points: up to 8 MB for a zone."""
SAMPLES_A_TURN: Final = 40
"""Heights of one turn."""


class Leg(NamedTuple):
    """A straight leg of a walk."""

    start: Point
    end: Point


class LegCache:
    """The corners of the legs of one zone."""

    def __init__(self, ground: GroundMap, request_turn: Callable[[], object]) -> None:
        """`request_turn` is called when `work` has something to do and had nothing before."""
        self._ground = ground
        self._request_turn = request_turn
        self._without: Container[int] = ()
        self._known: dict[Leg, list[LegCorner]] = {}
        self._waiting: deque[tuple[Leg, LegTrace]] = deque()
        self._requested: dict[Leg, list[Callable[[list[LegCorner]], object]]] = {}

    def corners(
        self, leg: Leg, traced: Callable[[list[LegCorner]], object]
    ) -> list[LegCorner] | None:
        """Return the corners of a leg if they are known.

        Otherwise None is returned, and `traced` gets them from a later `work`.
        """
        known = self._known.get(leg)
        if known is not None:
            return known
        callbacks = self._requested.get(leg)
        if callbacks is not None:
            callbacks.append(traced)
            return None
        self._requested[leg] = [traced]
        self._waiting.append((leg, LegTrace(self._ground, *leg, self._without, only_heights=True)))
        if len(self._waiting) == 1:
            self._request_turn()
        return None

    def work(self, samples: int = SAMPLES_A_TURN) -> bool:
        """Take up to so many heights, fewer where each takes long; return whether more waits."""
        end = self._ground.visits + VISITS_A_TURN
        for _ in range(samples):
            if not self._waiting:
                return False
            if self._ground.visits >= end:
                break
            leg, trace = self._waiting[0]
            if trace.advance(1):
                self._waiting.popleft()
                self._keep(leg, trace.corners)
        return bool(self._waiting)

    def remove_widgets(self, groups: Container[int]) -> None:
        """Trace from now on without the groups of removed widgets; forget all corners."""
        self._without = groups
        self._known.clear()

    def _keep(self, leg: Leg, corners: list[LegCorner]) -> None:
        if len(self._known) >= MOST_KEPT:
            # The oldest goes: a walk that is still walked comes again.
            del self._known[next(iter(self._known))]
        self._known[leg] = corners
        for traced in self._requested.pop(leg):
            traced(corners)
