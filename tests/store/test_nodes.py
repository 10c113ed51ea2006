"""The tables of nodes, zone instances and leases."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from twisted.internet.defer import Deferred

from emu.cluster.ports import NodeStore
from emu.store import Store
from emu.store.asynchronous import AsyncNodes, StoreConnections
from emu.store.row_cache import StoreCache
from tests.cluster.contracts.nodes import NodeStoreContract
from tests.support.database.stores import run_inline


class TestNodeTable(NodeStoreContract):
    file: Store

    def later(self, seconds: float) -> None:
        with self.file.database.transaction() as connection:
            connection.execute("UPDATE nodes SET seen = seen - ?", (seconds,))

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[NodeStore]:
        with Store.create(tmp_path / "emu.sqlite") as self.file:
            cache = StoreCache(count().__next__, Deferred, 1)
            ways = StoreConnections(
                self.file, run_inline, self.file, run_inline, run_inline, run_inline, cache
            )
            yield AsyncNodes(ways, lambda store: store.world.nodes)
