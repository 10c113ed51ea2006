from __future__ import annotations

from itertools import count

import pytest

from emu.processes.shared import SharedPresence
from tests.processes.contracts.presence import PresenceContract, Presences
from tests.support.running.processes import bus


class TestSharedPresence(PresenceContract):
    @pytest.fixture
    def presences(self) -> Presences:
        shared, numbers = bus(), count()
        return lambda: SharedPresence(shared, f"process {next(numbers)}")
