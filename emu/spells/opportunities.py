"""Kinds of heroic opportunities: what starts one, and the wheels that complete it.

Source: docs/guides/spells.md#opportunities.
"""

from __future__ import annotations

from typing import Final, NamedTuple

NO_ABILITY: Final = 0xFFFF
ABILITIES: Final = 6
"""Places for abilities in a row."""


class HeroicStarter(NamedTuple):
    """What a class can start; a spell with the heroic icon of its first ability begins a wheel."""

    id: int
    class_: int
    icon: int
    ability: int


class HeroicWheel(NamedTuple):
    """A wheel: the abilities that complete it, and the spell that is cast then."""

    id: int
    starter: int
    in_order: bool
    shift_icon: int
    spell_id: int
    chance: float
    """Its weight among the wheels of one starter."""
    abilities: tuple[int, ...]
    """Heroic icons of spells."""


class HeroicTable(NamedTuple):
    """All that a world can start."""

    starters: tuple[HeroicStarter, ...] = ()
    wheels: tuple[HeroicWheel, ...] = ()
