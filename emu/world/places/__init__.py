"""Places: the zones a world has, what stands in them, and where new characters begin.

All of it is read from files, the shipped ones in `data/world` and an operator's own; `Atlas` is
what was read, `Population` puts it into running zones. The vocabulary is in docs/guides/zones.md.
"""

from __future__ import annotations

from emu.world.places.atlas import Atlas, read_atlas
from emu.world.places.fixtures import Fixture
from emu.world.places.population import Population
from emu.world.places.zones import ZoneDefinition

__all__ = ["Atlas", "Fixture", "Population", "ZoneDefinition", "read_atlas"]
