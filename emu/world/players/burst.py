"""What a client is sent on entering besides the zone itself: one function a message.

Many are empty in a world without fights, items and quests; they are sent all the same, because
clients wait for some of them and nobody knows for all of them
(docs/protocol/world/entering.md#order).
"""

from __future__ import annotations

import zlib
from typing import Any, Final

from emu.structs.packed import pack_counted
from emu.world.clock import game_time
from emu.world.players.client import WorldClient
from emu.world.players.player import Player
from emu.world.players.relations import Relation
from emu.world.world import World

ACCEPTED: Final = {
    "reply_code": 0,
    "unknown02": 1,
    "unknown05": -959971393,
    "accountid": 3,
    "unknown08": 2,
    "unknown09": 585,
    "unknown10": 1597830,
}
"""What EQ2Emulator's world writes into an accepting reply; the account id is a constant there."""
WEBSITE: Final = ("localhost", 80)
EVERY_EXPANSION: Final = 0xFFFFFFFF
UNKNOWN_THREE: Final = [4294967296.0, 0.0]
UNKNOWN_SEVEN: Final = [1.0, 1.0]
ADVENTURE_ZONES: Final = 9
"""Entries of ZoneInfo's list, all of them empty (docs/protocol/world/entering.md#zone-info)."""
EQUIPMENT, APPEARANCE = 1, 2
INVENTORY: Final = "WS_UpdateInventory"
BOOK_HEAD: Final = 6
"""Bytes of a book's u16 count and of the length that stands for its packed records."""


def send_login_reply(client: WorldClient) -> None:
    """Accept the client. A field that is a row of bytes in its version stays zero."""
    layout = client.dialect.layout("LS_LoginResponse")
    single = {entry.name for entry in layout.definition.fields if entry.size == 1}
    client.send(
        "LS_LoginResponse", {name: value for name, value in ACCEPTED.items() if name in single}
    )


def send_journals(client: WorldClient, name: str) -> None:
    """Send the journal, the collections and the factions: empty."""
    crc = zlib.crc32(name.encode()) ^ 0xFFFFFFFF
    client.send("WS_QuestJournalUpdate", {"player_crc": crc, "player_name": name})
    client.send("WS_CollectionUpdate", {"new_collection_flag": 1})
    client.send("WS_FactionUpdate")


def send_zone(world: World, player: Player) -> None:
    """Have the client load its zone."""
    definition = world.zones.definition(player.zone.zone_id)
    at = player.position
    website, port = WEBSITE
    fields: dict[str, Any] = {
        "server1": world.rules.name,
        "server2": world.rules.name,
        "expansions_enabled": EVERY_EXPANSION,
        "auction_website": website,
        "auction_port": port,
        "zone": definition.file,
        "zone_desc": definition.description,
        "char_name": player.name,
        "x": at.x,
        "y": at.y,
        "z": at.z,
        **game_time(world.moment())._asdict(),
        "unknown7": UNKNOWN_SEVEN,
        "unknown3": UNKNOWN_THREE,
        "underworld": definition.underworld,
        "num_adv": ADVENTURE_ZONES,
        "adv_array": [{}] * ADVENTURE_ZONES,
    }
    player.client.send("WS_ZoneInfo", fields)


def send_relations(player: Player) -> None:
    """Send friends, then ignored ones."""
    for kind in Relation:
        names = player.relations.names(kind)
        player.client.send(
            "WS_ChatRelationship",
            {
                "account_id": player.character.account_id,
                "type": kind,
                "num_names": len(names),
                "name_array": [{"name": name} for name in names],
            },
        )


def send_inventory(client: WorldClient) -> None:
    """Send the inventory, worn and shown: empty slots."""
    dialect = client.dialect
    slots = [{"index": number} for number in range(dialect.rules.equipment_slots)]
    for flag in (EQUIPMENT, APPEARANCE):
        key = INVENTORY, flag
        if key not in dialect.made:
            values = {"item_count": len(slots), "item_array": slots}
            records = dialect.encode_known(INVENTORY, values)[BOOK_HEAD:-1] if slots else b""
            tail = bytes((flag,))
            dialect.made[key] = pack_counted(len(slots), records, tail, dialect.version)
        client.send_bytes("OP_UpdateInventoryMsg", dialect.made[key])


def send_empty_book(client: WorldClient, message: str) -> None:
    """Send spells or recipes: none. Such a book is a u16 count, and the length of its records."""
    client.send_bytes(message, bytes(BOOK_HEAD))


def send_group_options(client: WorldClient) -> None:
    """Send the defaults of groups, as they were recorded."""
    client.send(
        "WS_DefaultGroupOptions",
        {"loot_method": 1, "auto_split_coin": 1, "default_yell_method": 1},
    )
