"""Rules of skills: how high they are, and how they grow by use.

Source: docs/protocol/world/fights.md#skills.
"""

from __future__ import annotations

from typing import Final

from emu.rules.combat import SKILL_OF_LEVEL, FightChance

_CHANCE: Final = 10.0
_SLOWER: Final = 50
"""The higher a skill is, the more seldom it grows: by this the beginning is slowed down."""
_ROLLS: Final = 10_000


def most_at(level: int) -> int:
    """Return the highest value that a skill can have at a level."""
    return SKILL_OF_LEVEL * max(1, level)


def raise_percent(value: int) -> float:
    """Return the chance, in percent, that one use raises a skill of a value by one."""
    return 100.0 / (_SLOWER + max(0, value)) * _CHANCE


def grows(value: int, most: int, chance: FightChance) -> bool:
    """Return whether a use raises a skill of a value by one; never above `most`."""
    if value >= most:
        return False
    return chance.randint(0, _ROLLS - 1) < raise_percent(value) * _ROLLS / 100
