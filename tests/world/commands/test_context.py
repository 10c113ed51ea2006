"""Who is meant, and who stands above whom."""

from __future__ import annotations

import pytest

from emu.commands import Call, Caller
from emu.errors import CommandError
from emu.times import Monotonic
from emu.world.commands.context import outranks, player_named
from tests.support.world.worlds import WorldHouse


def test_a_player_is_found_by_name(house: WorldHouse) -> None:
    one = house.stand(5, name="Aldana")
    assert player_named(house.command_context, "aldana") is one.player
    with pytest.raises(CommandError, match="no player Nobody"):
        player_named(house.command_context, "Nobody")


def test_nobody_stands_above_an_equal_but_may_do_it_to_itself(house: WorldHouse) -> None:
    one = house.stand(5, admin_status=100).player
    other = Call(Caller("B", 100, "game"), {}, Monotonic(0.0))
    own = Call(Caller("A", 100, "game", one), {}, Monotonic(0.0))
    with pytest.raises(CommandError, match="rank"):
        outranks(other, one)
    outranks(own, one)
