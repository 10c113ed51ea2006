"""One spawn that stands in a zone, and what is rolled when it comes.

Source: docs/guides/content.md#population.
"""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

from emu.content.file import Entry, Placement, Template
from emu.times import Monotonic

THOUSANDTHS: Final = 1000
FULL_TURN: Final = 360.0
HIGHEST_LEVEL: Final = 125
"""Rows above it are mistakes."""
LARGEST_SEED: Final = 2**512 - 1
"""Digits for some sixty rolls of a byte."""


class Randomness(Protocol):
    """The random numbers of one zone, as `random.Random` gives them."""

    def random(self) -> float:
        """Return a number from 0 to below 1."""

    def randint(self, a: int, b: int, /) -> int:
        """Return a whole number from a to b, both included."""


class Standing(NamedTuple):
    """One spawn that stands: its template, and all that was rolled for it."""

    placement: Placement
    entry: Entry
    template: Template
    x: float
    y: float
    z: float
    level: int
    size: int
    expires: Monotonic | None
    group: int
    """The number of the group that it stands in; 0 without one."""
    heading: float = 0.0
    seed: int = 0
    """A long number for `Rolls` of its appearance; 0 if nothing is rolled."""


def stand(
    placement: Placement, entry: Entry, template: Template, now: Monotonic, chance: Randomness, *,
    group: int = 0,
) -> Standing:  # fmt: skip
    """Return a spawn of a template that comes to a place now; `group` is that of its place."""
    return Standing(
        placement, entry, template,
        _around(placement.x, placement.x_offset, chance),
        _around(placement.y, placement.y_offset, chance),
        _around(placement.z, placement.z_offset, chance),
        _level(placement, template, chance),
        _size(template, chance),
        _expiry(placement, now, chance),
        group,
        chance.random() * FULL_TURN if template.own.get("any_heading") else placement.heading,
        chance.randint(1, LARGEST_SEED) if template.own.get("randomize") else 0,
    )  # fmt: skip


def _around(center: float, offset: float, chance: Randomness) -> float:
    """Return a coordinate near a point; places close to it are the likelier ones."""
    if offset <= 0:
        return center
    most = int(offset * THOUSANDTHS)
    return center + (chance.randint(0, most) - chance.randint(0, most)) / THOUSANDTHS


def _level(placement: Placement, template: Template, chance: Randomness) -> int:
    if placement.level:
        return placement.level
    own = template.own
    low, high = own.get("min_level", 0), own.get("max_level", 0)
    low, high = (max(1, min(HIGHEST_LEVEL, one)) for one in sorted((low, high)))
    return chance.randint(low, high)


def _size(template: Template, chance: Randomness) -> int:
    size, offset = template.spawn["size"], template.spawn["size_offset"]
    if not offset:
        return int(size)
    return max(1, int(size + chance.randint(0, offset) - chance.randint(0, offset)))


def _expiry(placement: Placement, now: Monotonic, chance: Randomness) -> Monotonic | None:
    timer, offset = placement.expire, placement.expire_offset
    if not timer:
        return None
    if offset:
        timer = chance.randint(timer - offset if offset < timer else timer, timer + offset)
    return Monotonic(now + timer)
