"""Spirit shards as they are stored: where characters have died, when, and what that has cost.

Source: docs/protocol/world/fights.md#death.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from emu.facts import FARTHEST, U32, Decimal, Integer, Listed, Time
from emu.times import Moment

MOST_SHARDS: Final = 10
"""Spirit shards of one character; a further death takes the place of the first."""
NUMBERS: Final = 256
"""Numbers of the shards of one character, without 0."""
MOST_DEBT: Final = 100_000
"""The debt of a level, in thousandths of a percent."""


@dataclass(frozen=True, slots=True)
class Shard:
    """A spirit shard of a character."""

    number: Annotated[int, Integer("number of a shard", 1, NUMBERS - 1)]
    """Its number among those of the character."""
    zone_id: Annotated[int, Integer("zone of a shard", 0, U32)]
    x: Annotated[float, Decimal("place of a shard", FARTHEST)]
    y: Annotated[float, Decimal("place of a shard", FARTHEST)]
    z: Annotated[float, Decimal("place of a shard", FARTHEST)]
    heading: Annotated[float, Decimal("heading of a shard", FARTHEST)]
    grid: Annotated[int, Integer("grid of a shard", 0, U32)]
    debt: Annotated[int, Integer("debt of a shard", 0, MOST_DEBT)]
    """In thousandths of a percent of a level."""
    made: Annotated[Moment, Time("time of a shard")]
    """When the character has died."""

    def number_in_world(self, owner: int) -> int:
        """Return the number by which scripts know the shard of a character, of 32 bits."""
        return (owner * NUMBERS + self.number) & U32


SHARDS: Final = Listed(
    "spirit shards", MOST_SHARDS, "world_spirit_shards",
    "place, number, zone_id, x, y, z, heading, grid, debt, made",
)  # fmt: skip


def next_number(shards: tuple[Shard, ...]) -> int:
    """Return the number of the next shard of a character: the one after that of the last death."""
    used = {one.number for one in shards}
    number = shards[-1].number if shards else 0
    while True:
        number = number % (NUMBERS - 1) + 1
        if number not in used:
            return number
