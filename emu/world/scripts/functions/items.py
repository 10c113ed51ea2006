"""Functions for things and coins of players. Source: docs/guides/lua.md#items."""

from __future__ import annotations

from typing import Final

from emu.errors import StoreError
from emu.items.held import FULL, Place, Where
from emu.items.inventory import BANKED
from emu.ledger import Owner, OwnerKind
from emu.scripts.signatures import FunctionTable, Handle
from emu.world.actors.client import send_text
from emu.world.actors.looks import wear
from emu.world.actors.player import Player
from emu.world.items.gifts import GIVER, WORN
from emu.world.items.items import keeper_of
from emu.world.items.reading import show_book
from emu.world.scripts.bodies import Body
from emu.world.scripts.host import Scripts
from emu.world.scripts.item_events import HeldItem
from emu.world.speech.windows import popup

ITEMS: Final = FunctionTable()
NOTHING: Final = Owner(OwnerKind.NOTHING)
YELLOW: Final = 5
GREEN: Final = (0, 255, 0)


def _player(body: Body | None) -> Player | None:
    return body.player if body is not None else None


# -- asking -----------------------------------------------------------------------------------


@ITEMS("HasItem", "P player, u item, n bank?")
def has_item(scripts: Scripts, body: Body | None, item: int, bank: int) -> bool:
    """Return whether a player carries or wears a thing; with `bank` also whether it is banked."""
    player = _player(body)
    return player is not None and scripts.gifts.has(player, item, banked=bool(bank))


@ITEMS("HasItemEquipped", "P player, u item")
def has_worn(_scripts: Scripts, body: Body | None, item: int) -> bool:
    """Return whether a player wears a thing."""
    player = _player(body)
    return player is not None and bool(player.holdings.inventory.of_kind(item, WORN))


@ITEMS("HasFreeSlot", "P player")
def has_free_place(_scripts: Scripts, body: Body | None) -> bool:
    """Return whether a player has a free place for a thing."""
    player = _player(body)
    return player is not None and player.holdings.inventory.free_places() > 0


@ITEMS("GetEquippedItemBySlot", "S spawn, n slot")
def get_worn_in(scripts: Scripts, body: Body | None, slot: int) -> Handle | None:
    """Return what a player wears in a slot."""
    player = _player(body)
    thing = player.holdings.inventory.worn(slot) if player is not None else None
    if player is None or thing is None:
        return None
    return scripts.items.item(player, thing).handle


@ITEMS("GetEquippedItemByID", "P player, u item")
def get_worn(scripts: Scripts, body: Body | None, item: int) -> Handle | None:
    """Return a thing that a player wears, by the number of its kind."""
    player = _player(body)
    found = player.holdings.inventory.of_kind(item, WORN) if player is not None else []
    return scripts.items.item(player, found[0]).handle if player is not None and found else None


@ITEMS("GetItemByID", "P player, u item, n number=1, n bank")
def get_item(
    scripts: Scripts, body: Body | None, item: int, _number: int, bank: int
) -> Handle | None:
    """Return a thing that a player carries, by the number of its kind."""
    player = _player(body)
    where = (Where.BAGS, *(BANKED if bank else ()))
    found = player.holdings.inventory.of_kind(item, where) if player is not None else []
    return scripts.items.item(player, found[0]).handle if player is not None and found else None


@ITEMS("GetItemID", "I item")
def get_item_id(_scripts: Scripts, item: HeldItem | None) -> int:
    """Return the number of the kind of a thing."""
    return item.kind.id if item is not None else 0


@ITEMS("GetItemType", "I item")
def get_item_sort(_scripts: Scripts, item: HeldItem | None) -> int:
    """Return the sort of a thing: 1 weapon, 3 armor, 5 bag, 8 food ..."""
    return int(item.kind.sort) if item is not None else 0


