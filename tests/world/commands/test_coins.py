"""Commands by which game masters give and take coins, and amounts as people type them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import CommandError
from emu.ledger import Owner, OwnerKind, Reason
from emu.world.commands.coins import read_copper
from tests.support.coroutines import finish
from tests.support.world.worlds import WorldHarness


@pytest.fixture
def harness() -> WorldHarness:
    return WorldHarness()


def test_a_game_master_gives_and_takes_coins_by_its_account(harness: WorldHarness) -> None:
    master = harness.stand(5, name="Aldana", admin_status=100)
    other = harness.stand(6, name="Borvik", coins=10)
    assert master.types("coins give Borvik 2s 5c") == ["Borvik is given 2 Silver 5 Copper"]
    assert (other.player.character.coins, harness.store.rows[6].coins) == (215, 215)
    assert master.types("coins take borvik 1s") == ["Borvik loses 1 Silver"]
    assert master.types("coins take Borvik 1g") == [
        "Borvik does not have that many coins, or would have too many"
    ]
    assert harness.store.rows[6].coins == 115
    store = harness.stored.store.world.ledger
    account = Owner(OwnerKind.GAME_MASTER, master.player.character.account_id)
    log = store.of_owner(account, 9)
    assert [(one.change(account), one.reason) for one in log] == [
        (100, Reason.COMMAND), (-205, Reason.COMMAND),
    ]  # fmt: skip


def test_the_console_gives_coins_to_who_is_not_in_the_world(harness: WorldHarness) -> None:
    harness.exist("Dagny")
    assert harness.console("coins give Dagny 7").lines == ("Dagny is given 7 Copper",)
    assert harness.store.rows[1000].coins == 7
    assert harness.console("coins give Nobody 7").lines == ("there is no character Nobody",)


def test_a_player_and_a_guide_give_no_coins(harness: WorldHarness) -> None:
    for number, rank in ((5, 0), (6, 10)):
        one = harness.stand(number, name=f"Name{'ab'[rank > 0]}", admin_status=rank, coins=1)
        one.types("coins give Namea 7")
        assert harness.store.rows[number].coins == 1


def test_nobody_takes_coins_from_a_higher_rank(harness: WorldHarness) -> None:
    master = harness.stand(5, name="Aldana", admin_status=100)
    harness.stand(6, name="Borvik", admin_status=200, coins=10)
    assert "rank" in master.types("coins take Borvik 5")[0]
    assert harness.store.rows[6].coins == 10


@given(st.tuples(*[st.integers(0, 4000)] * 4).filter(any))
def test_amounts_are_read_as_letters_and_as_four_numbers(
    amount: tuple[int, int, int, int],
) -> None:
    platinum, gold, silver, copper = amount
    worth = platinum * 1_000_000 + gold * 10_000 + silver * 100 + copper
    assert read_copper(f"{platinum} {gold} {silver} {copper}") == worth
    assert read_copper(f"{copper}c {silver}S {gold}g {platinum}P") == worth


@pytest.mark.parametrize("text", ["0", "-1", "1x", "g", "9" * 11, "4294967296", "\u0663"])
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(CommandError, match="coins"):
        read_copper(text)


def test_giving_needs_a_store_that_answers(harness: WorldHarness) -> None:
    harness.stand(6, name="Borvik", coins=10)
    harness.store.broken = True
    reply = harness.stand(5, name="Aldana", admin_status=100).types("coins give Borvik 5")
    assert reply == ["the server cannot read or store that now; try again later"]
    harness.store.broken = False
    assert finish(harness.store.find(6)).coins == 10
