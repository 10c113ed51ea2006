"""How a player leaves: camp and quit, a link that is gone, another zone, being sent away.

Whoever leaves is saved first. A player whose client is gone without a word stays link-dead for a
while, seen as such by the others (docs/protocol/world/leaving.md#link-death). Leaving is made of
steps: one that raises is reported, the others still run, and at the end the player is out of the
world whatever has failed.
"""

from __future__ import annotations

from typing import Final

from emu.errors import CommandError, StoreError
from emu.model import EntryOrigin
from emu.times import Monotonic
from emu.world.actors.client import send_text
from emu.world.actors.player import IN_ZONE, Player, PlayerState
from emu.world.actors.spawn import Destination
from emu.world.entry.saver import SavedKind
from emu.world.entry.saving import KEEP, SAVE, save, store
from emu.world.events import PlayerLeft
from emu.world.world import World
from emu.world.zones.zone import Zone

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
    if player.state not in IN_ZONE:
        remove(world, player, reason, now)
        return
    attempt = world.faults.attempt
    if not attempt(
        "setting the time of link death", player,
        world.set_deadline, player, LINK_DEAD, world.rules.link_dead, now,
    ):  # fmt: skip
        remove(world, player, reason, now)
        return
    player.state = PlayerState.LINK_DEAD
    attempt("closing a player's view", player, close_eyes, player, now)
    world.deadlines.clear(player, CAMP)
    attempt("showing link death", player, _show_link_dead, player)
    save_surely(world, player)
    attempt("telling of link death", player, world.presence.lost_link, player.id)
    world.notifications.status_changed.publish()
    attempt("reporting", player, _report_left, world, player, f"link-dead: {reason}")


def _stop_camping(player: Player) -> None:
    player.spawn.set_word("camping", on=False)


def _show_link_dead(player: Player) -> None:
    _stop_camping(player)
    player.spawn.set_word("linkdead", on=True)


def leave(world: World, player: Player, reason: str, now: Monotonic) -> None:
    """Take a player out of the world and end its session in order."""
    client = player.client
    remove(world, player, reason, now)
    world.faults.attempt("closing a session", player, client.close)


def remove(world: World, player: Player, reason: str, now: Monotonic) -> None:
    """Take a player out of the world; its session is somebody else's business."""
    if player.state is PlayerState.GONE:
        return
    save_surely(world, player)
    _take_out(world, player, reason, now)


def save_surely(world: World, player: Player) -> None:
    """Save a player; when that raises, all it has is saved at once, else with the next save.

    What an attempt that failed has stored is not known.
    """
    for task in ("saving a player", "saving a player again"):
        if world.faults.attempt(task, player, save, world, player):
            return
        player.unsaved.update(SavedKind)


def _take_out(world: World, player: Player, reason: str, now: Monotonic) -> None:
    """Take out a player that is stored; every step is made, whatever the ones before came to."""
    attempt, zone = world.faults.attempt, player.zone
    player.state = PlayerState.GONE
    attempt("closing a player's view", player, close_eyes, player, now)
    attempt("taking a spawn out of its zone", player, zone.remove, player.spawn, now)
    attempt("forgetting deadlines", player, world.deadlines.forget, player, DEADLINES)
    attempt("taking a player out of the list", player, world.players.remove, player)
    attempt("counting who is left in a zone", player, _count_left, world, zone, now)
    world.notifications.out_of_zone.publish_twice(player)
    world.notifications.left.publish_twice(player)
    attempt("telling other processes of leaving", player, world.presence.left, player.id)
    _make_sure(world, player, zone)
    world.notifications.status_changed.publish()
    attempt("reporting", player, _report_left, world, player, reason)


def _count_left(world: World, zone: Zone, now: Monotonic) -> None:
    world.zones.left(zone, world.players.count_in(zone), now)
    world.list_zone(zone)


