"""`Merchants`: what players buy, sell and buy back.

A merchant has the list of the content with its prices. What it has only some of comes back after a
while. Each purchase and sale is one movement of the ledger with coins and things.

Source: docs/protocol/world/trade.md, recorded in ../shared/data/recordings/items-*-deal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol

from emu.content.trade import Ware
from emu.items.held import Place, Thing, Where
from emu.items.inventory import BANKED, Inventory
from emu.items.kinds import Flag, ItemKind
from emu.items.refusals import Refusal
from emu.items.wearing import level_needed
from emu.ledger import Outcome, Owner, OwnerKind, Part, Reason, ThingChanges
from emu.processes.ports import ThingStore
from emu.rules.coins import coins_text
from emu.rules.prices import FEW, MANY, selling_price
from emu.world.actors.client import send_text
from emu.world.actors.dealings import MerchantKind
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.events import LeftZone
from emu.world.items.exchanges import Act, coins, things
from emu.world.items.items import Items
from emu.world.items.shop_rows import (
    ENDLESS,
    WindowCache,
    flags_of,
    owner_of,
    row,
    send_closed,
    send_rows,
    write_rows,
)
from emu.world.items.stocks import Stocks
from emu.world.items.texts import RED, link, own_color
from emu.world.items.visits import Visit, Visits, Window
from emu.world.speech.spoken import play_sound

FAILED: Final = "WS_DisplaySpellFailed"
SELL, BACK = 1, 512
"""Types of the window's lists."""
OPENED_TO_SELL: Final = 128
"""Added above 561 if the player has asked to sell."""
NOT_FOR_SALE: Final = 64
"""The flag of a row that the player does not want to sell."""
KEPT_BACK: Final = 10
"""The things that a player can buy back, the newest ones."""
TRADE_COLOR: Final = 81

POOR: Final = "You do not have enough coin to purchase {link}."
NO_PLACE: Final = "You do not have any slots available for this item."
BOUGHT: Final = "You buy {count}{link} from {merchant} for {price}."
SOLD: Final = "You sell {count}{link} to {merchant} for {price}."
NO_VALUE: Final = "This item has no value."
FULL_BAG: Final = "You cannot sell a bag with items inside it."
IN_BANK: Final = "You cannot sell an item in the bank."
IN_USE: Final = "You cannot sell the item in use."
NOT_BOUGHT_BACK: Final = "You cannot afford this item."
FROM, TO = "frommerchant", "tomerchant"


class Wares(Protocol):
    """The lists of merchants; `emu.content.trade.TradeTables` has them."""

    def wares(self, merchant: int) -> Sequence[Ware]:
        """Return what a merchant sells, in the order of its window."""


