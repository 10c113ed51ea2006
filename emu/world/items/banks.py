"""`Banks`: the coins that players have in the bank, and the window of the bank.

Things lie in the bank by moves of the inventory, while the window is open.

Source: docs/protocol/world/trade.md, recorded in ../shared/data/recordings/items-*-deal.
"""

from __future__ import annotations

from typing import Final

from emu.ledger import MOST_COINS, Outcome, Owner, OwnerKind, Part, Reason
from emu.processes.ports import LedgerStore
from emu.rules.coins import coins_text
from emu.world.actors.client import coin_fields, send_text
from emu.world.actors.player import Player
from emu.world.items.texts import NARRATIVE, RED
from emu.world.items.visits import Visit, Visits, Window
from emu.world.ledger.ledger import Ledger

STRUCT: Final = "WS_UpdateBank"
BANK: Final = ("bank",)
TOO_MUCH: Final = "Stop trying to cheat!"
MOVED: Final = "{coins} {done} ({all} in the bank now.)"
_NAMES: Final = ("Plat", "Gold", "Silver", "Copper")


class Banks:
    """The bank of one world."""

    def __init__(self, ledger: Ledger, store: LedgerStore, visits: Visits) -> None:
        self._ledger = ledger
        self._store = store
        self._visits = visits

    async def open(self, player: Player) -> None:
        """Open the bank of the banker that a player has targeted. Raises `StoreError`."""
        visit = self._visits.begin(player, Window.BANK, BANK)
        if visit is None:
            return
        held = await self._store.in_bank(player.id)
        if self._visits.has(player, Window.BANK) is visit:
            self._send(player, visit, held)

    async def close(self, player: Player) -> None:
        """Close the bank, also in the client. Raises `StoreError`."""
        visit = self._visits.has(player, Window.BANK)
        if visit is not None:
            self._visits.end(player)
            self._send(player, visit, await self._store.in_bank(player.id), is_open=False)

    async def deposit(self, player: Player, copper: int) -> None:
        """Put coins of the purse into the bank. Raises `StoreError`."""
        await self._move(player, copper, is_deposit=True)

    async def withdraw(self, player: Player, copper: int) -> None:
        """Take coins of the bank into the purse. Raises `StoreError`."""
        await self._move(player, copper, is_deposit=False)

    async def _move(self, player: Player, copper: int, *, is_deposit: bool) -> None:
        visit = self._visits.of(player, Window.BANK)
        if visit is None or copper <= 0:
            return
        if copper > MOST_COINS:
            send_text(player.client, TOO_MUCH, RED)
            self._send(player, visit, await self._store.in_bank(player.id))
            return
        purse, bank = Owner.character(player.id), Owner(OwnerKind.BANK, player.id)
        giver, taker = (purse, bank) if is_deposit else (bank, purse)
        movement = self._ledger.movement(
            Reason.BANK, [Part(giver, taker, copper)], [player.character.account_id]
        )
        moved = await self._ledger.move(movement)
        held = moved.banks[0].coins if moved.banks else 0
        if moved.outcome is Outcome.TOO_FEW:
            send_text(player.client, TOO_MUCH, RED)
        elif moved.is_done:
            done = "deposited" if is_deposit else "withdrawn"
            text = MOVED.format(coins=coins_text(copper), done=done, all=_every_coin(held))
            send_text(player.client, text, NARRATIVE)
        self._send(player, visit, held)

    def _send(self, player: Player, visit: Visit, held: int, *, is_open: bool = True) -> None:
        index = player.index_of(visit.spawn)
        if index is None:
            return
        purse = coin_fields(player.character.coins)
        values = {name.removeprefix("coins_"): count for name, count in purse.items()}
        fields = {"spawn_id": index, "bank_coins": held, "display": int(is_open)}
        player.client.send(STRUCT, fields | values)


def _every_coin(copper: int) -> str:
    """Return an amount with all four coins: ``0 Plat 2 Gold 1 Silver 0 Copper``."""
    counts = [*coin_fields(copper).values()][::-1]
    return " ".join(f"{count} {name}" for count, name in zip(counts, _NAMES, strict=True))
