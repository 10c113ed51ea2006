"""A spawn reports to its watcher which group of fields changed."""

from __future__ import annotations

from emu.world.actors.spawn import GhostPart, Spawn, SpawnKind
from emu.world_stream.movement import Position


def test_changes_are_reported_by_side() -> None:
    reported: list[int] = []
    spawn = Spawn(1, SpawnKind.PLAYER, "A", Position(0, 0, 0))
    spawn.watcher = lambda _spawn, change: reported.append(change)
    spawn.move(Position(1, 2, 3), speed=1.0, pitch=10.0)
    spawn.set_info(level=3)
    spawn.set_visibility(targetable=False)
    assert spawn.set_word("afk", on=True)
    assert not spawn.set_word("afk", on=True)
    assert reported == [GhostPart.POSITION, GhostPart.INFO, GhostPart.VISIBILITY, GhostPart.INFO]
    assert (spawn.pitch, spawn.activity) == (10.0, 128)
    spawn.move(Position(1, 2, 3))
    assert (spawn.pitch, spawn.speed) == (10.0, 0.0)