@ITEMS("GetItemCount", "I item")
def get_item_count(_scripts: Scripts, item: HeldItem | None) -> int:
    """Return how many lie in a stack, or how many charges are left."""
    thing = item.thing if item is not None else None
    return thing.count if thing is not None else 0


@ITEMS("GetItemSkillReq", "I item, n which")
def get_item_skill(_scripts: Scripts, item: HeldItem | None, which: int) -> int:
    """Return the first or the second skill that a thing needs; 0 for none."""
    return item.kind.skills[1 if which == 2 else 0] if item is not None else 0


# -- giving and taking ------------------------------------------------------------------------


@ITEMS("SummonItem", "P player, u item, 1 show?, t place?, n number=1")
def summon_item(
    scripts: Scripts, body: Body | None, item: int, shows: bool, place: str, number: int
) -> bool:
    """Give a player a new thing, into the bank with the place `bank`; `shows` says so."""
    player = _player(body)
    if player is None or not scripts.gifts.give(player, item, number, in_bank=place == "bank"):
        return False
    kind = scripts.items_of_players.kinds.get(item)
    if shows and kind is not None and scripts.may_send():
        text = f"You receive {kind.name}."
        send_text(player.client, text, YELLOW)
        popup(player, text, GREEN)
    return True


@ITEMS("AddItem", "P player, u item, u number=1")
def add_item(scripts: Scripts, body: Body | None, item: int, number: int) -> bool:
    """Give a player new things without a word."""
    player = _player(body)
    return player is not None and scripts.gifts.give(player, item, number)


@ITEMS("RemoveItem", "P player, u item, n number=1")
def remove_item(scripts: Scripts, body: Body | None, item: int, number: int) -> bool:
    """Take things out of a player's bags; false, and nothing, if there are too few."""
    player = _player(body)
    return player is not None and scripts.gifts.take_things(player, item, number)


@ITEMS("SetItemCount", "I item, P player, u number")
def set_item_count(
    scripts: Scripts, item: HeldItem | None, _body: Body | None, number: int
) -> None:
    """Let a stack be smaller, or a thing have fewer charges; 0 removes it."""
    thing = item.thing if item is not None else None
    if item is None or thing is None or item.player.holdings.gate.is_closed:
        return
    if number < thing.count:
        scripts.items_of_players.use_up(item.player, thing, thing.count - number, GIVER)
        scripts.items_of_players.changed(item.player)
    elif thing.count < number <= item.kind.stack:
        keeper = keeper_of(item.player, thing)
        item.player.holdings.flow(GIVER, keeper, item.kind.id, number - thing.count)
        item.player.holdings.inventory.set(thing, count=number)
        scripts.items_of_players.changed(item.player)


# -- wearing ----------------------------------------------------------------------------------


@ITEMS("SetEquippedItemByID", "S spawn, n slot, u item")
def set_worn(scripts: Scripts, body: Body | None, slot: int, item: int) -> bool:
    """Let a spawn wear a thing; a player gets a new one if the slot is free."""
    kind = scripts.items_of_players.kinds.get(item)
    if body is None or kind is None or slot not in kind.slots:
        return False
    player = body.player
    if player is None:
        look = kind.look
        return look is not None and wear(body.spawn, slot, look.model, look.color, look.highlight)
    holdings, items = player.holdings, scripts.items_of_players
    if holdings.gate.is_closed or holdings.inventory.refuses(kind) is not None:
        return False
    count = kind.beginning_count()
    try:
        made = holdings.inventory.add_worn(kind, count, slot, items.new_number)
    except StoreError:
        return False
    if made is None:
        return False
    holdings.flow(GIVER, Owner.character(player.id), kind.id, count)
    items.changed(player)
    return True


