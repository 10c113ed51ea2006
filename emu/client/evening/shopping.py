"""The trades of a client that plays: it buys what a task names, and sells something for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from emu.client.evening.reading import GOOD, fit
from emu.client.world import WorldClientCore
from emu.client.world.windows import Good, GoodsShown, QuestTask


class Shopping:
    """The trades of one player with merchants."""

    def __init__(self, core: WorldClientCore, note: Callable[[str, str], None]) -> None:
        self._core = core
        self._note = note
        self._wanted: Good | None = None
        """What it would buy if it had the coins."""
        self.may_buy = False
        """Whether it has asked a merchant for the list that comes next."""

    def deal(self, event: GoodsShown, tasks: Iterable[QuestTask]) -> None:
        """Buy what a task names; sell for it what the merchant wants, one thing after the other.

        The list of what the merchant sells comes first, then the one of what it buys.
        """
        owned = self._core.possessions
        coins = owned.coins if owned is not None else 0
        if self._wanted is not None and self._wanted.price > coins:
            carried = {one.unique for one in owned.things()} if owned is not None else set()
            sold = next((one for one in event.goods if one.unique in carried and one.price), None)
            if sold is not None:
                self._note("sell", f"{sold.name} for {sold.price} c")
                self._core.command(f"sell_to_merchant {sold.item} 1")
            self._wanted = None
            return
        self._wanted = None
        if not self.may_buy:
            return
        self.may_buy = False
        for task in tasks:
            for good in event.goods:
                if fit(good.name, f"{task.text} {task.group}") >= GOOD:
                    if good.price > coins:
                        self._wanted = good
                        return
                    self._note("buy", f"{good.name} for {good.price} c")
                    self._core.command(f"buy_from_merchant {good.item} 1")
                    return
