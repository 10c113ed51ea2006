"""Initial messages that a client is sent on zone entry: one function for each message.

Clients know languages as skills with the same number.
Source: docs/protocol/world/entering.md#books, docs/protocol/world/entering.md#small-messages.

Many are empty in a world without fights, items and quests. They are sent nevertheless: clients wait
for some of them, and it is unknown for which
(docs/protocol/world/entering.md#order).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from emu.dialects import Dialect
from emu.dialects.dialect import wire_texts
from emu.errors import UnknownStruct
from emu.model import WorldCharacter
from emu.times import Moment, unix_seconds
from emu.world.actors.client import PlayerClient
from emu.world.actors.player import Player, Relation
from emu.world.clock import GameTime, game_time
from emu.world.entry import client_records, window_messages
from emu.world.knowledge import Knowledge
from emu.world.sheets import GHOST_SIZE
from emu.world.visibility.viewer import OWN_INDEX
from emu.world.zones.definitions import ZoneDefinition

ACCEPTED: Final = {
    "reply_code": 0,
    "unknown02": 1,
    "unknown05": -959971393,
    "accountid": 3,
    "unknown08": 2,
    "unknown09": 585,
    "unknown10": 1597830,
    "unknown13": 0x86,
}
"""Values of EQ2Emulator's accepting reply; the account id is a constant there."""
CONTROL: Final = 255
WEBSITE: Final = ("localhost", 80)
EVERY_EXPANSION: Final = [0xFFFFFFFF, 0xFFFFFFFF]
EXPANSION_BITS: Final = bytes.fromhex("FFFFFFFF0C3FC02C")
FEATURE_BITS: Final = bytes.fromhex("5FFFE7ED8FFFFFFE")
"""Expansions and features of the versions that have them as bytes (recorded)."""
UNKNOWN_ROWS: Final = tuple(
    bytes.fromhex(row)
    for row in (
        "98032FEC50BA94ED0100000082010000FFFFFFFF",
        "93A2E7A11D41C2690100000087010000FFFFFFFF",
        "2B92E2BC06D264F5010000008A010000FFFFFFFF",
        "3671BB6A5C1A63060100000089010000FFFFFFFF",
    )
)
"""The last list of ZoneInfo from 63119 on (recorded, always the same)."""
UNKNOWN_BEFORE_ROWS: Final = 0x14000000
UNKNOWN_THREE: Final = [4294967296.0, 0.0]
UNKNOWN_SEVEN: Final = [1.0, 1.0]
UNKNOWN_NINE: Final = 13.0
ADVENTURE_ZONES: Final = 9
"""Entries of ZoneInfo's list, all empty (docs/protocol/world/entering.md#zone-info)."""
MINUTE_TAIL: Final = 250


def send_login_reply(client: PlayerClient) -> None:
    """Accept the client. A field that is an array of bytes in its version stays zero."""
    layout = client.dialect.layout("LS_LoginResponse")
    # Some versions have these fields as arrays, whose meaning is unknown.
    single = {entry.name for entry in layout.definition.fields if entry.size == 1}
    client.send(
        "LS_LoginResponse", {name: value for name, value in ACCEPTED.items() if name in single}
    )


def send_journals(
    player: Player,
    send_quests: Callable[[Player], object],
    send_collections: Callable[[Player], object],
    send_standings: Callable[[Player], object],
) -> None:
    """Send the quests, no advancements, the collections and what factions think of the player."""
    send_quests(player)
    window_messages.send_advancements(player)
    send_collections(player)
    send_standings(player)


