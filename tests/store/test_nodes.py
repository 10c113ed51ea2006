"""The tables of nodes, zone instances and leases."""

from __future__ import annotations

from itertools import count

import pytest
from twisted.internet.defer import Deferred

from emu.cluster.ports import NodeStore
from emu.store import Store
from emu.store.asynchronous import StoreConnections
from emu.store.asynchronous_world import AsyncNodes
from emu.store.row_cache import StoreCache
from tests.cluster.contracts.nodes import NodeStoreContract
from tests.support.database.stores import run_inline


class TestNodeTable(NodeStoreContract):
    file: Store

    def later(self, seconds: float) -> None:
        with self.file.database.transaction() as connection:
            connection.execute("UPDATE nodes SET seen = seen - ?", (seconds,))

    @pytest.fixture
    def store(self, empty_store: Store) -> NodeStore:
        self.file = empty_store
        cache = StoreCache(count().__next__, Deferred, 1)
        ways = StoreConnections(
            self.file, run_inline, self.file, run_inline, run_inline, run_inline, cache
        )
        return AsyncNodes(ways, lambda store: store.world.nodes)
