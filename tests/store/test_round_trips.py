"""Round trips to a PostgreSQL server: with one far away, each costs a player its whole delay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from emu.model import Handoff
from emu.store import Store
from tests.support.database.engines import store_database
from tests.support.database.relay import Relay


class Far:
    """A store whose round trips are counted."""

    def __init__(self, store: Store, relay: Relay) -> None:
        self.store = store
        self._relay = relay

    def trips(self, call: Any, *values: Any, **named: Any) -> int:
        """Return the round trips of a call."""
        before = self._relay.trips
        self.result = call(*values, **named)
        return self._relay.trips - before


@pytest.fixture
def far() -> Iterator[Far]:
    with (
        store_database() as where,
        Relay(where.host, int(where.port or 5432)) as relay,
        Store.open(replace(where, host="127.0.0.1", port=str(relay.port))) as store,
    ):
        yield Far(store, relay)


def test_a_world_key_is_issued_and_redeemed_in_one_round_trip_each(far: Far) -> None:
    keys = far.store.world.handoffs
    assert far.trips(keys.issue, Handoff(1, 5, "Aldana"), lambda: 9, 60.0, 10, is_only=True) == 1
    assert far.trips(keys.held_by_others, 2) == 1
    assert far.trips(keys.redeem, 1, 9) == 1
    assert far.result == Handoff(1, 5, "Aldana")
    assert far.trips(keys.withdraw_account, 1) == 1