class Merchants:
    """The shops of one world."""

    def __init__(self, items: Items, store: ThingStore, trade: Wares, visits: Visits) -> None:
        self._items = items
        self._world = items.world
        self._store = store
        self._trade = trade
        self._visits = visits
        self._lists = WindowCache()
        self._stocks = Stocks(self._world.clock.now)
        self._sold: dict[int, list[Thing]] = {}
        """What players can buy back, the oldest first."""
        self._world.events.subscribe(LeftZone, self._left)

    def _left(self, event: LeftZone) -> None:
        self._sold.pop(event.player.id, None)

    # -- the window -------------------------------------------------------------------------------

    async def open(self, player: Player, *, to_sell: bool = False) -> None:
        """Open the window of the merchant that a player has targeted. Raises `StoreError`."""
        await self._open(player, self._visits.begin(player, Window.SHOP, (FROM, TO)), to_sell)

    async def open_at(self, player: Player, spawn: Spawn) -> None:
        """Open the window of a merchant for a player near it. Raises `StoreError`."""
        await self._open(player, self._visits.begin_at(player, Window.SHOP, spawn), False)

    async def _open(self, player: Player, visit: Visit | None, to_sell: bool) -> None:
        if visit is None or not _serves(visit, player):
            self._visits.end(player)
            return
        await self._load(visit)
        if player.id not in self._sold:
            owner = Owner(OwnerKind.SOLD, player.id)
            sold = (await self._store.of([owner])).get(owner, [])
            await self._items.load_kinds(one.item_id for one in sold)
            # Read for a window that is closed by now, it may be old.
            if self._visits.has(player, Window.SHOP) is visit:
                self._sold[player.id] = sold
        if self._visits.has(player, Window.SHOP) is not visit:
            return
        opened = OPENED_TO_SELL if to_sell else 0
        self._send_wares(player, visit, opened)
        self._send_own(player, visit, opened)
        if not player.client.dialect.world_rules.older_windows:
            self._send_back(player, visit, opened)
            send_closed(player)

    async def _load(self, visit: Visit) -> None:
        """Read the kinds of what a merchant sells and takes."""
        wares = self._trade.wares(visit.dealing.merchant)
        numbers = {ware.item_id for ware in wares}
        numbers |= {token for ware in wares for token, _ in ware.tokens}
        known = await self._items.load_kinds(numbers)
        for _ in numbers - known.keys():
            self._world.count("thing of a merchant that nothing describes")

    def close(self, player: Player) -> None:
        """Close the window."""
        if self._visits.has(player, Window.SHOP) or self._visits.has(player, Window.MENDER):
            self._visits.end(player)

    def _shown(self, player: Player, visit: Visit) -> list[tuple[Ware, ItemKind]]:
        """Return what a player can buy, in the order of the window."""
        found = []
        wearer = self._items.wearer(player)
        for ware in self._trade.wares(visit.dealing.merchant):
            kind = self._items.kinds.get(ware.item_id)
            if kind is None or self._stocks.left(visit.spawn, ware) == 0:
                continue
            is_foreign = MerchantKind.SPELLS in visit.dealing.merchant_kind and (
                level_needed(kind, wearer) is None
            )
            if not is_foreign:
                found.append((ware, kind))
        return found

    def _send_wares(self, player: Player, visit: Visit, opened: int = 0) -> None:
        window = player.client.dialect.world_rules.buy_list
        window |= opened if window else 0
        wares = self._trade.wares(visit.dealing.merchant)
        is_plain = self._stocks.is_full(visit.spawn)
        kinds = self._lists.scripted(visit.dealing.merchant, wares, self._items.kinds.get)
        flags = flags_of(self._world.events, player, kinds)
        if is_plain and MerchantKind.SPELLS not in visit.dealing.merchant_kind:
            key = (visit.dealing.merchant, player.spawn.level, window, *flags.items())
            dialect = player.client.dialect
            self._lists.send(
                player, visit.spawn, key, wares,
                lambda: write_rows(dialect, self._rows(player, visit, flags), window),
            )  # fmt: skip
        else:
            send_rows(player, visit.spawn, self._rows(player, visit, flags), window)

    def _rows(self, player: Player, visit: Visit, flags: Mapping[int, int]) -> list[dict[str, Any]]:
        return [
            row(
                player, kind, coins_of(ware, kind), stack=kind.stack,
                quantity=_quantity(self._stocks.left(visit.spawn, ware)),
                flags=flags.get(kind.id, 0), status=ware.status, is_ware=True,
                tokens=self._tokens(ware) if ware.tokens else (),
            )
            for ware, kind in self._shown(player, visit)
        ]  # fmt: skip

    def _tokens(self, ware: Ware) -> list[dict[str, Any]]:
        found = [(self._items.kinds.get(number), count) for number, count in ware.tokens]
        return [
            {
                "token_icon": kind.icon, "token_qty": count, "token_id": kind.id,
                "token_name": kind.name,
            }
            for kind, count in found
            if kind is not None
        ]  # fmt: skip

    def _send_own(self, player: Player, visit: Visit, opened: int = 0) -> None:
        """Send what a player can sell."""
        inventory = player.holdings.inventory
        rows = []
        for thing in inventory.in_list(Where.BAGS):
            kind = inventory.kind(thing)
            if _refused(inventory, thing, kind) is not None or self._buys_nothing(visit):
                continue
            flags = NOT_FOR_SALE if thing.is_not_for_sale else 0
            price = selling_price(kind.price, thing.most_price)
            # Recorded: this list alone shows the level that is recommended.
            level = {"level": kind.recommended_level}
            rows.append(_own_row(player, kind, thing, price, flags) | level)
        send_rows(player, visit.spawn, rows, SELL | opened)

    def _send_back(self, player: Player, visit: Visit, opened: int = 0) -> None:
        """Send what a player can buy back; clients up to 561 have no such list."""
        rows = []
        events = self._world.events
        for thing in self._sold.get(player.id, ()):
            kind = self._items.kinds.get(thing.item_id)
            if kind is not None:
                flags = flags_of(events, player, [kind], is_bought_back=True).get(kind.id, 0)
                rows.append(_own_row(player, kind, thing, thing.most_price, flags))
        send_rows(player, visit.spawn, rows, BACK | opened)

    def _buys_nothing(self, visit: Visit) -> bool:
        return MerchantKind.BUYS_NOTHING in visit.dealing.merchant_kind

    # -- buying -----------------------------------------------------------------------------------

    async def buy(self, player: Player, item_id: int, count: int) -> None:
        """Buy things of the open window; what makes no sense changes nothing.

        Raises `StoreError`, and `CommandError` if too many acts of the player wait.
        """
        visit = self._visits.of(player, Window.SHOP)
        if visit is None or not FEW <= count <= MANY:
            return
        shown = {kind.id: (ware, kind) for ware, kind in reversed(self._shown(player, visit))}
        if item_id not in shown:
            return
        ware, kind = shown[item_id]
        left = self._stocks.left(visit.spawn, ware)
        if left is not None and count > left:
            return
        purchase = _Purchase(self._items, player, visit.spawn, (ware, kind), count)
        if left is not None:
            # Taken before the store answers: nobody else buys the same piece meanwhile.
            self._stocks.note_bought(visit.spawn, ware, count)
        outcome = None
        try:
            outcome = await self._items.exchange(Reason.BOUGHT, [player], purchase.act)
        finally:
            if outcome is not Outcome.DONE:
                purchase.give_back()
                if left is not None:
                    self._stocks.note_bought(visit.spawn, ware, -count)
        if outcome is not Outcome.DONE:
            purchase.refuse(outcome)
            return
        text = BOUGHT.format(
            count=f"{count} " if count > 1 else "", link=link(kind, player.client.version),
            merchant=visit.spawn.name, price=coins_text(purchase.price),
        )  # fmt: skip
        send_text(player.client, text, own_color(player.client, TRADE_COLOR))
        self._changed(player, visit)
        if left is not None:
            self._stocks.note_sold(visit.spawn)
            self._send_wares(player, visit)
        self._items.obtained(player, purchase.made)
        self._items.traded(player, visit.spawn, kind, count)

    def _changed(self, player: Player, visit: Visit) -> None:
        """Show what a player can sell now, and what it has."""
        if self._visits.has(player, Window.SHOP) is visit:
            self._send_own(player, visit)
        self._items.changed(player)

    # -- selling ----------------------------------------------------------------------------------

    async def sell(self, player: Player, number: int, count: int) -> None:
        """Sell a thing, or so many of a stack; `number` is what the client's window sends.

        Raises `StoreError` and `CommandError`.
        """
        visit = self._visits.of(player, Window.SHOP)
        # A sale before the list is read would not be in it.
        if visit is None or self._buys_nothing(visit) or player.id not in self._sold:
            return
        inventory = player.holdings.inventory
        thing = _named(inventory, number)
        if thing is None:
            return
        kind = inventory.kind(thing)
        most = thing.count if kind.is_stackable else 1
        if not 0 < count <= most or thing.is_not_for_sale:
            return
        refused = _refused(inventory, thing, kind)
        if refused is not None:
            send_text(player.client, refused, RED)
            return
        sale = _Sale(self, player, visit, thing.id, count)
        outcome = None
        try:
            outcome = await self._items.exchange(Reason.SOLD, [player], sale.act)
        finally:
            if outcome is not Outcome.DONE:
                self.note_sold(player, sale.gone, sale.lots)
        if outcome is not Outcome.DONE:
            return
        text = SOLD.format(
            count=f"{count} " if count > 1 else "", link=link(kind, player.client.version),
            merchant=visit.spawn.name, price=coins_text(sale.price),
        )  # fmt: skip
        send_text(player.client, text, own_color(player.client, TRADE_COLOR))
        self._changed(player, visit)
        if not player.client.dialect.world_rules.older_windows:
            self._send_back(player, visit)
        self._items.traded(player, visit.spawn, kind, -count)

    def note_sold(
        self, player: Player, added: Iterable[Thing] = (), removed: Iterable[Thing] = ()
    ) -> None:
        """Change what can be bought back, within the act that moves it.

        Acts that wait for their turn begin before the caller of an earlier one goes on.
        """
        back = self._sold.get(player.id)
        if back is not None:
            gone = {one.id for one in removed}
            self._sold[player.id] = [one for one in (*back, *added) if one.id not in gone]

    def back_of(self, player: Player) -> list[Thing]:
        """Return what a player can buy back, the oldest first."""
        return list(self._sold.get(player.id, ()))

    def new_number(self) -> int:
        """Return the number of a new thing. Raises `NoNumbers`."""
        return self._items.new_number()

    async def buy_back(self, player: Player, number: int) -> None:
        """Buy back what the player has sold, the whole lot. Raises `StoreError`, `CommandError`."""
        visit = self._visits.of(player, Window.SHOP)
        if visit is None:
            return
        back = self.back_of(player)
        wanted = [one for one in back if one.id == number >> 32]
        wanted += [one for one in reversed(back) if one.item_id == number & 0xFFFFFFFF]
        kind = self._items.kinds.get(wanted[0].item_id) if wanted else None
        if kind is None:
            return
        await self._buy_back(player, visit, wanted[0], kind)

    async def _buy_back(self, player: Player, visit: Visit, thing: Thing, kind: ItemKind) -> None:
        price = thing.most_price * (thing.count if kind.is_stackable else 1)
        inventory = player.holdings.inventory
        refused: list[Refusal | None] = []
        taken: list[Thing] = []

        def act() -> Act | None:
            if thing not in self.back_of(player):
                return None
            refusal = inventory.refuses(kind, thing.count)
            if refusal is not None or inventory.free_place(kind) is None:
                refused.append(refusal)
                return None
            self.note_sold(player, removed=[thing])
            taken.append(thing)
            inventory.accept(thing, kind)
            mine, sold = Owner.character(player.id), Owner(OwnerKind.SOLD, player.id)
            parts = [things(sold, mine, kind.id, thing.count)]
            if price:
                parts.append(coins(mine, owner_of(visit.spawn), price))
            return Act(parts)

        if price > player.character.coins:
            send_text(player.client, NOT_BOUGHT_BACK, RED)
            return
        outcome = None
        try:
            outcome = await self._items.exchange(Reason.BOUGHT_BACK, [player], act)
        finally:
            if outcome is not Outcome.DONE:
                self.note_sold(player, taken)
        if outcome is Outcome.DONE:
            self._changed(player, visit)
            if not player.client.dialect.world_rules.older_windows:
                self._send_back(player, visit)
            self._items.traded(player, visit.spawn, kind, thing.count)
        else:
            self._not_bought_back(player, outcome, refused)

    def _not_bought_back(
        self, player: Player, outcome: Outcome | None, refused: list[Refusal | None]
    ) -> None:
        if outcome is Outcome.TOO_FEW:
            send_text(player.client, NOT_BOUGHT_BACK, RED)
        elif refused:
            _say_no_place(self._items, player, refused[0])


