"""Payments of players for houses: coins and status points, carried out once or not at all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from emu.houses import Deal, Dealt, Payment, Price
from emu.ledger import Owner, Part, Reason
from emu.world.actors.player import Player
from emu.world.ledger.ledger import Ledger
from emu.world.world import World


class Bill(NamedTuple):
    """What a player is to pay."""

    reason: Reason
    taker: Owner
    """Who gets the coins."""
    house: int
    """The number of the house; of one that is bought, the number in the content file."""
    cost: Price
    given: int
    """The status points that the player gives."""


class Payments:
    """The payments of one world's players for houses."""

    def __init__(self, world: World, ledger: Ledger) -> None:
        self._world = world
        self._ledger = ledger

    async def pay(
        self, player: Player, bill: Bill, call: Callable[[Payment], Awaitable[Dealt]]
    ) -> Dealt:
        """Carry out a payment, and show the player what it has then.

        Status points are saved with the character, so they are taken at once, and its save is
        stored together with the payment that `call` stores. They are given back if that is
        refused. Raises `StoreError`.
        """
        world, given = self._world, bill.given
        if given > player.character.status_points:
            return Dealt(Deal.TOO_FEW_STATUS)
        account_id = player.character.account_id
        part = Part(Owner.character(player.id), bill.taker, bill.cost.coins)
        movement = self._ledger.movement(bill.reason, [part], [account_id])
        payment = Payment(
            request=movement.request, account_id=account_id, char_id=player.id, house=bill.house,
            cost=bill.cost, given=given, moment=world.clock.moment(),
        )  # fmt: skip
        world.saves.add_status(player, -given)
        is_done = False
        try:
            await world.saves.begin(player)
            dealt = await self._ledger.carry_out(
                movement, lambda: call(payment), lambda: world.saves.add_status(player, -given)
            )
            is_done = dealt.deal is Deal.DONE
        finally:
            if not is_done:
                world.saves.add_status(player, given)
        if dealt.balance is not None:
            self._ledger.learn([dealt.balance])
        return dealt
