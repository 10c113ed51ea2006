"""A running zone: grid, viewers, tick."""

from __future__ import annotations

from emu.world.zone.grid import Grid
from emu.world.zone.viewer import Viewer, ViewerLink
from emu.world.zone.zone import Zone

__all__ = ["Grid", "Viewer", "ViewerLink", "Zone"]
