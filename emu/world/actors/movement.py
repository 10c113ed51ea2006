"""Movement of players: predictions of clients, and the steps that the server believes.

A client sends each step as a position struct XORed with the one before. Both sides keep that
struct, and it advances with every message that can be unpacked. So a client that sends nonsense
once is understood again with its next step (docs/protocol/world/movement.md#prediction).

The limits are ours; EQ2Emulator passes every step on
(docs/protocol/world/movement.md#bad-predictions).
"""

from __future__ import annotations

import enum
import math
from functools import lru_cache
from typing import Final, NamedTuple

from emu.dialects import Dialect
from emu.structs import StructLayout
from emu.structs.fields import NumberReader
from emu.times import Monotonic
from emu.world.rules import MovementRules
from emu.world_stream.deltas import PredictionReader
from emu.world_stream.movement import HALF_TURN, Position, from_client


class StepRefusal(enum.StrEnum):
    """Why a step is not believed; the values are labels of a metric."""

    NO_NUMBER = "position is no number"
    OUTSIDE = "position outside the world"
    BAD_SPEED = "speed beyond all measure"
    TOO_FAST = "moved too fast"


class MovementStep(NamedTuple):
    """Where a client says it is, and how it goes on: speeds in world units a second."""

    position: Position
    speed: float
    side_speed: float
    vert_speed: float
    pitch: float
    activity: int


class StepReader:
    """Reads one client's predictions."""

    __slots__ = ("_layout", "_numbers", "_reader")

    def __init__(self, dialect: Dialect) -> None:
        """Begin as a client does when it enters a zone. Raises `UnknownStruct`."""
        self._reader = PredictionReader(dialect)
        self._layout = self._reader.positions.layout
        self._numbers = _number_reader(self._layout)

    def read_step(self, payload: bytes) -> MovementStep | None:
        """Return the step of a message, None if the client has repeated the one before.

        Its numbers may be anything, NaN included. Raises `MalformedMessage`; the base of the next
        delta is then as before.
        """
        # The reader keeps the new base even if the step is refused later: the client goes on from
        # it.
        prediction = self._reader.read(payload)
        if prediction is None:
            return None
        if self._reader.positions.layout is not self._layout:
            # The first message has shown that the client has the other layout.
            self._layout = self._reader.positions.layout
            self._numbers = _number_reader(self._layout)
        x, y, z, heading, grid, speed, side_speed, vert_speed, pitch, activity = self._numbers(
            prediction.position.now
        )
        return MovementStep(
            Position(x, y, z, from_client(heading), grid),
            speed,
            side_speed,
            vert_speed,
            HALF_TURN + pitch,
            activity & ~NEWER_ACTIVITY,
        )


@lru_cache(maxsize=64)
def _number_reader(layout: StructLayout) -> NumberReader:
    """Return what reads the numbers of a step: one for all clients with a layout."""
    return layout.number_reader(
        "x", "y", "z", "direction1", "grid_location", "speed", "side_speed", "vert_speed",
        "pitch", "activity",
    )  # fmt: skip


NEWER_ACTIVITY: Final = 0x4000
"""A bit that clients from 60085 on set beside each of the older activities.

Source: docs/protocol/world/newer.md#position-of-clients.
"""


CARRIED: Final = 256
"""The bit of the activity of who stands on a transport: the place counts from the transport then.

Source: docs/protocol/world/movement.md#carried.
"""


AFTER_MOVE: Final = 3.0
"""World units that a client may go at once after the server has moved its player."""


class Pace:
    """Limits how far one player moves over time. `refused` counts the steps not believed.

    Time earns distance and a step spends it: two token buckets, one for the ground and one for
    height. Their size is the distance of `MovementRules.reserve` seconds. It lets the steps
    through that arrive together after a pause of the link, without letting a client jump: a
    single step longer than the bucket is never believed. A limit per step would not do, because
    a client decides how many steps it sends.

    Height has a bucket of its own because players fall much faster than they run. A climb costs
    as much as a fall: the server has no model of the ground, and a client that climbs freely could
    enter any place from above.
    """

    __slots__ = (
        "_ground", "_height", "_is_held", "_last", "corrected", "refused", "rules", "unstuck",
    )  # fmt: skip

    def __init__(self, rules: MovementRules, now: Monotonic) -> None:
        self.rules = rules
        self.refused = 0
        self.corrected = self.unstuck = -math.inf
        """When its client was put back last, and when it used the command ``stuck`` last."""
        self._last = now
        self._is_held = False
        self._ground = rules.fastest * rules.reserve
        self._height = rules.fastest_fall * rules.reserve

    def refusal(
        self, step: MovementStep, here: Position, now: Monotonic, *, is_held: bool = False
    ) -> StepRefusal | None:
        """Return why a step from `here` is not believed; if it is believed, charge it.

        Who `is_held`, because it is dead or rooted, goes as far as what its client has sent before
        it knew, and falls; it goes farther only if the server pushes it.
        """
        rules = self.rules
        # Refused steps let time earn distance, too; the bucket's size bounds what can be saved up.
        passed = max(0.0, now - self._last)
        self._last = now
        if is_held and not self._is_held:
            self._ground = min(self._ground, AFTER_MOVE)
        self._is_held = is_held
        if not is_held:
            self._ground = min(self._ground + passed * rules.fastest, rules.fastest * rules.reserve)
        self._height = min(
            self._height + passed * rules.fastest_fall, rules.fastest_fall * rules.reserve
        )
        # Numbers first: a comparison with NaN is false, so NaN would pass the limits.
        refusal = self._bad_numbers(step) or self._too_fast(step, here)
        if refusal is not None:
            self.refused += 1
        return refusal

    def teleported(self, now: Monotonic) -> None:
        """Note that the server has put the player elsewhere in its zone.

        Steps that the client sent before it learned of that arrive afterwards. They are measured
        from the new place; a full bucket would let one of them undo a short move.
        """
        self.moved_by_server(now)
        self._ground = AFTER_MOVE

    def moved_by_server(self, now: Monotonic) -> None:
        """Fill the buckets: a client begins anew, or the server pushes the player."""
        self._last = now
        self._ground = self.rules.fastest * self.rules.reserve
        self._height = self.rules.fastest_fall * self.rules.reserve

    def _bad_numbers(self, step: MovementStep) -> StepRefusal | None:
        (x, y, z, heading, _), speed, side_speed, vert_speed, pitch, _ = step
        # A sum with NaN or an infinity is neither finite; 32-bit numbers make no other such sum.
        if not math.isfinite(x + y + z + heading + speed + side_speed + vert_speed + pitch):
            return StepRefusal.NO_NUMBER
        most = self.rules.farthest
        if abs(x) > most or abs(y) > most or abs(z) > most:
            return StepRefusal.OUTSIDE
        most = self.rules.fastest_field
        if abs(speed) > most or abs(side_speed) > most or abs(vert_speed) > most:
            return StepRefusal.BAD_SPEED
        return None

    def _too_fast(self, step: MovementStep, here: Position) -> StepRefusal | None:
        # The server measures from its own last believed place. The client's previous step may never
        # have been believed.
        ground = here.distance_to(step.position)
        height = abs(step.position.y - here.y)
        if ground > self._ground or height > self._height:
            return StepRefusal.TOO_FAST
        # Only believed steps are charged: a refused one leaves the player where it was.
        self._ground -= ground
        self._height -= height
        return None
