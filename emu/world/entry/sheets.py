"""Character sheets: their values, with those of the player's group, and sending changes."""

from __future__ import annotations

from typing import Any, Final

from emu.world.actors.client import sheet_fields
from emu.world.actors.player import Player
from emu.world.world import World

GHOST_SIZE: Final = 0.51
NOBODY: Final = 0xFFFFFFFF


class CharacterSheets:
    """Sends character sheets to the players of one world."""

    def __init__(self, world: World) -> None:
        self._world = world

    def send(self, player: Player) -> None:
        """Send a client the change of its character sheet, or nothing if it is unchanged."""
        # The sheet keeps what the client has, so it is updated even if nothing is sent.
        payload = player.sheet.update(self.fields(player))
        if payload is not None:
            # EQ2Emulator sends this before every sheet, and it carries the speed.
            player.client.send("WS_SetControlGhost", {"spawn_id": NOBODY, "size": GHOST_SIZE})
            player.client.send_bytes("OP_UpdateCharacterSheetMsg", payload)

    def fields(self, player: Player) -> dict[str, Any]:
        """Return the values of a player's sheet."""
        full = hit_points(player.character.level)
        fields = sheet_fields(player.character, health=full, power=full)
        return fields | player.options.sheet_fields() | self._group_fields(player)

    def _group_fields(self, player: Player) -> dict[str, Any]:
        """Return the values about the other members of a player's group."""
        world = self._world
        group = world.groups.of(player.id)
        if group is None:
            return {}
        found = (world.players.get(member) for member in group.members if member != player.id)
        others = [other for other in found if other is not None]
        leader = world.players.get(group.leader)
        return {
            "group_members": [self._member_fields(player, other) for other in others],
            # Without a ghost of the leader, the client is sent no leader.
            "group_leader_id": _index_of(player, leader) if leader is not None else NOBODY,
        }

    def _member_fields(self, player: Player, other: Player) -> dict[str, Any]:
        character = other.character
        full = hit_points(character.level)
        return {
            "zone_status": int(other.zone is player.zone),
            "name": other.name,
            "spawn_id": _index_of(player, other),
            "pet_id": NOBODY,
            "level_current": character.level,
            "level_max": character.level,
            "race_id": character.race,
            "class_id": character.class_,
            "hp_current": full,
            "hp_max": full,
            "power_current": full,
            "power_max": full,
            "zone": other.zone.definition.description,
            # The field is one byte; a higher instance is only shown wrong.
            "instance": min(other.zone.instance, 255),
        }


def _index_of(player: Player, other: Player) -> int:
    # A client names other players by its own index of their ghosts.
    index = player.index_of(other.spawn)
    return NOBODY if index is None else index


def hit_points(level: int) -> int:
    """Return health and power of a level, while there is no fighting: 40 and 20 a level."""
    return 40 + 20 * max(1, level)
