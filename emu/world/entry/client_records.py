"""Messages by which a client has the server keep something, or asks about what does not exist yet.

Macros, the fog of maps, the window of spells, the biography and the defaults of groups are stored
with the character and sent back on entry.
Source: docs/protocol/world/entering.md#client-data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from emu.dialects.dialect import read_name, wire_name
from emu.errors import MalformedMessage
from emu.model import SavedKind
from emu.times import Monotonic
from emu.world.actors.client import ERROR_COLOR, PlayerClient, send_text
from emu.world.actors.client_data import LONGEST_BIOGRAPHY, Macro
from emu.world.actors.player import IN_ZONE, Player
from emu.world.entry import window_messages
from emu.world.messages import CONNECTED, NOT_ZONING, MessageHandler, WorldMessages
from emu.world.world import World

GROUP_FIELDS: Final = (
    "loot_method", "loot_items_rarity", "auto_split_coin", "unknown3", "default_yell_method",
    "default_group_lock_method", "group_autolock", "solo_autolock", "auto_loot_method",
)  # fmt: skip
"""Fields of DefaultGroupOptions, in the order of `ClientData.group`."""
OPTIONS: Final = "WS_DefaultGroupOptions"


class ClientRecords:
    """Handles the messages of one world's clients about what they keep."""

    def __init__(self, world: World) -> None:
        self._world = world

    def register(self, messages: WorldMessages) -> None:
        """Add the messages to the table."""
        kept: dict[str, MessageHandler] = {
            "OP_MacroUpdateMsg": self._macro,
            "OP_KnowledgeWindowSlotMappingMsg": self._slots,
            "OP_MapFogDataUpdateMsg": self._fog,
            "OP_MapRequest": self._map,
            "OP_BioUpdateMsg": self._biography,
            "OP_DefaultGroupOptionsMsg": self._group_options,
            "OP_GroupOptionsMsg": self._group_options,
        }
        asked: dict[str, MessageHandler] = {
            "OP_SkillInfoRequest": self._skill,
        }
        for handlers, states in ((kept, NOT_ZONING), (asked, IN_ZONE)):
            for name, handler in handlers.items():
                messages.add_handler(name, handler, states)
        # The journal and portraits are the client's own affair.
        for name in ("OP_QuestJournalOpenMsg", "OP_PaperdollImage"):
            messages.add_handler(name, self._noted, CONNECTED)

    # -- kept -----------------------------------------------------------------------------------

    def _changed(self, player: Player, now: Monotonic) -> None:
        self._world.saves.changed(player, SavedKind.CLIENT_DATA, now)

    def _macro(self, player: Player, body: bytes, now: Monotonic) -> None:
        fields = player.client.dialect.layout("WS_MacroUpdate").decode(body)
        commands = tuple(read_name(row["command"]) for row in fields["macro_array"])
        macro = Macro(read_name(fields["name"]), fields["icon"], commands)
        player.client_data.put_macro(fields["number"], macro)
        self._changed(player, now)

    def _slots(self, player: Player, body: bytes, now: Monotonic) -> None:
        fields = player.client.dialect.layout("WS_SpellSlotMapping").decode(body)
        slots = [(row["spell_id"], row["slot_id"]) for row in fields["spell_array"]]
        player.client_data.put_slots(slots)
        self._changed(player, now)

    def _fog(self, player: Player, body: bytes, now: Monotonic) -> None:
        player.client_data.put_fog(player.zone.zone_id, body)
        self._changed(player, now)

    def _map(self, player: Player, body: bytes, _now: Monotonic) -> None:
        player.client.dialect.layout("WS_MapRequest").decode(body)
        # No zone has a map, so any name is answered with the map of none.
        window_messages.send_no_map(player.client)

    def _biography(self, player: Player, body: bytes, now: Monotonic) -> None:
        text = player.client.dialect.layout("WS_BioUpdate").decode(body)["biography"]
        # Others read it in a window, so it is a text like those of chat.
        shown = "".join(letter for letter in read_name(text) if letter.isprintable())
        if len(wire_name(shown)) > LONGEST_BIOGRAPHY:
            raise MalformedMessage("biography too long")
        if self._world.is_muted(player):
            send_text(player.client, "you are muted", ERROR_COLOR)
            return
        player.client_data.biography = shown
        self._changed(player, now)

    def _group_options(self, player: Player, body: bytes, now: Monotonic) -> None:
        fields = player.client.dialect.layout(OPTIONS).decode(body)
        before = dict(zip(GROUP_FIELDS, player.client_data.group, strict=True))
        values = before | {name: fields[name] for name in GROUP_FIELDS if name in fields}
        player.client_data.group = tuple(values[name] for name in GROUP_FIELDS)
        self._changed(player, now)

    # -- about what does not exist --------------------------------------------------------------

    def _noted(self, _player: Player, _body: bytes, _now: Monotonic) -> None:
        """Take a message that needs no answer."""

    def _skill(self, player: Player, body: bytes, _now: Monotonic) -> None:
        fields = player.client.dialect.layout("WS_SkillInfoRequest").decode(body)
        skill = self._world.knowledge.skills.get(fields["id"])
        if skill is None:
            self._world.count("skill unknown")
            return
        player.client.send("WS_SkillInfoResponse", {**fields, "name": skill.name})


# -- sent on entry


def group_fields(player: Player) -> Mapping[str, Any]:
    """Return the fields of WS_DefaultGroupOptions for a player."""
    return dict(zip(GROUP_FIELDS, player.client_data.group, strict=True))


def send_macros(player: Player) -> None:
    """Send a client its macros, if it has any."""
    macros = player.client_data.macros
    if not macros:
        return
    player.client.send(
        "WS_MacroInit",
        {
            "macro_count": len(macros),
            "macro_array": [
                {
                    "number": number,
                    "name": macro.name,
                    "macro_details_count": len(macro.commands),
                    "macro_details_array": [{"command": one} for one in macro.commands],
                    "icon": macro.icon,
                }
                for number, macro in macros
            ],
        },
    )


def send_fog(player: Player) -> None:
    """Send an older client the fog of the zone's map, if it has sent it before."""
    fog = player.client_data.fog(player.zone.zone_id)
    # Places as the client has sent them, with their count; two numbers before and no map behind.
    if fog and player.client.dialect.world_rules.fog_sent_back:
        player.client.send_bytes("OP_MapFogDataInitMsg", bytes(8) + fog + bytes(1))


def send_kept(player: Player) -> None:
    """Send a client the slots of its spells and its biography, if it has any."""
    client: PlayerClient = player.client
    slots = player.client_data.slots
    if slots:
        rows = [{"spell_id": spell, "slot_id": slot} for spell, slot in slots]
        client.send("WS_SpellSlotMapping", {"spell_count": len(rows), "spell_array": rows})
    if player.client_data.biography:
        client.send("WS_BioUpdate", {"biography": player.client_data.biography})