@ITEMS("UnequipSlot", "S spawn, n slot, b keep?")
def unequip_slot(scripts: Scripts, body: Body | None, slot: int, keep: bool) -> bool:
    """Take off what a player wears in a slot; without `keep` it is gone."""
    player = _player(body)
    thing = player.holdings.inventory.worn(slot) if player is not None else None
    if player is None or thing is None or player.holdings.gate.is_closed:
        return False
    inventory, items = player.holdings.inventory, scripts.items_of_players
    if not keep:
        items.use_up(player, thing, thing.count, NOTHING)
    else:
        place = inventory.free_place(inventory.kind(thing))
        if place is None:
            return False
        inventory.move_to(thing, place)
    items.changed(player, list_first=True)
    return True


@ITEMS("SetEquippedItem", "S spawn, n slot, I item")
def set_worn_item(scripts: Scripts, body: Body | None, slot: int, item: HeldItem | None) -> bool:
    """Let a spawn wear a thing like one that a player has; a player must have it in its bags."""
    if item is None or body is None:
        return False
    if body.player is None:
        return set_worn(scripts, body, slot, item.kind.id)
    thing = item.thing
    if item.player is not body.player or thing is None or thing.place.where is not Where.BAGS:
        return False
    holdings = body.player.holdings
    is_free = slot in item.kind.slots and holdings.inventory.worn(slot) is None
    if holdings.gate.is_closed or thing.id in holdings.inventory.locked or not is_free:
        return False
    holdings.inventory.move_to(thing, Place(Where.WORN, 0, slot))
    scripts.items_of_players.changed(body.player)
    return True


@ITEMS("DamageEquippedItems", "P player, u percent")
def wear_down(scripts: Scripts, body: Body | None, percent: int) -> bool:
    """Take condition from all that a player wears; false if it wears nothing that suffers."""
    player = _player(body)
    if player is None or player.holdings.gate.is_closed:
        return False
    return scripts.trading.menders.wear_down(player, min(percent, FULL))


# -- windows ----------------------------------------------------------------------------------


@ITEMS("SendBook", "P player, u item")
def send_book(scripts: Scripts, body: Body | None, item: int) -> None:
    """Show a player the pages of a book, by the number of its kind."""
    player = _player(body)
    kind = scripts.items_of_players.kinds.get(item)
    if player is not None and kind is not None and scripts.may_send():
        show_book(player, kind, scripts.world.knowledge)


@ITEMS("ShowShopWindow", "P player, S spawn")
def show_shop(scripts: Scripts, body: Body | None, merchant: Body | None) -> None:
    """Open the window of a merchant for a player who is near it."""
    player = _player(body)
    if player is None or merchant is None or merchant.player is not None:
        return
    work = scripts.trading.merchants.open_at(player, merchant.spawn)

    async def opened() -> None:
        try:
            await work
        except StoreError:
            scripts.counters["windows not opened: the database does not answer"] += 1

    scripts.world.start(opened())


@ITEMS("GetItemEffectType", "I item")
def get_cure(_scripts: Scripts, item: HeldItem | None) -> int:
    """Return what a thing cures: 1 trauma, 2 arcane, 3 noxious, 4 elemental, 5 curse ... 7 all."""
    return item.kind.cure if item is not None else 0


# -- coins ------------------------------------------------------------------------------------


@ITEMS("HasCoin", "P player, u copper")
def has_coin(scripts: Scripts, body: Body | None, copper: int) -> bool:
    """Return whether a player has so many coins, in copper."""
    player = _player(body)
    return player is not None and scripts.gifts.coins(player) >= copper


@ITEMS("AddCoin", "P player, u copper")
def add_coin(scripts: Scripts, body: Body | None, copper: int) -> None:
    """Give a player coins."""
    player = _player(body)
    if player is not None:
        scripts.gifts.give_coins(player, copper)


@ITEMS("RemoveCoin", "P player, u copper")
def remove_coin(scripts: Scripts, body: Body | None, copper: int) -> bool:
    """Take coins from a player; false, and nothing, if there are too few."""
    player = _player(body)
    return player is not None and scripts.gifts.take_coins(player, copper)
