"""What one viewer's client is sent."""

from __future__ import annotations

from emu.world.spawns import Change, Position, Spawn, SpawnKind
from emu.world.zone import Zone
from tests.support.zone_clients import ZoneClient, player


def test_destroying_names_the_index() -> None:
    """DestroyGhost of index 2, docs/protocol/world/recorded.md#examples."""
    sent: list[tuple[str, bytes]] = []
    zone = Zone(1)
    one = ZoneClient(player(1))
    one.enter(zone, 0.0)
    assert one.viewer is not None
    rock = Spawn(5, SpawnKind.OBJECT, "rock", Position(0, 0, 0))
    one.viewer.show(rock, 0)
    one.command = lambda name, payload: sent.append((name, payload))  # type: ignore[method-assign]
    one.viewer.hide(rock)
    one.viewer.hide(rock)
    assert sent == [("OP_EqDestroyGhostCmd", b"\2\1")]


def test_its_own_movement_is_no_news_but_its_state_is() -> None:
    zone = Zone(1)
    one = ZoneClient(player(1))
    one.enter(zone, 0.0)
    assert one.viewer is not None
    assert not one.viewer.changed(one.spawn, Change.POSITION)
    assert not one.viewer.sights.is_due
    assert one.viewer.changed(one.spawn, Change.INFO)
