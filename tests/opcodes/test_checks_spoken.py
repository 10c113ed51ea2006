"""Every message that a service handles has to have a number of its own."""

from __future__ import annotations

from emu.opcodes.checks import SPOKEN
from emu.opcodes.table import RENAMED
from tests.support.login.login_harness import Harness
from tests.support.world.worlds import WorldHarness


def test_the_login_handles_no_other_message() -> None:
    assert set(Harness().server.messages) <= SPOKEN


def test_a_world_handles_no_other_message() -> None:
    assert set(WorldHarness().service.messages) - set(RENAMED) <= SPOKEN
