"""Spawns: everything that stands in a zone, players too, as plain state without a client's view."""

from __future__ import annotations

from emu.sight.position import Position
from emu.world.spawns.spawn import Change, Destination, Footer, Spawn, SpawnKind, Verb

__all__ = ["Change", "Destination", "Footer", "Position", "Spawn", "SpawnKind", "Verb"]
