"""The time after which a spawn that has left its place returns.

Source: docs/guides/content.md.
"""

from __future__ import annotations

from typing import Protocol


class RespawnChance(Protocol):
    """Chooses numbers; `random.Random` does."""

    def randint(self, low: int, high: int, /) -> int:
        """Return a number from `low` to `high`, both included."""


def respawn_wait(seconds: int, low: int, high: int, chance: RespawnChance) -> int | None:
    """Return the seconds until a place is filled again; None for a place that stays empty.

    `low` and `high` bound what chance adds to the usual time; a `high` below `low` counts as `low`.
    """
    if not seconds:
        return None
    return max(0, seconds + chance.randint(low, max(low, high)))
