"""The trades of a player with merchants: only what a task names, and only after it has asked."""

from emu.client.evening.shopping import Shopping
from emu.client.world.windows import Good, GoodsShown, QuestTask
from tests.client.evening.conftest import NotingClient

TASK = QuestTask("I should buy a Shard of Luclin.", "", False, 0, 1)
SHARD, OIL = Good(12, 0, "Shard of Luclin", 36, 0), Good(13, 0, "lamp oil", 2, 0)


class Bags:
    """The bags of a player with some coins."""

    def __init__(self, coins: int) -> None:
        self.coins = coins

    def things(self) -> list[object]:
        return []


def test_it_buys_what_a_task_names_once(core: NotingClient) -> None:
    core.possessions = Bags(40)
    shopping = Shopping(core, lambda _kind, _text: None)  # type: ignore[arg-type]
    assert shopping.ask(5, TASK, ["hail", "frommerchant"])
    shopping.deal(GoodsShown(5, 1, (OIL, SHARD)), [TASK])
    shopping.deal(GoodsShown(5, 1, (OIL, SHARD)), [TASK])
    assert core.asked == ["use 5 frommerchant", "command buy_from_merchant 12 1"]


def test_it_buys_nothing_without_having_asked_for_the_list(core: NotingClient) -> None:
    core.possessions = Bags(40)
    shopping = Shopping(core, lambda _kind, _text: None)  # type: ignore[arg-type]
    assert not shopping.ask(
        5, QuestTask("I should speak to Vim.", "", False, 0, 1), ["frommerchant"]
    )
    assert not shopping.ask(5, TASK, ["hail"])
    shopping.deal(GoodsShown(5, 1, (SHARD,)), [TASK])
    assert core.asked == []


def test_it_sells_nothing_that_it_does_not_carry(core: NotingClient) -> None:
    core.possessions = Bags(3)
    shopping = Shopping(core, lambda _kind, _text: None)  # type: ignore[arg-type]
    assert shopping.ask(5, TASK, ["hail", "frommerchant"])
    shopping.deal(GoodsShown(5, 1, (SHARD,)), [TASK])
    shopping.deal(GoodsShown(5, 2, (Good(9, 77, "a letter", 40, 0),)), [TASK])
    assert core.asked == ["use 5 frommerchant"]
