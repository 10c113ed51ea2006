"""`Trading`: everything with which things and coins change their owner, in one world."""

from __future__ import annotations

from emu.processes.ports import LedgerStore, ThingStore
from emu.world.items.banks import Banks
from emu.world.items.items import Items
from emu.world.items.menders import Menders
from emu.world.items.merchants import Merchants, Wares
from emu.world.items.trades import Trades
from emu.world.items.visits import Visits


class Trading:
    """Merchants, menders, banks and trades."""

    def __init__(
        self, items: Items, things: ThingStore, ledger: LedgerStore, tables: Wares
    ) -> None:
        self.visits = Visits(items.world)
        self.merchants = Merchants(items, things, tables, self.visits)
        self.menders = Menders(items, self.visits)
        self.banks = Banks(items.ledger, ledger, self.visits)
        self.trades = Trades(items)
