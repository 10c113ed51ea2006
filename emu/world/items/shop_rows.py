"""Rows of the windows of merchants and menders."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

from emu.content.trade import Ware
from emu.dialects.dialect import wire_name, wire_texts
from emu.items.kinds import ItemKind
from emu.ledger import Owner, OwnerKind
from emu.rules.stance import RED, arrow_color
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.events import Events
from emu.world.item_events import ItemOffered

STRUCT: Final = "WS_UpdateMerchant"
COMMAND: Final = "OP_EqUpdateMerchantCmd"
INDEX_BYTES: Final = 4
"""Bytes of the merchant's index, with which the message begins."""
MOST_LISTS: Final = 200
ENDLESS: Final = 255
"""The quantity of what the merchant has always, and of a single thing of the player."""
MOST_ROWS: Final = 0xFFFF
NOBODY: Final = 0xFFFFFFFF
CLOSED: Final = 16
"""The type of the window that closes it."""


def row(player: Player, kind: ItemKind, price: int, *, stack: int) -> dict[str, Any]:
    """Return a row of a kind of things."""
    # What needs no level is right for everybody.
    level = kind.level or player.spawn.level
    return {
        "item_name": kind.name,
        "price": price,
        "item_id": kind.id,
        "item_id2": kind.id,
        "stack_size": stack,
        "stack_size2": stack,
        "icon": kind.icon,
        "level": kind.level,
        "item_difficulty": RED - arrow_color(level, player.spawn.level),
        "quantity": ENDLESS,
        "tier": kind.tier,
        "description": "",
    }


def flags_of(
    events: Events, player: Player, kinds: Iterable[ItemKind], *, is_bought_back: bool = False
) -> dict[int, int]:
    """Return the flags with which kinds are shown, by number; scripts decide, for each player."""
    found = {}
    if events.has_listener(ItemOffered):
        for kind in kinds:
            if kind.script:
                event = ItemOffered(player, kind, is_bought_back)
                events.publish(event)
                if event.flags:
                    found[kind.id] = event.flags[-1] & 0xFF
    return found


def send_rows(player: Player, spawn: Spawn, rows: Sequence[Mapping[str, Any]], window: int) -> None:
    """Send a list of a merchant, if the client still has the merchant."""
    index = player.index_of(spawn)
    if index is not None:
        rows = rows[:MOST_ROWS]
        fields = {"spawn_id": index, "num_items": len(rows), "item_array": rows, "type": window}
        player.client.send(STRUCT, fields)


class WindowCache:
    """The encoded lists of merchants: the largest has a thousand rows, which take 25 ms.

    A list is the same for all players of a version and a level while nothing of limited stock was
    bought.
    """

    __slots__ = ("_payloads", "_scripted")

    def __init__(self) -> None:
        self._payloads: dict[tuple[Hashable, ...], tuple[object, bytes]] = {}
        self._scripted: dict[int, tuple[object, tuple[ItemKind, ...]]] = {}

    def scripted(
        self, merchant: int, wares: Sequence[Ware], kind_of: Callable[[int], ItemKind | None]
    ) -> tuple[ItemKind, ...]:
        """Return the kinds of a list that have a script, which may decide how they are shown."""
        known = self._scripted.get(merchant)
        if known is None or known[0] is not wares:
            found = [kind_of(ware.item_id) for ware in wares]
            kinds = tuple(kind for kind in found if kind is not None and kind.script)
            known = self._scripted[merchant] = wares, kinds
        return known[1]

    def send(
        self,
        player: Player,
        spawn: Spawn,
        key: tuple[Hashable, ...],
        source: object,
        make: Callable[[], Mapping[str, Any]],
    ) -> None:
        """Send the list of a key; `make` returns its fields if `source` is not that of before."""
        index = player.index_of(spawn)
        if index is None:
            return
        key = (player.client.version, *key)
        known = self._payloads.get(key)
        if known is None or known[0] is not source:
            if len(self._payloads) >= MOST_LISTS:
                del self._payloads[next(iter(self._payloads))]
            fields = {"spawn_id": 0, **make()}
            fields["item_array"] = [_wired(one) for one in fields["item_array"]]
            known = source, player.client.dialect.encode_known(STRUCT, fields)
            self._payloads[key] = known
        payload = index.to_bytes(INDEX_BYTES, "little") + known[1][INDEX_BYTES:]
        player.client.command(COMMAND, payload)


def _wired(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with its texts as bytes; to look at all of its fields takes much longer."""
    row["item_name"] = wire_name(row["item_name"])
    row["token_array"] = [wire_texts(one) for one in row["token_array"]]
    return row


def send_closed(player: Player) -> None:
    """Send the list without a merchant, which follows those of a new window."""
    fields = {"spawn_id": NOBODY, "num_items": 0, "item_array": [], "type": CLOSED}
    player.client.send(STRUCT, fields)


def owner_of(spawn: Spawn) -> Owner:
    """Return a merchant as an owner of the ledger."""
    return Owner(OwnerKind.MERCHANT, spawn.look.dealing.number)