class _Purchase:
    """One purchase, and why it was refused."""

    def __init__(
        self, items: Items, player: Player, spawn: Spawn, ware: tuple[Ware, ItemKind], count: int
    ) -> None:
        self._items, self._player, self._spawn = items, player, spawn
        (self._ware, self._kind), self._count = ware, count
        sold, kind = ware
        self.price = coins_of(sold, kind) * count
        self._status = sold.status * count
        self._paid_status = 0
        self.made: list[Thing] = []
        self._is_poor = False
        self._refusal: Refusal | None = None

    def act(self) -> Act | None:
        """Take tokens and status points, and add the things; the coins follow with the parts."""
        player, kind, ware = self._player, self._kind, self._ware
        inventory = player.holdings.inventory
        if not self._can_pay():
            self._is_poor = True
            return None
        # The charges of a thing are its count.
        number = self._count if kind.is_stackable else self._count * kind.beginning_count()
        self._refusal = inventory.refuses(kind, number)
        if self._refusal is not None or not inventory.has_space([(kind, number)]):
            return None
        mine, shop = Owner.character(player.id), owner_of(self._spawn)
        parts: list[Part] = []
        for token, one in ware.tokens:
            inventory.take_things(token, one * self._count)
            parts.append(things(mine, shop, token, one * self._count))
        self.made = inventory.add_things(kind, number, self._items.new_number)
        for thing in self.made:
            _limit(inventory, thing, coins_of(ware, kind))
        parts.append(things(shop, mine, kind.id, number))
        if self.price:
            parts.append(coins(mine, shop, self.price))
        self._paid_status = self._status
        self._items.world.saves.add_status(player, -self._status)
        return Act(parts, has_facts=self._status > 0)

    def give_back(self) -> None:
        """Give back what is not in the inventory: nothing was bought."""
        self._items.world.saves.add_status(self._player, self._paid_status)

    def _can_pay(self) -> bool:
        player, inventory = self._player, self._player.holdings.inventory
        if self.price > player.character.coins:
            return False
        if self._status > player.character.status_points:
            return False
        return all(
            sum(
                one.count for one in inventory.of_kind(token, (Where.BAGS,))
                if one.id not in inventory.locked
            ) >= count * self._count
            for token, count in self._ware.tokens
        )  # fmt: skip

    def refuse(self, outcome: Outcome | None) -> None:
        """Say why nothing was bought."""
        player = self._player
        if self._is_poor or outcome is Outcome.TOO_FEW:
            name = link(self._kind, player.client.version)
            send_text(player.client, POOR.format(link=name), RED)
            code = player.client.dialect.world_rules.poor_error
            player.client.send(FAILED, {"error_code": code})
            play_sound([player], "buy_failed")
        elif outcome is None:
            _say_no_place(self._items, player, self._refusal)