def send_zone(player: Player, world_name: str, definition: ZoneDefinition, time: GameTime) -> None:
    """Make the client load its zone."""
    at = player.position
    website, port = WEBSITE
    rules = player.client.dialect.world_rules
    fields: dict[str, Any] = {
        "server1": world_name,
        "server2": world_name,
        "expansions_enabled": EVERY_EXPANSION,
        "features": EVERY_EXPANSION,
        "unknown1": [0, 1],
        **_rows("expansions", EXPANSION_BITS),
        **_rows("features", FEATURE_BITS),
        "auction_website": website,
        "auction_port": port,
        "zone": definition.file,
        "zone_desc": definition.description,
        "char_name": player.name,
        "x": at.x,
        "y": at.y,
        "z": at.z,
        **time._asdict(),
        "unknown7": UNKNOWN_SEVEN,
        "unknown3": UNKNOWN_THREE,
        "unknown9": UNKNOWN_NINE,
        "underworld": definition.underworld,
        "adventure_level": rules.zone_level,
        "tradeskill_level": rules.zone_level,
        "zone_flags": rules.zone_flags,
        "num_adv": ADVENTURE_ZONES,
        "adv_array": [{}] * ADVENTURE_ZONES,
        **window_messages.tab_fields(),
        "unknown12": 1,
        "unknown12b": UNKNOWN_BEFORE_ROWS,
        "num_unknown13": len(UNKNOWN_ROWS),
        "unknown13_array": [{"unknown13": list(row)} for row in UNKNOWN_ROWS],
    }
    player.client.send("WS_ZoneInfo", fields)
    window_messages.send_no_map(player.client)


def _rows(name: str, values: bytes) -> dict[str, Any]:
    """Return an array with one byte in each element, and its count."""
    return {f"num_{name}": len(values), f"{name}_array": [{name: one} for one in values]}


def send_relations(player: Player, kinds: Iterable[Relation] = Relation) -> None:
    """Send the lists of these kinds: by default friends, then ignored players."""
    for kind in kinds:
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


def send_group_options(player: Player) -> None:
    """Send the defaults of groups: the player's, or those that were recorded."""
    player.client.send("WS_DefaultGroupOptions", client_records.group_fields(player))


SKILL_MAP: Final = "WS_SkillMap"


def send_names(client: PlayerClient, knowledge: Knowledge) -> None:
    """Send the names of skills and languages; encoded once for each client version."""
    # By object: a reload makes new knowledge, and so a new key.
    made = client.dialect.made
    key = SKILL_MAP, knowledge
    if key not in made:
        try:
            made[key] = _names(client.dialect, knowledge)
        except UnknownStruct:
            # Remembered as well: the next client of this version must not try again.
            made[key] = b""
    if made[key]:
        client.send_bytes("OP_PopulateSkillMapsMsg", made[key])


def send_languages(client: PlayerClient, knowledge: Knowledge, character: WorldCharacter) -> None:
    """Send the languages of a character, besides the common one."""
    # A character without own ones has those of a new character of its race.
    known = character.languages or knowledge.beginners.languages(character)
    client.send(
        "WS_Languages",
        {
            "num_languages": len(known),
            "language_array": [{"language_id": number} for number in known],
        },
    )


def _names(dialect: Dialect, knowledge: Knowledge) -> bytes:
    rows = [
        {
            "skill_id": skill.id,
            "short_name": skill.short_name,
            "name": skill.name,
            "description": skill.description,
        }
        for skill in knowledge.named
    ]
    values = wire_texts({"skill_count": len(rows), "skill_array": rows})
    return dialect.encode_known(SKILL_MAP, values)


def send_control(client: PlayerClient) -> None:
    """Let a client see with its player's eyes, and move its player."""
    client.send("WS_SetPOVGhostCmd", {"spawn_id": OWN_INDEX})
    control = {"spawn_id": OWN_INDEX, "size": GHOST_SIZE, "unknown2": CONTROL}
    client.send("WS_SetControlGhost", control)


def send_time(client: PlayerClient, moment: Moment) -> None:
    """Tell a client the world's time at a moment; it counts on by itself."""
    fields: dict[str, Any] = {
        "unknown": MINUTE_TAIL, "unix_time": unix_seconds(moment), "unknown2": 1.0,
    }  # fmt: skip
    client.send("WS_GameWorldTime", game_time(moment)._asdict() | fields)
