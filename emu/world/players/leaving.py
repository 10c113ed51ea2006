"""How a player leaves: camp and quit, a link that is gone, another zone, being sent away.

Whoever leaves is saved first. A player whose client is gone without a word stays link-dead for a
while, seen as such by the others (docs/protocol/world/leaving.md#link-death).
"""

from __future__ import annotations

from typing import Final

from emu.errors import CommandError, StoreError
from emu.times import Monotonic
from emu.world.events import PlayerLeft
from emu.world.players.player import IN_ZONE, Player, PlayerState
from emu.world.players.saving import KEEP, SAVE, save, store
from emu.world.players.text import send_text
from emu.world.spawns import Destination
from emu.world.world import World

CAMP: Final = "camp"
LINK_DEAD: Final = "link-dead"
ZONING: Final = "zoning"
DEADLINES: Final = (CAMP, LINK_DEAD, ZONING, KEEP, SAVE)
ZONING_TIME: Final = 60.0
"""Seconds for a client to connect again: as long as its key works."""
LONGEST_CAMP: Final = 255


def camp_requested(world: World, player: Player, body: bytes, now: Monotonic) -> None:
    """Begin to camp, or end at once when a client quits to the desktop."""
    fields = player.client.dialect.layout("WS_RequestCamp").decode_short(body)
    if player.state not in IN_ZONE or world.deadlines.get(player, CAMP) is not None:
        return
    if fields["quit"] and fields["camp_desktop"]:
        leave(world, player, "quit", now)
        return
    is_master = player.character.admin_status >= world.rules.game_master
    seconds = world.rules.camp_game_master if is_master else world.rules.camp
    player.client.send(
        "WS_Camp",
        {"seconds": min(LONGEST_CAMP, round(seconds)), "camp_desktop": fields["camp_desktop"]},
    )
    player.spawn.set_word("camping", on=True)
    world.set_deadline(player, CAMP, seconds, now)


def camp_aborted(world: World, player: Player, _body: bytes, _now: float) -> None:
    """Stop camping: the player stood up or moved on."""
    if world.deadlines.clear(player, CAMP):
        player.spawn.set_word("camping", on=False)
        player.client.send_bytes("OP_CampAbortedMsg")


def link_lost(world: World, player: Player, reason: str, now: Monotonic) -> None:
    """Keep a player whose session ended without a word."""
    if player.state is PlayerState.GONE:
        world.deadlines.clear(player, ZONING)
        return
    if player.state in (PlayerState.LINK_DEAD, PlayerState.ZONING):
        return
    close_eyes(player, now)
    if player.state not in IN_ZONE:
        remove(world, player, reason, now)
        return
    player.state = PlayerState.LINK_DEAD
    if world.deadlines.clear(player, CAMP):
        player.spawn.set_word("camping", on=False)
    player.spawn.set_word("linkdead", on=True)
    world.set_deadline(player, LINK_DEAD, world.rules.link_dead, now)
    save(world, player)
    world.presence.lost_link(player.id)
    world.changed()
    world.report(PlayerLeft(player.name, zone_name(world, player), f"link-dead: {reason}"))


def leave(world: World, player: Player, reason: str, now: Monotonic) -> None:
    """Take a player out of the world and end its session in order."""
    client = player.client
    remove(world, player, reason, now)
    client.close()


def remove(world: World, player: Player, reason: str, now: Monotonic) -> None:
    """Take a player out of the world; its session is somebody else's business."""
    if player.state is PlayerState.GONE:
        return
    save(world, player)
    _take_out(world, player, reason, now)


def _take_out(world: World, player: Player, reason: str, now: Monotonic) -> None:
    """Take out a player that is stored."""
    close_eyes(player, now)
    player.state = PlayerState.GONE
    zone = player.zone
    zone.remove(player.spawn, now)
    world.deadlines.forget(player, DEADLINES)
    world.players.remove(player)
    world.zones.left(zone, world.players.count_in(zone), now)
    for told in (*world.on_out_of_zone, *world.on_left):
        told(player)
    world.presence.left(player.id)
    world.changed()
    world.report(PlayerLeft(player.name, zone_name(world, player), reason))


async def change_zone(world: World, player: Player, to: Destination, now: Monotonic) -> None:
    """Send a player to another zone, or another place by way of loading it anew.

    A zone that another process serves reads the player from the store, so it is out of this one
    before its client is told. Raises `NoSuchZone`, `StoreError`, `CommandError` for a player
    that is on its way, and `LimitExceeded` when too many keys are outstanding.
    """
    if player.is_travelling:
        raise CommandError(f"{player.name} is on its way already")
    player.is_travelling = True
    try:
        await _change_zone(world, player, to, now)
    finally:
        player.is_travelling = False


async def _change_zone(world: World, player: Player, to: Destination, now: Monotonic) -> None:
    definition = world.zones.definition(to.zone_id)
    there = Destination(to.zone_id, to.position or definition.safe)
    address = world.zone_servers.elsewhere(to.zone_id)
    account_id = player.character.account_id
    key = await world.handoffs.issue(account_id, player.id, player.name)
    if address is not None:
        await _store_there(world, player, there)
    if player.state not in IN_ZONE:  # it left meanwhile
        return
    player.zone_key = key
    if address is None:
        _set_out(world, player, there, now)
    else:
        _take_out(world, player, f"went to {definition.description}, served elsewhere", now)
    world.set_deadline(player, ZONING, ZONING_TIME, now)
    host, port = address or world.address()
    send_text(player.client, f"Zoning to {definition.description}...")
    player.client.send(
        "WS_ZoneChangeMsg",
        {"account_id": account_id, "key": key, "ip_address": host, "port": port},
    )
    player.client.send("WS_CancelMoveObjectMode")


async def _store_there(world: World, player: Player, there: Destination) -> None:
    """Store a player where it goes; whatever else is stored of it meanwhile says the same."""
    before, player.destination = player.destination, there
    try:
        await store(world, player, there)
    except StoreError:
        player.destination = before
        raise


def _set_out(world: World, player: Player, to: Destination, now: Monotonic) -> None:
    """Take a player out of its zone until its client comes back into the other one."""
    close_eyes(player, now)
    player.zone.remove(player.spawn, now)
    for told in world.on_out_of_zone:
        told(player)
    player.spawn.set_word("camping", on=False)
    player.destination = to
    player.state = PlayerState.ZONING
    world.deadlines.forget(player, DEADLINES)
    save(world, player)
    world.presence.lost_link(player.id)


def ready_to_zone(world: World, player: Player, _body: bytes, now: Monotonic) -> None:
    """End the session of a client that goes to connect again, here or to another process."""
    if player.state in (PlayerState.ZONING, PlayerState.GONE):
        player.client.close()
        return
    world.refused(player, "ready to zone without reason")
    leave(world, player, "ready to zone without reason", now)


def close_eyes(player: Player, now: Monotonic) -> None:
    """Stop showing the zone to a player's client."""
    if player.viewer is not None:
        player.zone.leave(player.viewer, now)
        player.viewer = None


def zone_name(world: World, player: Player) -> str:
    """Return what people call the zone a player is in."""
    return world.zones.definition(player.zone.zone_id).description
