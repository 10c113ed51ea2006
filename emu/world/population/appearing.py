"""The nearest spawns first: the sequence of filling a zone."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from emu.content.standing import Standing
from emu.world.population.reading import FIRST_FIXTURE
from emu.world_stream.movement import Position


def nearest_first(standing: Iterable[Standing], center: Position) -> list[Standing]:
    """Return what stands, in the order in which it appears to players at a place."""
    return sorted(standing, key=partial(_order_of, center))


def _order_of(center: Position, one: Standing) -> float:
    # Those of zone files come first, in the order of the files.
    return -1.0 if is_from_file(one) else (one.x - center.x) ** 2 + (one.z - center.z) ** 2


def is_from_file(standing: Standing) -> bool:
    """Return whether a zone file places what stands."""
    return standing.placement.id >= FIRST_FIXTURE
