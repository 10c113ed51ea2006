from __future__ import annotations

from itertools import count

import pytest

from emu.processes.presence import SharedPresence
from tests.processes.contracts.presence import Pictures, PresenceContract
from tests.support.running.processes import bus


class TestSharedPresence(PresenceContract):
    @pytest.fixture
    def pictures(self) -> Pictures:
        shared, numbers = bus(), count()
        return lambda: SharedPresence(shared, f"process {next(numbers)}")
