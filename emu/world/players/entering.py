"""From the key to standing in the zone: what a client is sent, and what is waited for.

The order is the one that EQ2Emulator was recorded to send (docs/protocol/world/entering.md#order).
A client may skip steps: whoever has loaded its entities without asking for them is given them
first, and the signal of the avatar brings everything that is still missing. Bodies of the messages
that say a step are said to hold something; nobody needs to read it.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from emu.times import Monotonic
from emu.world.clock import game_time
from emu.world.events import PlayerEntered
from emu.world.ghosts import OWN_INDEX
from emu.world.players import burst, learning
from emu.world.players.player import Player, PlayerState
from emu.world.players.sheet import sheet_fields
from emu.world.players.text import send_text
from emu.world.world import World
from emu.world.zone import Viewer

GHOST_SIZE: Final = 0.51
NOBODY: Final = 0xFFFFFFFF
CONTROL: Final = 255
MINUTE_TAIL: Final = 250
FAR_AWAY: Final = 9999.0


def begin(world: World, player: Player, *, first: bool) -> None:
    """Send what lets a client load its zone; `first`: it comes from the login, not from a zone."""
    player.state = PlayerState.LOADING
    client = player.client
    player.is_returning = not first
    if first:
        learning.send_names(client, world.knowledge)
    burst.send_login_reply(client)
    player.hotbars.send(client)
    if first and world.motd:
        send_text(client, world.motd)
    burst.send_journals(client, player.name)
    world.give_commands(player)
    learning.send_languages(client, world.knowledge, player.character)
    burst.send_zone(world, player)
    burst.send_relations(player)


def zone_loaded(world: World, player: Player, _body: bytes, now: Monotonic) -> None:
    """Show a client what is near it; it has the zone."""
    if player.state is not PlayerState.LOADING:
        return
    player.state = PlayerState.PLACING
    client = player.client
    form = world.form(client.dialect)

    if form is not None:
        player.viewer = player.zone.enter(partial(Viewer, player.spawn, form, client), now)
    far = dict.fromkeys(("unknown", "unknown1", "unknown2"), FAR_AWAY)
    client.send("WS_MoveableObjectPlacementCriteri", far)
    send_time(world, player)
    client.send_bytes("OP_DoneSendingInitialEntitiesMsg")


def entities_loaded(world: World, player: Player, body: bytes, now: Monotonic) -> None:
    """Give a client its own ghost and control of it; it has what is near."""
    if player.state is PlayerState.LOADING:
        zone_loaded(world, player, body, now)
    if player.state is not PlayerState.PLACING:
        return
    player.state = PlayerState.APPEARING
    client = player.client
    if player.viewer is not None:
        player.zone.show_own(player.viewer, now)
    client.send("WS_SetPOVGhostCmd", {"spawn_id": OWN_INDEX})
    control = {"spawn_id": OWN_INDEX, "size": GHOST_SIZE, "unknown2": CONTROL}
    client.send("WS_SetControlGhost", control)
    send_sheet(world, player)
    learning.send_skills(client, world.knowledge, player.character)
    burst.send_empty_book(client, "OP_UpdateSpellBookMsg")
    player.zone.add(player.spawn, now)


def ui_loaded(_world: World, player: Player, _body: bytes, _now: float) -> None:
    """Echo that the interface is loaded: clients up to 561 wait for it.

    Source: docs/protocol/world/entering.md#order.
    """
    player.client.send_bytes("OP_DoneLoadingUIResourcesMsg")


def avatar_ready(world: World, player: Player, body: bytes, now: Monotonic) -> None:
    """Begin to send updates: the client's avatar stands."""
    entities_loaded(world, player, body, now)
    if player.state is not PlayerState.APPEARING:
        return
    player.state = PlayerState.STANDING
    burst.send_inventory(player.client)
    if not player.is_returning:
        for told in world.on_arrival:
            told(player, now)
    player.titles.send(player.client)
    burst.send_group_options(player.client)
    burst.send_empty_book(player.client, "OP_UpdateRecipeBookMsg")
    if player.viewer is not None:
        player.zone.ready(player.viewer, now)
    for told in world.on_stand:
        told(player, now)
    definition = world.zones.definition(player.zone.zone_id)
    if definition.motd:
        send_text(player.client, f"Zone MOTD: {definition.motd}")
    client = player.client
    world.report(
        PlayerEntered(
            player.name, player.character.account_id, client.address, client.version,
            definition.description,
        )
    )  # fmt: skip


def send_sheet(world: World, player: Player) -> None:
    """Bring a client's character sheet up to date; nothing is sent when it is."""
    payload = player.sheet.update(sheet_of(world, player))
    if payload is not None:
        # EQ2Emulator sends this before every sheet, and it carries the speed.
        player.client.send("WS_SetControlGhost", {"spawn_id": NOBODY, "size": GHOST_SIZE})
        player.client.send_bytes("OP_UpdateCharacterSheetMsg", payload)


def sheet_of(world: World, player: Player) -> dict[str, Any]:
    """Return the values of a player's sheet."""
    full = hit_points(player.character.level)
    fields = sheet_fields(player.character, health=full, power=full)
    return fields | _group_fields(world, player)


def _group_fields(world: World, player: Player) -> dict[str, Any]:
    """Return what a sheet says of the others in a player's group."""
    group = world.groups.of(player.id)
    if group is None:
        return {}
    found = (world.players.get(member) for member in group.members if member != player.id)
    others = [other for other in found if other is not None]
    leader = world.players.get(group.leader)
    return {
        "group_members": [_member_fields(world, player, other) for other in others],
        "group_leader_id": _seen_as(player, leader) if leader is not None else NOBODY,
    }


def _member_fields(world: World, player: Player, other: Player) -> dict[str, Any]:
    character = other.character
    full = hit_points(character.level)
    return {
        "zone_status": int(other.zone is player.zone),
        "name": other.name,
        "spawn_id": _seen_as(player, other),
        "pet_id": NOBODY,
        "level_current": character.level,
        "level_max": character.level,
        "race_id": character.race,
        "class_id": character.class_,
        "hp_current": full,
        "hp_max": full,
        "power_current": full,
        "power_max": full,
        "zone": world.zones.definition(other.zone.zone_id).description,
        "instance": min(other.zone.instance, 255),
    }


def _seen_as(player: Player, other: Player) -> int:
    index = player.index_of(other.spawn)
    return NOBODY if index is None else index


def hit_points(level: int) -> int:
    """Return health and power of a level, as far as there is no fighting: 40 and 20 a level."""
    return 40 + 20 * max(1, level)


def send_time(world: World, player: Player) -> None:
    """Tell a client the world's time of day."""
    moment = world.moment()
    fields = {"unknown": MINUTE_TAIL, "unix_time": int(moment), "unknown2": 1.0}
    player.client.send("WS_GameWorldTime", game_time(moment)._asdict() | fields)
