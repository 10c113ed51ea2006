"""What one viewer's client is sent."""

from __future__ import annotations

import gc
import weakref

from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position
from tests.support.world.zone_clients import ZoneClient, player, run_ticks
from tests.support.world.zone_files import definition


def test_destroying_names_the_index() -> None:
    """DestroyGhost of index 2, docs/protocol/world/recorded.md#examples."""
    sent: list[tuple[str, bytes]] = []
    zone = Zone(definition(1))
    one = ZoneClient(player(1))
    one.enter(zone, 0.0)
    assert one.viewer is not None
    rock = Spawn(5, SpawnKind.OBJECT, "rock", Position(0, 0, 0))
    one.viewer.show(rock, 0)

    def take(name: str, payload: bytes, *, may_wait: bool = False) -> None:
        sent.append((name, payload))

    one.command = take  # type: ignore[method-assign]
    one.viewer.hide(rock)
    one.viewer.hide(rock)
    assert sent == [("OP_EqDestroyGhostCmd", b"\2\1")]


def test_a_viewer_that_leaves_is_freed_without_a_search_for_garbage() -> None:
    zone, one = Zone(definition(1)), ZoneClient(player(1))
    one.enter(zone, 0.0)
    assert one.viewer is not None
    gc.disable()
    try:
        zone.leave(one.viewer, 2.0)
        one.viewer = None
        client = weakref.ref(one)  # The viewer has it as its link.
        del one
        assert client() is None
    finally:
        gc.enable()


def test_its_own_movement_is_no_news_but_its_state_is() -> None:
    sent: list[bytes] = []
    zone = Zone(definition(1))
    one = ZoneClient(player(1))
    one.enter(zone, 0.0)
    zone.tick(0.0)

    def take(name: str, payload: bytes, *, may_wait: bool = False) -> None:
        sent.append(payload)

    one.command = take  # type: ignore[method-assign]
    one.spawn.move(Position(1, 2, 3))
    zone.tick(1.0)
    assert sent == []
    one.spawn.set_word("afk", on=True)
    zone.tick(2.0)
    assert len(sent) == 1


def test_it_sends_up_to_the_capacity_and_then_asks_once_more() -> None:
    """The request that finds no capacity is the one that a session answers later."""
    zone = Zone(definition(1))
    one = ZoneClient(player(1))
    others = [ZoneClient(player(number)) for number in range(2, 30)]
    for client in (one, *others):
        client.enter(zone, 0.0)
    run_ticks(zone, 0.0, 1.0)
    for other in others:
        other.spawn.move(Position(7.0, 0, 0))
    capacities = [60, 50, 0]
    asked: list[int] = []

    def capacity() -> int:
        asked.append(capacities[len(asked)])
        return asked[-1]

    one.capacity = capacity  # type: ignore[method-assign]
    zone.tick(2.0)
    assert asked == capacities
    assert one.viewer is not None
    assert one.viewer.interest.is_due
