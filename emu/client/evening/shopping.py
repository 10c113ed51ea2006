"""The trades of a client that plays: it buys what a task names, and sells something for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from emu.client.evening.reading import GOOD, fit, words_of
from emu.client.world import WorldClientCore
from emu.client.world.windows import Good, GoodsShown, QuestTask

BUYING: Final = frozenset(("buy", "purchase", "merchant"))
FROM_MERCHANT: Final = "frommerchant"
"""The verb of a merchant."""


class Shopping:
    """The trades of one player with merchants."""

    def __init__(self, core: WorldClientCore, note: Callable[[str, str], None]) -> None:
        self._core = core
        self._note = note
        self._wanted: Good | None = None
        """What it would buy if it had the coins."""
        self._may_buy = False
        """Whether it has asked a merchant for the list that comes next."""

    def ask(self, index: int, task: QuestTask | None, commands: Sequence[str]) -> bool:
        """Ask somebody with the verbs `commands` for its goods, if a task wants something bought.

        Return whether that is possible.
        """
        if FROM_MERCHANT not in commands or task is None or BUYING.isdisjoint(words_of(task.text)):
            return False
        self._may_buy = True
        self._core.use(index, FROM_MERCHANT)
        return True

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
        if not self._may_buy:
            return
        self._may_buy = False
        for task in tasks:
            for good in event.goods:
                if fit(good.name, f"{task.text} {task.group}") >= GOOD:
                    if good.price > coins:
                        self._wanted = good
                        return
                    self._note("buy", f"{good.name} for {good.price} c")
                    self._core.command(f"buy_from_merchant {good.item} 1")
                    return
