"""A world with the kinds of `tests.support.world.item_kinds`, and what its players hold."""

from __future__ import annotations

from typing import Any

from emu.items.held import Where
from emu.world.actors.player import Player
from tests.support.world import item_kinds as kinds
from tests.support.world.worlds import Client, WorldHarness


def scene(version: int = 546, **values: Any) -> tuple[WorldHarness, Client]:
    harness = WorldHarness()
    harness.kinds = kinds.item_kinds()
    harness.parts.items.kinds = harness.kinds
    client = harness.stand(1, version, admin_status=100, class_=1, **values)
    return harness, client


def player_of(client: Client) -> Player:
    assert client.player is not None
    return client.player


def held(client: Client, where: Where = Where.BAGS) -> list[tuple[int, int, int]]:
    """Return kind, place and count of what lies in a list."""
    found = player_of(client).holdings.inventory.in_list(where)
    return [(one.item_id, one.place.slot, one.count) for one in found]
