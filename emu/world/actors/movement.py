"""How players move: what their clients predict, and which steps are believed.

The message packs a position struct XORed with the one before. Both ends keep that one, so it moves
on with every message that can be unpacked, whatever is in it: a client that once sends nonsense is
understood again with its next step (docs/protocol/world/movement.md#prediction,
docs/protocol/world/movement.md#bad-predictions). Whether a step is believed is
`emu.world.actors.movement`'s business.

Going somewhere costs distance, and time earns it, up to a reserve that makes up for a slow link.
A client is never believed a jump; whoever may jump is put there by the server. Knows no zone.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from emu.dialects import Dialect
from emu.times import Monotonic
from emu.world.rules import MovementRules
from emu.world_stream.movement import FULL_TURN, HALF_TURN, Position, PredictionReader


class MovementStep(NamedTuple):
    """Where a client says it is, and how it goes on: speeds in world units a second."""

    position: Position
    speed: float
    side_speed: float
    vert_speed: float
    pitch: float
    activity: int


class StepReader:
    """The server's end of one client's predictions."""

    __slots__ = ("_layout", "_reader")

    def __init__(self, dialect: Dialect) -> None:
        """Begin as a client does when it enters a zone. Raises `UnknownStruct`."""
        self._reader = PredictionReader(dialect)
        self._layout = self._reader.positions.layout

    def read(self, payload: bytes) -> MovementStep:
        """Return the step that a message says. Its numbers may be anything, NaN included.

        Raises `MalformedMessage`; the base is then as before.
        """
        fields = self._layout.decode(self._reader.read(payload).position.now)
        return MovementStep(
            Position(
                fields["x"],
                fields["y"],
                fields["z"],
                (fields["direction1"] + HALF_TURN) % FULL_TURN,
                fields["grid_location"],
            ),
            fields["speed"],
            fields["side_speed"],
            fields["vert_speed"],
            HALF_TURN + fields["pitch"],
            fields["activity"],
        )


class Pace:
    """One player's pace. `refused` counts the steps that were not believed."""

    __slots__ = ("_ground", "_height", "_last", "refused", "rules")

    def __init__(self, rules: MovementRules, now: Monotonic) -> None:
        self.rules = rules
        self.refused = 0
        self._last = now
        self._ground = rules.fastest * rules.reserve
        self._height = rules.fastest_fall * rules.reserve

    def complaint(self, step: MovementStep, here: Position, now: Monotonic) -> str | None:
        """Return why a step from `here` is not believed, None when it is; it is paid for then."""
        rules = self.rules
        passed = max(0.0, now - self._last)
        self._last = now
        self._ground = min(self._ground + passed * rules.fastest, rules.fastest * rules.reserve)
        self._height = min(
            self._height + passed * rules.fastest_fall, rules.fastest_fall * rules.reserve
        )
        reason = self._nonsense(step) or self._haste(step, here)
        if reason is not None:
            self.refused += 1
        return reason

    def moved_by_server(self, now: Monotonic) -> None:
        """Begin anew: the server put the player somewhere."""
        self._last = now
        self._ground = self.rules.fastest * self.rules.reserve
        self._height = self.rules.fastest_fall * self.rules.reserve

    def _nonsense(self, step: MovementStep) -> str | None:
        at = step.position
        numbers = (at.x, at.y, at.z, at.heading, step.pitch)
        speeds = (step.speed, step.side_speed, step.vert_speed)
        if not all(map(math.isfinite, numbers + speeds)):
            return "position is no number"
        if max(abs(at.x), abs(at.y), abs(at.z)) > self.rules.farthest:
            return "position outside the world"
        if max(map(abs, speeds)) > self.rules.fastest_field:
            return "speed beyond all measure"
        return None

    def _haste(self, step: MovementStep, here: Position) -> str | None:
        ground = here.distance_to(step.position)
        height = abs(step.position.y - here.y)
        if ground > self._ground or height > self._height:
            return "moved too fast"
        self._ground -= ground
        self._height -= height
        return None
