"""Who is meant, and who stands above whom."""

from __future__ import annotations

import pytest

from emu.commands import Call, Caller
from emu.errors import CommandError
from emu.times import Monotonic
from emu.world.commands.context import check_rank, player_named
from tests.support.coroutines import finish
from tests.support.world.worlds import WorldHarness


def call_of(rank: int, account_id: int = 0) -> Call:
    return Call(Caller("B", rank, "game", account_id=account_id), {}, Monotonic(0.0))


def test_a_player_is_found_by_name(harness: WorldHarness) -> None:
    one = harness.stand(5, name="Aldana")
    assert player_named(harness.command_context, "aldana", call_of(0)) is one.player
    with pytest.raises(CommandError, match="no player Nobody"):
        player_named(harness.command_context, "Nobody", call_of(0))


def test_a_hidden_player_is_found_by_guides_only(harness: WorldHarness) -> None:
    one = harness.stand(5, name="Aldana", admin_status=100)
    one.types("/hide")
    with pytest.raises(CommandError, match="there is no player ALDANA in the world"):
        player_named(harness.command_context, "ALDANA", call_of(9))
    assert player_named(harness.command_context, "aldana", call_of(10)) is one.player


@pytest.mark.parametrize(
    ("rank", "own", "harmless", "allowed"),
    [
        (149, False, False, False),
        (150, False, False, False),
        (151, False, False, True),
        (150, True, False, False),
        (0, True, False, False),
        (0, True, True, True),
        (0, False, True, False),
        (1000, False, False, True),
    ],
)
def test_a_rank_must_be_above_that_of_the_account(
    harness: WorldHarness, rank: int, own: bool, harmless: bool, allowed: bool
) -> None:
    """The account's rank is that of its highest character, whichever of them is meant."""
    harness.character(6, account_id=77, admin_status=150)
    harness.character(7, account_id=77)
    call = call_of(rank, 77 if own else 78)
    work = check_rank(harness.command_context, call, 77, "Name7", harmless=harmless)
    if allowed:
        finish(work)
    else:
        with pytest.raises(CommandError, match="Name7 has your rank or a higher one"):
            finish(work)
