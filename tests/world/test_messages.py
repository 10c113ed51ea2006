"""The table of players' messages."""

from __future__ import annotations

import pytest

from emu.times import Monotonic
from emu.world.actors.player import Player, PlayerState
from emu.world.messages import CONNECTED, NOT_ZONING, WorldMessages
from tests.support.world.worlds import WorldHarness


def handler(_player: Player, _body: bytes, _now: Monotonic) -> None:
    """Do nothing."""


def test_a_message_has_one_handler_and_its_states() -> None:
    messages = WorldMessages()
    messages.add_handler("OP_SitMsg", handler, NOT_ZONING)
    rule = messages["OP_SitMsg"]
    assert (rule.handler, rule.states) == (handler, NOT_ZONING)
    assert "OP_StandMsg" not in messages
    with pytest.raises(ValueError, match="OP_SitMsg has a handler already"):
        messages.add_handler("OP_SitMsg", handler, CONNECTED)


def test_each_message_of_a_world_names_states_of_a_client_that_is_here(
    harness: WorldHarness,
) -> None:
    for name, rule in harness.service.messages.items():
        assert rule.states <= CONNECTED | {PlayerState.GONE}, name
