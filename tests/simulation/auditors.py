"""Auditors: what must always hold, what holds after quiet, and what an empty server has left.

A new subject adds its auditors to `AUDITORS`; nothing else changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.simulation.simulation import Simulation


class Moment(Enum):
    """When an auditor looks."""

    ANY = "at any moment"
    QUIET = "after a time without faults and acts"
    EMPTY = "after all players have gone"
    STOPPED = "after all servers have stopped"


@dataclass(frozen=True)
class Auditor:
    """One auditor; `look` yields what is wrong."""

    name: str
    moment: Moment
    look: Callable[[Simulation], Iterator[str]]


AUDITORS: tuple[Auditor, ...] = ()
