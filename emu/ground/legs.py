"""Legs over the ground: the corners that a straight leg needs to follow the surface.

Clients draw straight lines between the points of a walk. So the surface under a leg is sampled,
and the samples are reduced to the corners that keep the line within a tolerance of it.
Source: docs/protocol/maps.md#legs.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from math import ceil, hypot
from typing import Final, NamedTuple

from emu.ground.ground_layout import Point
from emu.ground.ground_map import GroundMap, Surface

STEP: Final = 1.5
"""Meters between two samples."""
TOLERANCE: Final = 0.3
"""Meters that the line may be over or under a sample."""
MOST_SAMPLES: Final = 512
"""Samples of one leg; longer steps are taken for a longer leg."""
STEEPEST: Final = 1.2
"""Meters up for each meter on, at most, where a creature walks straight: 50 degrees."""
HIGHEST_STEP: Final = 0.6
"""Meters up or down that are a stair, however short the way is."""
DEEPEST: Final = 3.0
"""Meters down between two samples that nobody walks."""
KNEES: Final = 0.5
"""Meters over the ground at which nothing may be in the way of a straight leg."""


class LegCorner(NamedTuple):
    """A point of a leg on the ground."""

    place: Point
    surface: Surface | None
    """The surface there; None where none is, and the height is that of the leg."""


class LegTrace:
    """The corners of one leg, sampled in turns."""

    def __init__(
        self,
        ground: GroundMap,
        start: Point,
        end: Point,
        without: Container[int] = (),
        *,
        only_heights: bool = False,
    ) -> None:
        """`without` are groups of removed widgets, as for `GroundMap.surface`.

        With `only_heights` walls are not searched, which halves the cost: a leg that a script
        gives is walked in any case.
        """
        self.corners: list[LegCorner] = []
        """The corners, when the trace is complete: the start, those between, the end."""
        self.is_walkable = True
        """Whether the ground goes on under the whole leg without a wall, a gap or a cliff."""
        self._ground, self._without = ground, without
        self._only_heights = only_heights
        self._steps = self._run(start, end)

    def advance(self, samples: int) -> bool:
        """Take up to so many samples; return whether the trace is complete."""
        return any(next(self._steps, self) is self for _ in range(samples))

    def finish(self) -> list[LegCorner]:
        """Take all samples in one turn; return the corners."""
        while not self.advance(MOST_SAMPLES):
            pass
        return self.corners

    def _run(self, start: Point, end: Point) -> Iterator[None]:
        (x, y, z), (far_x, far_y, far_z) = start, end
        length = hypot(far_x - x, far_z - z)
        count = min(MOST_SAMPLES, max(1, ceil(length / STEP)))
        samples: list[LegCorner] = []
        height = y
        for number in range(count + 1):
            share = number / count
            at_x, at_z = x + share * (far_x - x), z + share * (far_z - z)
            # The last surface is nearer to the next than the straight leg is, on a slope.
            surface = self._ground.surface(at_x, height, at_z, self._without)
            line = y + share * (far_y - y)
            at = (at_x, line if surface is None else surface.y, at_z)
            self._note_step(samples[-1].place if samples else None, at, surface)
            samples.append(LegCorner(at, surface))
            height = at[1]
            yield
        if abs(height - far_y) > DEEPEST:
            self.is_walkable = False  # another floor than that of the end
        self.corners = [samples[at] for at in kept_corners([one.place for one in samples])]

    def _note_step(self, before: Point | None, at: Point, surface: Surface | None) -> None:
        """Note whether the way from the last sample to this one cannot be walked."""
        if surface is None:
            self.is_walkable = False
        if before is None or not self.is_walkable:
            return
        (x, y, z), (far_x, far_y, far_z) = before, at
        rise, run = far_y - y, hypot(far_x - x, far_z - z)
        if rise > max(HIGHEST_STEP, STEEPEST * run) or rise < -DEEPEST:
            self.is_walkable = False
            return
        self.is_walkable = self._only_heights or self._ground.is_clear(
            (x, y + KNEES, z), (far_x, far_y + KNEES, far_z), self._without
        )


def kept_corners(points: Sequence[Point], tolerance: float = TOLERANCE) -> list[int]:
    """Return the numbers of the points that keep a line over all others within a tolerance.

    First and last are always kept. Only heights differ from the line: the points lie on it.
    Source: Ramer 1972, Douglas and Peucker 1973.
    """
    kept = {0, len(points) - 1}
    waiting = [(0, len(points) - 1)]
    while waiting:
        start, end = waiting.pop()
        low, high = points[start][1], points[end][1]
        worst, most = 0, tolerance
        for at in range(start + 1, end):
            line = low + (at - start) / (end - start) * (high - low)
            off = abs(points[at][1] - line)
            if off > most:
                worst, most = at, off
        if worst:
            kept.add(worst)
            waiting += [(start, worst), (worst, end)]
    return sorted(kept)
