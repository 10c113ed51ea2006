"""What a server has counted and what it has now, for whoever looks: an operator, a page, a scraper.

`Measures` is the registry. It outlives sessions and costs the hot path nothing: sessions count for
themselves, and are added up when they end and when somebody looks.
"""

from __future__ import annotations

from emu.measures.doors import DoorMeasures, Uses
from emu.measures.families import Counter, Family, Histogram, Kind, Reading
from emu.measures.registry import Measures

__all__ = [
    "Counter",
    "DoorMeasures",
    "Family",
    "Histogram",
    "Kind",
    "Measures",
    "Reading",
    "Uses",
]
