"""Many clients at once: what each of them does, and what all of them measured.

The Twisted side is `emu.net.client.swarm`.
"""

from __future__ import annotations

from emu.client.swarm.bot import Bot, BotHabits
from emu.client.swarm.figures import Figures, percentile

__all__ = ["Bot", "BotHabits", "Figures", "percentile"]
