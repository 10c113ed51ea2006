"""Payments for houses: status points go with the coins, or stay with them."""

from __future__ import annotations

import pytest

from emu.errors import StoreAway, StoreError
from emu.houses import Deal, Dealt, Payment, Price
from emu.ledger import Owner, OwnerKind, Reason
from emu.world.housing.payments import Bill, Payments
from tests.support.coroutines import finish
from tests.support.world.house_scenes import HouseScene

BILL = Bill(Reason.UPKEEP, Owner(OwnerKind.HOUSING, 3), 7, Price(50, 30), 20)


class Till:
    """A scene whose store answers as a test says."""

    def __init__(self, *answers: Dealt | StoreError) -> None:
        self.scene = HouseScene()
        self.payments = Payments(self.scene.harness.world, self.scene.harness.parts.ledger)
        self.answers = list(answers)
        self.asked: list[Payment] = []
        self.status_then: list[int] = []

    async def call(self, payment: Payment) -> Dealt:
        self.asked.append(payment)
        self.status_then.append(self.status)
        answer = self.answers.pop(0)
        if isinstance(answer, StoreError):
            raise answer
        return answer

    def pays(self, bill: Bill = BILL) -> Dealt:
        return finish(self.payments.pay(self.scene.player, bill, self.call))

    @property
    def status(self) -> int:
        return self.scene.player.character.status_points


def test_status_points_are_taken_before_the_payment_is_stored() -> None:
    till = Till(Dealt(Deal.DONE))
    assert till.pays().deal is Deal.DONE
    (payment,) = till.asked
    assert (payment.house, payment.cost, payment.given) == (7, Price(50, 30), 20)
    assert (payment.char_id, payment.account_id) == (5, 105)
    # Both are stored in one transaction: the save is given to the store first.
    assert till.status_then == [80]
    assert till.scene.harness.store.rows[5].status_points == 80
    assert till.status == 80


@pytest.mark.parametrize("deal", [one for one in Deal if one is not Deal.DONE])
def test_a_refusal_gives_the_status_points_back(deal: Deal) -> None:
    till = Till(Dealt(deal))
    assert till.pays().deal is deal
    assert till.status == 100
    till.scene.harness.run(1.0)
    assert till.scene.harness.store.rows[5].status_points == 100


def test_who_has_too_few_status_points_asks_for_nothing() -> None:
    till = Till()
    assert till.pays(BILL._replace(given=101)).deal is Deal.TOO_FEW_STATUS
    assert till.asked == []


def test_a_lost_answer_is_asked_for_again_under_the_same_identity() -> None:
    till = Till(StoreAway("the connection is lost"), Dealt(Deal.DONE))
    assert till.pays().deal is Deal.DONE
    first, again = till.asked
    assert first.request == again.request
    assert till.status == 80


def test_without_the_store_everything_is_given_back() -> None:
    till = Till(StoreError("the disk is full"))
    with pytest.raises(StoreError):
        till.pays()
    assert till.status == 100