class _Sale:
    """One sale, with what can be bought back afterwards."""

    def __init__(
        self, merchants: Merchants, player: Player, visit: Visit, number: int, count: int
    ) -> None:
        self._merchants, self._player, self._visit = merchants, player, visit
        self._number, self._count = number, count
        self.price = 0
        self.lots: list[Thing] = []
        """What can be bought back then."""
        self.gone: list[Thing] = []
        """What cannot be bought back any more: the oldest ones."""

    def act(self) -> Act | None:
        """Take the thing out of the bags, for the list of what can be bought back."""
        inventory = self._player.holdings.inventory
        thing = inventory.get(self._number)
        if thing is None or _refused(inventory, thing, inventory.kind(thing)) is not None:
            return None
        kind = inventory.kind(thing)
        number = self._count if kind.is_stackable else thing.count
        if not 0 < number <= thing.count:
            return None
        price = selling_price(kind.price, thing.most_price)
        self.price = price * self._count
        mine, shop = Owner.character(self._player.id), owner_of(self._visit.spawn)
        is_whole = number == thing.count
        inventory.use_up(thing, number)
        lot = replace(
            thing, id=thing.id if is_whole else self._merchants.new_number(), count=number,
            place=Place(Where.HELD, 0, 0), most_price=price,
        )  # fmt: skip
        parts = [coins(shop, mine, self.price)]
        kinds = self._visit.dealing.merchant_kind
        if kind.has_no_buy_back or MerchantKind.SELLS_NOTHING_BACK in kinds:
            parts.append(things(mine, shop, kind.id, number))
            return Act(parts)
        keeper = Owner(OwnerKind.SOLD, self._player.id)
        parts.append(things(mine, keeper, kind.id, number))
        self.lots = [lot]
        self.gone = [*self._merchants.back_of(self._player), lot][:-KEPT_BACK]
        self._merchants.note_sold(self._player, [lot], self.gone)
        parts += [things(keeper, shop, one.item_id, one.count) for one in self.gone]
        changes = ThingChanges(keeper, (lot,), tuple(one.id for one in self.gone))
        return Act(parts, [changes])


