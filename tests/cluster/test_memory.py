"""The store of nodes in memory."""

from __future__ import annotations

import pytest

from emu.cluster.memory import NodesInMemory
from tests.cluster.contracts.nodes import NodeStoreContract


class TestNodesInMemory(NodeStoreContract):
    now = 1_700_000_000.0

    def later(self, seconds: float) -> None:
        self.now += seconds

    @pytest.fixture
    def store(self) -> NodesInMemory:
        return NodesInMemory(lambda: self.now)
