"""Coins in words, shares and prices; the words as EQ2Emulator writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.rules.coins import COIN_NAMES, TOO_DEAR, coins_text, price_refusal, share_of


@pytest.mark.parametrize(
    ("copper", "text"),
    [
        (0, "0 Copper"),
        (7, "7 Copper"),
        (110, "1 Silver 10 Copper"),
        (1_020_304, "1 Platinum 2 Gold 3 Silver 4 Copper"),
        (1_000_000, "1 Platinum"),
    ],
)
def test_an_amount_is_named_by_its_coins(copper: int, text: str) -> None:
    assert coins_text(copper) == text


def test_no_coins_are_named_as_the_caller_wants() -> None:
    assert coins_text(0, nothing="no coins") == "no coins"


@given(st.integers(0, 10**12))
def test_the_words_are_worth_the_amount(copper: int) -> None:
    worth = dict(COIN_NAMES)
    words = coins_text(copper).split()
    pairs = zip(words[::2], words[1::2], strict=True)
    assert sum(int(count) * worth[name] for count, name in pairs) == copper


@pytest.mark.parametrize(
    ("copper", "people", "share"), [(100, 3, 33), (2, 3, 0), (99, 1, 99), (0, 4, 0)]
)
def test_shares_are_equal_and_the_rest_stays(copper: int, people: int, share: int) -> None:
    assert share_of(copper, people) == share


@pytest.mark.parametrize(("price", "coins", "refusal"), [(5, 5, None), (6, 5, TOO_DEAR)])
def test_a_price_is_refused_to_whoever_has_less(
    price: int, coins: int, refusal: str | None
) -> None:
    assert price_refusal(price, coins) == refusal