def coins_of(ware: Ware, kind: ItemKind) -> int:
    """Return the price of a thing in copper."""
    return ware.coins if ware.has_price else kind.price


def _limit(inventory: Inventory, thing: Thing, price: int) -> None:
    """Let a merchant give no more for a thing than was paid, also in a stack of dearer ones."""
    known = thing.most_price
    if price and (not known or price < known):
        inventory.set(thing, most_price=price)


def _serves(visit: Visit, player: Player) -> bool:
    low, high = visit.dealing.levels
    return visit.dealing.is_merchant and (not high or low <= player.spawn.level <= high)


def _own_row(
    player: Player, kind: ItemKind, thing: Thing, price: int, flags: int
) -> dict[str, Any]:
    count = thing.count if kind.is_stackable else 1
    quantity = ENDLESS if count == 1 else min(count, ENDLESS - 1)
    has_text = player.client.dialect.world_rules.own_texts
    return row(
        player, kind, price, stack=count, quantity=quantity, number=thing.id, flags=flags,
        description=kind.description if has_text else "",
    )  # fmt: skip


def _quantity(left: int | None) -> int:
    return ENDLESS if left is None else min(left, ENDLESS - 1)


def _named(inventory: Inventory, number: int) -> Thing | None:
    """Return the thing that a window names: by its number and its kind, or by the kind alone."""
    thing: Thing | None = inventory.get(number >> 32)
    if thing is not None and thing.item_id == number & 0xFFFFFFFF:
        return thing
    if number >> 32:
        return None
    found = inventory.of_kind(number, (Where.BAGS, *BANKED))
    return found[0] if found else None


def _refused(inventory: Inventory, thing: Thing, kind: ItemKind) -> str | None:
    """Return why a merchant does not take a thing."""
    if thing.place.where in BANKED:
        return IN_BANK
    if thing.place.where is not Where.BAGS or thing.id in inventory.locked:
        return IN_USE
    if not kind.price or Flag.NO_VALUE in kind.flags:
        return NO_VALUE
    if any(one.id in inventory.locked for one in inventory.inside(thing)):
        return IN_USE
    return FULL_BAG if inventory.inside(thing) else None


def _say_no_place(items: Items, player: Player, refusal: Refusal | None) -> None:
    if refusal is not None:
        items.refuse(player, refusal)
    else:
        send_text(player.client, NO_PLACE, RED)
