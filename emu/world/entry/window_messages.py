"""Initial messages of clients above 561 that let their windows open: advancements, traits, pet.

Nothing stands in them, because the subjects do not exist yet. The bytes that are not zero are those
that EQ2Emulator was recorded to send (docs/protocol/world/newer.md#advancements).
"""

from __future__ import annotations

from typing import Any, Final

from emu.dialects import Dialect
from emu.dialects.dialect import wire_texts
from emu.errors import UnknownOpcode, UnknownStruct
from emu.structs.packed import pack
from emu.world.actors.client import PlayerClient
from emu.world.actors.player import Player
from emu.world.entry.advancements import read_advancements
from emu.world.visibility.fields import name_fields
from emu.world.visibility.viewer import OWN_INDEX

ADVENTURES: Final = "WS_AdventureList"
PET: Final = "WS_CharacterPet"
TITLE: Final = "WS_UpdateTitle"
NO_PET: Final = "No Pet"
NO_SPAWN: Final = 0xFFFFFFFF
PET_TAIL: Final = bytes(4)
"""The bytes behind the packed struct (recorded)."""
SECTION: Final = "Attributes"
TRADITIONS, ABILITIES, FOCUS_EFFECTS = 2, 9, 38
"""Empty rows of TraitsList (recorded)."""


def tab_fields() -> dict[str, Any]:
    """Return the tabs of alternate advancements in ZoneInfo."""
    tabs = read_advancements().tabs
    rows = [{"tab_index": place, "tab_name": name} for place, name in enumerate(tabs)]
    return {"tab_count": len(rows), "tab_array": rows}


def send_advancements(player: Player) -> None:
    """Send the trees of alternate advancements; each is empty."""
    client = player.client
    table, class_ = read_advancements(), player.character.class_
    # The same bytes for all characters of a class.
    key = ADVENTURES, class_
    made = client.dialect.made
    if key not in made:
        trees = [
            {
                "tab_title": table.title(tree, class_),
                "max_aa": tree.most,
                "class_points_spent": tree.number,
            }
            for tree in table.trees(client.version)
        ]
        templates = [
            {"slot_id": one.id, "slot_name": one.name, "slot_active": int(one.active)}
            for one in table.templates(client.version)
        ]
        fields = {
            "num_aa_trees": len(trees), "aa_array": trees,
            "num_templates": len(templates), "template_array": templates,
        }  # fmt: skip
        made[key] = _encoded(client.dialect, ADVENTURES, fields)
    if made[key]:
        client.send_bytes("OP_AdventureList", made[key])


def send_traits(client: PlayerClient) -> None:
    """Send the rows of traits; each is empty."""
    sections = [
        {
            "section_name": SECTION,
            "num_traditions": TRADITIONS,
            "tradition_array": [{}] * TRADITIONS,
        }
    ]
    _send(
        client,
        "WS_TraitsList",
        {
            "num_sections": len(sections),
            "sections_array": sections,
            "num_abilities": ABILITIES,
            "ability_array": [{}] * ABILITIES,
            "num_focuseffects": FOCUS_EFFECTS,
            "focus_array": [{}] * FOCUS_EFFECTS,
        },
    )


def send_no_pet(client: PlayerClient) -> None:
    """Send that the character has no pet."""
    made = client.dialect.made
    if PET not in made:
        plain = _encoded(client.dialect, PET, {"spawn_id2": NO_SPAWN, "no_pet": NO_PET})
        # The client's baseline is zeros, so the first sheet of a pet is its own delta.
        made[PET] = pack(plain, client.version) + PET_TAIL if plain else b""
    if made[PET]:
        client.send_bytes("OP_CharacterPet", made[PET])


def send_own_title(player: Player) -> None:
    """Send a client the names of its own spawn, as it is sent changed ones of others."""
    names = name_fields(player.spawn)
    fields = {"player_id": OWN_INDEX, "player_name": names.pop("name"), "is_player": 1, **names}
    _send(player.client, TITLE, fields)


def send_no_map(client: PlayerClient) -> None:
    """Send that the zone has no map."""
    _send(client, "WS_MapFogDataInit", {})


def _send(client: PlayerClient, struct: str, fields: dict[str, Any]) -> None:
    """Send a struct to a client that has it: older ones have no such window."""
    try:
        number, payload = client.dialect.message(struct, wire_texts(fields))
    except (UnknownOpcode, UnknownStruct):
        return
    client.link.send(number, payload)


def _encoded(dialect: Dialect, struct: str, fields: dict[str, Any]) -> bytes:
    """Return the bytes of a struct; none for a version that does not have it."""
    try:
        return dialect.encode_known(struct, fields)
    except UnknownStruct:
        return b""
