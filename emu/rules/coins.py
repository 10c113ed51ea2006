"""Coins in words, shares and prices. An amount is a number of copper."""

from __future__ import annotations

from typing import Final

COIN_NAMES: Final = (("Platinum", 1_000_000), ("Gold", 10_000), ("Silver", 100), ("Copper", 1))
"""The coins and their worth in copper, the dearest first."""
TOO_DEAR: Final = "You do not have enough coins."


def coins_text(copper: int, *, nothing: str = "0 Copper") -> str:
    """Return an amount in words, as EQ2Emulator writes it: ``1 Silver 10 Copper``."""
    words = []
    for name, worth in COIN_NAMES:
        count, copper = divmod(copper, worth)
        if count:
            words.append(f"{count} {name}")
    return " ".join(words) or nothing


def share_of(copper: int, people: int) -> int:
    """Return what each of some people gets; the rest of the division stays with the giver."""
    return copper // people


def price_refusal(price: int, coins: int) -> str | None:
    """Return why somebody with so many coins cannot pay a price."""
    return TOO_DEAR if price > coins else None
