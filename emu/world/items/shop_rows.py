"""Rows of the windows of merchants and menders."""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

from emu.content.trade import Ware
from emu.dialects import Dialect
from emu.dialects.dialect import wire_texts
from emu.dialects.records import RecordPacker
from emu.errors import UnknownStruct
from emu.items.kinds import ItemKind
from emu.ledger import Owner, OwnerKind
from emu.rules.stance import RED, arrow_color
from emu.structs import StructLayout
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.events import Events
from emu.world.item_events import ItemOffered

STRUCT: Final = "WS_UpdateMerchant"
COMMAND: Final = "OP_EqUpdateMerchantCmd"
INDEX_BYTES: Final = 4
"""Bytes of the merchant's index, with which the message begins."""
HEAD: Final = 6
"""Bytes of the index and of the number of rows."""
MOST_LISTS: Final = 200
ENDLESS: Final = 255
"""The quantity of what the merchant has always, and of a single thing of the player."""
MOST_ROWS: Final = 0xFFFF
NAME, TOKENS, DESCRIPTION = "item_name", "token_array", "description"
"""The fields of a row whose sizes differ from row to row."""
NUMBERS: Final = (
    "price", "item_id", "item_id2", "unique_item_id", "stack_size", "stack_size2", "icon", "level",
    "item_difficulty", "display_flags", "quantity", "unknown5", "tier", "status", "status2",
)  # fmt: skip
LONGEST_NAME: Final = 0xFF
NOBODY: Final = 0xFFFFFFFF
CLOSED: Final = 16
"""The type of the window that closes it."""


def row(
    player: Player,
    kind: ItemKind,
    price: int,
    *,
    stack: int,
    quantity: int = ENDLESS,
    number: int = 0,
    flags: int = 0,
    status: int = 0,
    is_ware: bool = False,
    tokens: Sequence[Mapping[str, Any]] = (),
    description: str = "",
) -> dict[str, Any]:
    """Return a row of a kind of things.

    `number` is that of a player's thing, `is_ware` whether the merchant sells it, `tokens` what it
    costs beside coins and status.
    """
    return {
        "item_name": kind.name,
        "price": price,
        "item_id": kind.id,
        "item_id2": kind.id,
        "unique_item_id": number,
        "stack_size": stack,
        "stack_size2": stack,
        "icon": kind.icon,
        "level": kind.level,
        # Recorded of players of level 1 and 5: what needs no level is as what needs the first.
        "item_difficulty": RED - arrow_color(max(kind.level, 1), player.spawn.level),
        "display_flags": flags,
        "quantity": quantity,
        "unknown5": 0xFF if is_ware else 0,
        "tier": kind.tier,
        "status": status,
        "status2": status,
        TOKENS: tokens,
        DESCRIPTION: description,
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


class RowWriter:
    """Writes the lists of merchants for clients of one version.

    Nearly all rows have a name, numbers and nothing else; those are written at once.
    """

    __slots__ = ("_dialect", "_packer", "_tail")

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._tail = len(self._list([], 0)) - HEAD
        """Bytes behind the rows."""
        self._packer = RecordPacker(lambda values: self._row(values)[1:], NUMBERS)

    def _list(self, rows: Sequence[Mapping[str, Any]], window: int) -> bytes:
        rows = [wire_texts(one) for one in rows]
        fields = {"num_items": len(rows), "item_array": rows, "type": window}
        return self._dialect.encode_known(STRUCT, fields)

    def _row(self, values: Mapping[str, Any]) -> bytes:
        return self._list([values], 0)[HEAD : -self._tail]

    def write(self, rows: Sequence[Mapping[str, Any]], window: int) -> bytes:
        """Return a list for the index 0; the rows are those of `row`. Raises `StructValueError`."""
        rows = rows[:MOST_ROWS]
        empty, pack = self._list([], window), self._packer.pack
        parts = [bytes(INDEX_BYTES), len(rows).to_bytes(HEAD - INDEX_BYTES, "little")]
        for one in rows:
            if one[TOKENS] or one[DESCRIPTION]:
                parts.append(self._row(one))
                continue
            name = one[NAME].encode("utf-8", "replace")[:LONGEST_NAME]
            try:
                parts += (len(name).to_bytes(1, "little"), name, pack(one))
            except struct.error:
                self._row(one)  # raises with the field's name
                raise
        return b"".join((*parts, empty[HEAD:]))


_WRITERS: Final[dict[StructLayout, RowWriter]] = {}


def write_rows(dialect: Dialect, rows: Sequence[Mapping[str, Any]], window: int) -> bytes:
    """Return the list of a merchant for the index 0, for clients of a version."""
    layout = dialect.layout(STRUCT)
    writer = _WRITERS.get(layout)
    if writer is None:
        writer = _WRITERS[layout] = RowWriter(dialect)
    return writer.write(rows, window)


def send_rows(player: Player, spawn: Spawn, rows: Sequence[Mapping[str, Any]], window: int) -> None:
    """Send a list of a merchant, if the client still has the merchant."""
    _send(player, spawn, lambda: write_rows(player.client.dialect, rows, window))


def _send(player: Player, spawn: Spawn, make: Callable[[], bytes]) -> None:
    index = player.index_of(spawn)
    if index is None:
        return
    try:
        payload = make()
    except UnknownStruct:
        player.client.send(STRUCT)  # counts that its version does not have it
        return
    player.client.command(COMMAND, index.to_bytes(INDEX_BYTES, "little") + payload[INDEX_BYTES:])


class WindowCache:
    """The encoded lists of merchants: the largest has a thousand rows, which take 3 ms.

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
        make: Callable[[], bytes],
    ) -> None:
        """Send the list of a key; `make` encodes it if `source` is not that of before."""
        key = (player.client.version, *key)

        def found() -> bytes:
            known = self._payloads.get(key)
            if known is None or known[0] is not source:
                if len(self._payloads) >= MOST_LISTS:
                    del self._payloads[next(iter(self._payloads))]
                known = self._payloads[key] = source, make()
            return known[1]

        _send(player, spawn, found)


def send_closed(player: Player) -> None:
    """Send the list without a merchant, which follows those of a new window."""
    fields = {"spawn_id": NOBODY, "num_items": 0, "item_array": [], "type": CLOSED}
    player.client.send(STRUCT, fields)


def owner_of(spawn: Spawn) -> Owner:
    """Return a merchant as an owner of the ledger."""
    return Owner(OwnerKind.MERCHANT, spawn.look.dealing.number)
