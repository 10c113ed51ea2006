"""`Trading`: everything with which things and coins change their owner, in one world."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from emu.processes.ports import LedgerStore, ThingStore
from emu.rules.loot import Chance
from emu.world.actors.spawn import Spawn
from emu.world.items.banks import Banks
from emu.world.items.items import Items
from emu.world.items.loot import Loots, LootTables
from emu.world.items.looting import Looting
from emu.world.items.menders import Menders
from emu.world.items.merchants import Merchants, Wares
from emu.world.items.trades import Trades
from emu.world.items.visits import Visits
from emu.world.zones.zone import Zone


class TradeContent(Wares, LootTables, Protocol):
    """Lists of merchants and loot tables; `emu.content.trade.TradeTables` has them."""


class Trading:
    """Merchants, menders, banks, trades and loot."""

    def __init__(
        self,
        items: Items,
        things: ThingStore,
        ledger: LedgerStore,
        tables: TradeContent,
        *,
        roll: Callable[[int], int],
        seeded: Callable[[str], Chance],
        despawn: Callable[[Zone, Spawn], None],
    ) -> None:
        """`roll` returns a random number below its argument, and `seeded` numbers of a seed.

        `despawn` removes a creature.
        """
        self.visits = Visits(items.world)
        self.merchants = Merchants(items, things, tables, self.visits)
        self.menders = Menders(items, self.visits)
        self.banks = Banks(items.ledger, ledger, self.visits)
        self.trades = Trades(items)
        self.loots = Loots(items, tables, roll, seeded, despawn)
        self.looting = Looting(items, self.loots, roll)
