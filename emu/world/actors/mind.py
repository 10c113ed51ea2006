"""The mind of a creature: whom it hates, who fights it, and where it goes back to.

Scripts set and ask these values. Fights read them once there are fights.
Source: docs/guides/lua.md#hate.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from emu.rules.stance import Encounter
from emu.world_stream.movement import Position

S = TypeVar("S")
"""The spawns of the world, which have minds themselves."""
MOST_HATED: Final = 64
"""Spawns that one creature hates; further ones are left out."""
LARGEST_HATE: Final = 2**31 - 1
SHORTEST_TICK: Final = 20
"""Milliseconds between two thoughts of a creature."""
WIDEST: Final = 1000.0
"""Units of the largest radius in which a creature attacks."""


@dataclass(slots=True, eq=False)
class Mind(Generic[S]):
    """What one creature has in mind."""

    hates: dict[S, int] = field(default_factory=dict)
    """Those that it hates, each at least 1, in the order they came."""
    fighters: dict[S, None] = field(default_factory=dict)
    """The players who fight it: its encounter."""
    encounter: Encounter = Encounter.FREE
    """To whom its fight belongs."""
    owners: frozenset[int] = frozenset()
    """The numbers of the spawns to whom its fight is shown as their own."""
    is_worthless: bool = False
    """Whether nobody is rewarded for its death: a creature has summoned it."""
    has_master: bool = False
    """Whether it is somebody's pet."""
    left_from: Position | None = None
    """Where it stood when it began to hate somebody, and goes back to."""
    spell_list: int = 0
    second_spell_list: int = 0
    aggro_radius: float | None = None
    """In which it attacks; None: that of its row."""
    base_aggro_radius: float | None = None
    thinks_by_script: bool = False
    """Whether its script decides what it does in a fight."""
    tick: int = 0
    """Milliseconds between two of its thoughts; 0 for the usual time."""

    def add_hate(self, hated: S, amount: int, place: Position) -> None:
        """Hate somebody more, or less but never below 1; `place` is where the creature stands."""
        if hated not in self.hates and (amount <= 0 or len(self.hates) >= MOST_HATED):
            return
        if not self.hates and self.left_from is None:
            self.left_from = place
        self.hates[hated] = max(1, min(self.hates.get(hated, 0) + amount, LARGEST_HATE))

    def most_hated(self) -> S | None:
        """Return whom it hates most, of equals the one that came first; None for nobody."""
        return max(self.hates, key=self.hates.__getitem__, default=None)

    def order(self) -> list[S]:
        """Return those that it hates, the most hated first."""
        return sorted(self.hates, key=self.hates.__getitem__, reverse=True)

    def shift(self, hated: S, *, up: bool) -> None:
        """Let somebody change places with the next one in the order of hate."""
        order = self.order()
        if hated not in order:
            return
        other = order.index(hated) + (-1 if up else 1)
        if 0 <= other < len(order):
            mine, theirs = self.hates[hated], self.hates[order[other]]
            # Of equals, neither comes before the other: one more makes the difference.
            high = min(max(mine, theirs) + (mine == theirs), LARGEST_HATE)
            low = min(mine, theirs, high - 1) or 1
            self.hates[hated], self.hates[order[other]] = (high, low) if up else (low, high)

    def forget(self, hated: S) -> None:
        """Forget somebody that it hates, or who fights it."""
        self.hates.pop(hated, None)
        self.fighters.pop(hated, None)
