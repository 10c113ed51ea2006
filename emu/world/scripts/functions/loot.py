"""Functions for loot: what creatures have, and what players find.

Source: docs/guides/lua.md#loot.
"""

from __future__ import annotations

from typing import Final

from emu.errors import CommandError, StoreError
from emu.items.remains import Remains
from emu.ledger import MOST_COINS
from emu.scripts.signatures import FunctionTable, read_unsigned
from emu.world.actors.player import Player
from emu.world.items.loot import Carried
from emu.world.scripts.bodies import Body
from emu.world.scripts.host import Scripts

LOOT: Final = FunctionTable()
MOST_THINGS: Final = 50
"""Things that a creature has with it at most."""
MOST_LOOT: Final = MOST_COINS // 1_000_000
"""Copper that a creature has with it at most."""
LARGEST_NUMBER: Final = 0x7FFFFFFF
"""The largest number of a kind of things."""


def _carried(scripts: Scripts, body: Body | None) -> Carried | None:
    """Return what a creature has with it; None for players and things."""
    if body is None or body.player is not None:
        return None
    return scripts.trading.loots.carried(body.home.zone, body.spawn)


@LOOT("AddLootItem", "S spawn, u item, n charges=1")
def add_item(scripts: Scripts, body: Body | None, item: int, charges: int) -> None:
    """Let a creature have a thing with it, which it drops."""
    carried = _carried(scripts, body)
    if carried is not None and item and len(carried.things) < MOST_THINGS:
        carried.things.append((item, max(1, charges)))


@LOOT("RemoveLootItem", "S spawn, u item")
def remove_item(scripts: Scripts, body: Body | None, item: int) -> None:
    """Take all things of a kind from a creature, so that it does not drop them."""
    carried = _carried(scripts, body)
    if carried is not None:
        carried.things = [one for one in carried.things if one[0] != item]


@LOOT("HasLootItem", "S spawn, u item")
def has_item(scripts: Scripts, body: Body | None, item: int) -> bool:
    """Return whether a creature has a thing with it."""
    carried = _carried(scripts, body)
    return carried is not None and any(one == item for one, _ in carried.things)


@LOOT("GetLootCoin", "S spawn")
def loot_coins(scripts: Scripts, body: Body | None) -> int:
    """Return the coins that a creature has with it, in copper."""
    carried = _carried(scripts, body)
    return carried.coins if carried is not None else 0


@LOOT("SetLootCoin", "S spawn, u copper")
def set_coins(scripts: Scripts, body: Body | None, copper: int) -> None:
    """Let a creature have so many coins with it."""
    carried = _carried(scripts, body)
    if carried is not None:
        carried.coins = min(copper, MOST_LOOT)


@LOOT("AddLootCoin", "S spawn, u copper")
def add_coins(scripts: Scripts, body: Body | None, copper: int) -> None:
    """Let a creature have more coins with it."""
    carried = _carried(scripts, body)
    if carried is not None:
        carried.coins = min(carried.coins + copper, MOST_LOOT)


@LOOT("GetLootTier", "S spawn")
def tier(_scripts: Scripts, body: Body | None) -> int:
    """Return the loot tier of a creature: from a tier on it has further tables."""
    return body.spawn.look.dealing.loot_tier if body is not None else 0


@LOOT("SetLootTier", "S spawn, u number")
def set_tier(scripts: Scripts, body: Body | None, number: int) -> bool:
    """Set the loot tier of a creature before anything has asked for its loot."""
    if body is None or body.player is not None:
        return False
    scripts.trading.loots.set_tier(body.spawn, number)
    return True


@LOOT("GetLootDropType", "S spawn")
def drop_kind(_scripts: Scripts, body: Body | None) -> int:
    """Return 1 if everything that a creature leaves lies on its body, else 0."""
    return body.spawn.look.dealing.loot_drop_kind if body is not None else 0


@LOOT("SetLootDropType", "S spawn, u kind")
def set_drop_kind(scripts: Scripts, body: Body | None, kind: int) -> bool:
    """Let everything that a creature leaves lie on its body (1), or better things in a chest."""
    if body is None or body.player is not None:
        return False
    scripts.trading.loots.set_drop_kind(body.spawn, kind)
    return True


@LOOT("GiveLoot", "S spawn, P player, u coins?, ...")
def give(
    scripts: Scripts,
    body: Body | None,
    player: Body | None,
    coins: int | None,
    *items: object,
) -> None:
    """Let a player find coins and things at a spawn; show their window if it is near."""
    if body is None or player is None or player.player is None:
        return
    read = map(read_unsigned, items[:MOST_THINGS])
    numbers = [one for one in read if 0 < one <= LARGEST_NUMBER]
    found = [scripts.items_of_players.kinds.get(one) for one in numbers]
    kinds = [one for one in found if one is not None]
    copper = min(coins or 0, MOST_LOOT)
    scripts.trading.loots.give(body.spawn, player.player, copper, kinds)
    # Whoever is far away finds it later, when a script shows the window.
    reach = scripts.trading.looting.reach_in(player.home.zone)
    if player.player.position.distance_to(body.spawn.position) <= reach:
        _show(scripts, player.player, body)


@LOOT("HasPendingLoot", "S spawn, P player")
def has_pending(scripts: Scripts, body: Body | None, player: Body | None) -> bool:
    """Return whether a player has not taken everything that `GiveLoot` has given it at a spawn."""
    return _pending(scripts, body, player) is not None


@LOOT("HasPendingLootItem", "S spawn, P player, u item")
def has_pending_item(scripts: Scripts, body: Body | None, player: Body | None, item: int) -> bool:
    """Return whether a thing is among what a player has not taken at a spawn."""
    found = _pending(scripts, body, player)
    return found is not None and any(one.kind.id == item for one in found.lots)


@LOOT("ShowLootWindow", "P player, S spawn")
def show_window(scripts: Scripts, player: Body | None, body: Body | None) -> None:
    """Show a player the window of what it finds at a spawn."""
    if body is not None and player is not None and player.player is not None:
        _show(scripts, player.player, body)


def _pending(scripts: Scripts, body: Body | None, player: Body | None) -> Remains | None:
    if body is None or player is None or player.player is None:
        return None
    return scripts.trading.loots.pending.get((body.spawn.id, player.player.id))


def _show(scripts: Scripts, player: Player, body: Body) -> None:
    async def opened() -> None:
        try:
            await scripts.trading.looting.open_at(player, body.spawn)
        except (StoreError, CommandError):
            scripts.counters["loot that could not be stored"] += 1

    scripts.world.start(opened())
