"""Rules of hazards: what falls and drowning cost. Source: docs/protocol/world/fights.md#hazards."""

from __future__ import annotations

import math
from typing import Final

SAFE_HEIGHT: Final = 13.0
"""Units that anybody falls unhurt; each five points of Safe Fall add one."""
DEADLY_HEIGHT: Final = 80.0
"""Units from which a fall costs all health."""
_SHARE_OF_UNIT: Final = 125
"""Ten-thousandths of the most health that each further unit costs."""
_WHOLE: Final = 10_000
DROWNING_PAUSE: Final = 2.0
"""Seconds between two times that drowning hurts."""
_DROWNING_SHARE: Final = 20


def fall_damage(height: float, safe_fall: int, most: int, saving: float = 0.0) -> int:
    """Return the health that a fall costs somebody with so much at most; 0 for a low one.

    `safe_fall` is the skill, `saving` percent of less damage.
    """
    over = height - (SAFE_HEIGHT + (1 + safe_fall) / 5)
    if over <= 0:
        return 0
    if height >= DEADLY_HEIGHT:
        return most
    share = math.ceil(over * _SHARE_OF_UNIT) / _WHOLE
    return int(most * share * (1 - max(0.0, min(saving, 100.0)) / 100))


def drowning_damage(most: int) -> int:
    """Return the health that each `DROWNING_PAUSE` under water without breath costs."""
    return max(1, most // _DROWNING_SHARE)