def _make_sure(world: World, player: Player, zone: Zone) -> None:
    """Look for what a step that failed has left, and remove it without telling anybody."""
    player.viewer = None
    world.players.discard(player)
    if zone.holds(player.spawn):
        world.faults.attempt("purging a spawn", player, zone.purge, player.spawn)
    if world.groups.of(player.id) is not None:
        world.faults.attempt("purging a group", player, world.groups.forget, player.id)
    world.faults.attempt("purging the presence", player, world.presence.forget, player.id)
    world.faults.attempt("purging deadlines", player, world.deadlines.forget, player, DEADLINES)


def _report_left(world: World, player: Player, reason: str) -> None:
    world.report(PlayerLeft(player.name, zone_name(world, player), reason))


async def give_up(world: World, player: Player) -> None:
    """Take out a player who comes in at another process, and store it before that one reads it.

    Raises `StoreError` when it is not stored; it is out of the world all the same.
    """
    to = player.destination or Destination(player.zone.zone_id, player.position)
    leave(world, player, "its player comes in at another process", world.clock.now())
    await store(world, player, to)  # waits until what `leave` saves is there as well


async def change_zone(world: World, player: Player, to: Destination) -> None:
    """Send a player to another zone, or another place by way of loading it anew.

    A zone that another process serves reads the player from the store, so it is out of this one
    before its client is told. Raises `NoSuchZone`, `StoreError`, `CommandError` for a player
    that is on its way, and `LimitExceeded` when too many keys are outstanding.
    """
    if player.is_travelling:
        raise CommandError(f"{player.name} is on its way already")
    player.is_travelling = True
    try:
        await _change_zone(world, player, to)
    finally:
        player.is_travelling = False


async def _change_zone(world: World, player: Player, to: Destination) -> None:
    definition = world.zones.definition(to.zone_id)
    there = Destination(to.zone_id, to.position or definition.safe)
    address = world.zone_servers.elsewhere(to.zone_id)
    account_id, client = player.character.account_id, player.client
    entry = EntryOrigin.ZONE_HIDDEN if player.spawn.hidden else EntryOrigin.ZONE
    rank = player.character.admin_status
    key = await world.handoffs.issue(account_id, player.id, player.name, rank, entry)
    if address is not None:
        await _store_there(world, player, there)
    if player.state not in IN_ZONE or player.client is not client:  # it left or came anew meanwhile
        return
    player.zone_key = key
    now = world.clock.now()
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
        save(world, player)  # what could not be stored says that it has gone
        raise


def _set_out(world: World, player: Player, to: Destination, now: Monotonic) -> None:
    """Take a player out of its zone until its client comes back into the other one.

    A client that does not come back leaves when `ZONING` is due, whatever has failed here.
    """
    attempt, zone = world.faults.attempt, player.zone
    world.deadlines.forget(player, DEADLINES)
    world.set_deadline(player, ZONING, ZONING_TIME, now)
    player.destination = to
    player.state = PlayerState.ZONING
    attempt("closing a player's view", player, close_eyes, player, now)
    attempt("taking a spawn out of its zone", player, zone.remove, player.spawn, now)
    if zone.holds(player.spawn):
        player.viewer = None
        attempt("purging a spawn", player, zone.purge, player.spawn)
    world.notifications.out_of_zone.publish_twice(player)
    attempt("showing that nobody camps", player, _stop_camping, player)
    save_surely(world, player)
    attempt("telling of a change of zones", player, world.presence.lost_link, player.id)


def ready_to_zone(world: World, player: Player, _body: bytes, now: Monotonic) -> None:
    """End the session of a client that goes to connect again, here or to another process."""
    if player.state in (PlayerState.ZONING, PlayerState.GONE):
        player.client.close()
        return
    world.refused(player, "ready to zone without reason")
    leave(world, player, "ready to zone without reason", now)


def close_eyes(player: Player, now: Monotonic) -> None:
    """Stop showing the zone to a player's client."""
    viewer, player.viewer = player.viewer, None
    if viewer is not None:
        player.zone.leave(viewer, now)


def zone_name(world: World, player: Player) -> str:
    """Return what people call the zone a player is in."""
    definition = world.zones.table.get(player.zone.zone_id)
    return definition.description if definition is not None else f"zone {player.zone.zone_id}"
