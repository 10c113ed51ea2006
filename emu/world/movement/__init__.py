"""How players move: what their clients predict, and what of it is believed."""

from __future__ import annotations

from emu.world.movement.prediction import Step, StepReader
from emu.world.movement.trust import Pace

__all__ = ["Pace", "Step", "StepReader"]
