"""Ghosts: what clients are shown of spawns, encoded once for all who were sent the same before.

`Sights` is one viewer's side: indexes, baselines, and what it has still to be told.
"""

from __future__ import annotations

from emu.world.ghosts.forms import GhostForm, GhostRules, read_rules
from emu.world.ghosts.picture import Album, Picture
from emu.world.ghosts.sights import OWN_INDEX, Sights

__all__ = ["OWN_INDEX", "Album", "GhostForm", "GhostRules", "Picture", "Sights", "read_rules"]
