"""`Stocks`: what merchants have only some of, and when it returns.

Source: docs/protocol/world/trade.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from emu.content.trade import Ware
from emu.world.actors.spawn import Spawn

RETURNS: Final = 600.0
"""Seconds after which a merchant has everything again of what was bought up."""


@dataclass(slots=True)
class _Stock:
    """What has been bought of the limited things of one merchant."""

    bought: dict[int, int] = field(default_factory=dict)
    returns: float = 0.0


class Stocks:
    """What has been bought up, by merchant."""

    def __init__(self, now: Callable[[], float]) -> None:
        """`now` returns the time in seconds."""
        self._now = now
        self._stocks: dict[int, _Stock] = {}
        """By the spawn."""

    def is_full(self, spawn: Spawn) -> bool:
        """Return whether a merchant has everything that its list says."""
        return spawn.id not in self._stocks

    def left(self, spawn: Spawn, ware: Ware) -> int | None:
        """Return how many a merchant has of something; None: as many as are asked for."""
        if ware.quantity is None:
            return None
        stock = self._stocks.get(spawn.id)
        if stock is None:
            return ware.quantity
        if stock.returns <= self._now():
            del self._stocks[spawn.id]
            return ware.quantity
        return max(0, ware.quantity - stock.bought.get(ware.item_id, 0))

    def note_bought(self, spawn: Spawn, ware: Ware, count: int) -> None:
        """Note that so many are being bought; with a count below 0 that they were not."""
        now = self._now()
        # Also those of spawns that are gone: nobody asks for them any more.
        self._stocks = {key: one for key, one in self._stocks.items() if one.returns > now}
        stock = self._stocks.get(spawn.id)
        if stock is None:
            if count < 0:
                return  # everything has come back meanwhile
            stock = self._stocks[spawn.id] = _Stock(returns=now + RETURNS)
        stock.bought[ware.item_id] = max(0, stock.bought.get(ware.item_id, 0) + count)

    def note_sold(self, spawn: Spawn) -> None:
        """Note that a merchant has sold something: only then it waits longer for the rest."""
        stock = self._stocks.get(spawn.id)
        if stock is not None:
            stock.returns = self._now() + RETURNS
