"""How often servers and clients do by themselves what they do all the time, by seed.

A run with all defaults of the program spends most of its time with what moves. So most seeds have
slower paces, and some have the defaults.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

UPDATE_RATES = (1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 11.0)
"""How often in a second players are sent what has changed: 11 is the default of the program."""
STEPS = (0.25, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0)
"""Seconds between two steps of a client that walks: the first is that of our client."""
KEEP_ALIVES = (2.0, 10.0, 10.0, 10.0)
"""Seconds without a datagram to a client's next KeepAlive: the first is that of our client."""
REVIEWS = (1.0, 4.0, 4.0, 4.0)
"""Seconds between two reviews of a process that is alone: the first is the default.

Several processes have the default, since each has to know of a ban within `BAN_KNOWN`.
"""
LEASES = (3, 6)
"""Seconds of the lease of a node, whose beats come after a third of it: 6 is the default."""


@dataclass(frozen=True)
class Paces:
    """The paces of one run, with the units of the lists above."""

    update_rate: float
    step: float
    keep_alive: float
    review: float
    lease: int


def drawn_paces(seed: int) -> Paces:
    """Return the paces of a seed."""

    def chance(name: str) -> random.Random:
        return random.Random(f"{seed} {name}")

    return Paces(
        update_rate=chance("updates").choice(UPDATE_RATES),
        step=chance("steps").choice(STEPS),
        keep_alive=chance("keep-alives").choice(KEEP_ALIVES),
        review=chance("reviews").choice(REVIEWS),
        lease=chance("leases").choice(LEASES),
    )
