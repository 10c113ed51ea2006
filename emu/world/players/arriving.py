"""How a character comes into the world: loaded, taken over, back from zoning, or sent on.

Source: docs/protocol/world/entering.md.
"""

from __future__ import annotations

from dataclasses import replace

from emu.errors import EmuError
from emu.model import WorldCharacter
from emu.times import UNKNOWN, Monotonic
from emu.world.knowledge import Knowledge
from emu.world.places import Atlas
from emu.world.players import entering, leaving, saving
from emu.world.players.client import WorldClient
from emu.world.players.looks import spawn_looks
from emu.world.players.player import Player, PlayerState
from emu.world.players.text import ERROR_COLOR, send_text
from emu.world.spawns import Destination, Position, Spawn, SpawnKind
from emu.world.world import World
from emu.world.zone.directory import NoSuchZone


def enter(
    world: World, character: WorldCharacter, client: WorldClient, now: Monotonic, *, key: int = 0
) -> Player:
    """Let a client in that has shown its key; returns the player it plays now.

    A character that is in the world already is taken over: its earlier session is closed first.
    Raises `UnknownStruct` for a client whose version cannot be served, and `NoSuchZone`.
    """
    player = world.players.get(character.id)
    if player is not None and player.state is PlayerState.ZONING:
        _arrive(world, player, client, now, is_new=key != player.zone_key)
        return player
    if player is not None and player.client.version == client.version:
        _take_over(world, player, client, now)
        return player
    if player is not None:
        leaving.leave(world, player, "another client plays this character", now)
    player = _load(world, character, client, now)
    world.players.add(player)
    world.set_deadline(player, saving.SAVE, world.rules.save_interval, now)
    entering.begin(world, player, first=True)
    return player


def _load(world: World, character: WorldCharacter, client: WorldClient, now: Monotonic) -> Player:
    is_new = character.last_played == UNKNOWN and character.id not in world.unsaved
    character = saving.latest(world, character)
    if is_new:
        character = beginner(world.knowledge, character)
    zone_id, place = at = home(world.zones.table, character)
    if not world.zone_servers.serves(zone_id):
        zone_id, place = _served_here(world, character)
    zone = world.zones.with_room(zone_id, now, world.players.count_in)
    spawn = Spawn(
        world.next_spawn_id(),
        SpawnKind.PLAYER,
        character.name,
        place,
        level=character.level,
        looks=spawn_looks(character),
    )
    player = Player(character, spawn, zone, client, movement=world.rules.movement, now=now)
    if zone_id != at[0]:
        player.destination = Destination(*at)
    player.titles.show(spawn)
    if is_new:
        saving.changed(world, player, saving.Kept.TITLES, now)
        saving.changed(world, player, saving.Kept.HOTKEYS, now)
    return player


def _served_here(world: World, character: WorldCharacter) -> tuple[int, Position]:
    """Return where somebody waits who is on the way to a zone that another process serves."""
    places = world.zones.table
    start = places.get(places.start_of(character).zone_id)
    for zone in (start, *places):
        if zone is not None and world.zone_servers.serves(zone.id):
            return zone.id, zone.safe
    raise NoSuchZone(character.zone_id)


def go_on(world: World, player: Player, now: Monotonic) -> None:
    """Send somebody on who came in at the wrong process."""
    if player.destination is not None:
        world.start(_sent_on(world, player, player.destination, now))


async def _sent_on(world: World, player: Player, to: Destination, now: Monotonic) -> None:
    try:
        await leaving.change_zone(world, player, to, now)
    except EmuError as error:
        send_text(player.client, f"You cannot be where you were: {error}", ERROR_COLOR)
        text = f"not sent on to its zone: {error}"
        world.refused(player, text)


def _take_over(world: World, player: Player, client: WorldClient, now: Monotonic) -> None:
    """Let a new session play a character that is still in the world."""
    leaving.close_eyes(player, now)
    player.client.close()
    player.connect(client)
    world.deadlines.forget(player, (leaving.CAMP, leaving.LINK_DEAD))
    for word in ("linkdead", "camping"):
        player.spawn.set_word(word, on=False)
    player.pace.moved_by_server(now)
    entering.begin(world, player, first=True)


def _arrive(
    world: World, player: Player, client: WorldClient, now: Monotonic, *, is_new: bool
) -> None:
    """Let a player into the zone it was sent to; `is_new`: with a client from the login."""
    assert player.destination is not None  # noqa: S101  # what zoning means
    zone_id, place = player.destination
    before = player.zone
    player.zone = world.zones.with_room(zone_id, now, world.players.count_in)
    world.zones.left(before, world.players.count_in(before), now)
    player.spawn.move(place or world.zones.definition(zone_id).safe)
    player.destination = None
    player.client.close()
    player.connect(client)
    player.pace.moved_by_server(now)
    world.deadlines.clear(player, leaving.ZONING)
    world.set_deadline(player, saving.SAVE, world.rules.save_interval, now)
    entering.begin(world, player, first=is_new)


def beginner(knowledge: Knowledge, character: WorldCharacter) -> WorldCharacter:
    """Return a character that was never played with what everybody begins with."""
    begins = knowledge.beginners
    return replace(
        character,
        titles=(*character.titles, *begins.titles(character)),
        hotkeys=character.hotkeys or tuple(begins.hotkeys(character)),
    )


def home(places: Atlas, character: WorldCharacter) -> tuple[int, Position]:
    """Return zone and place where a character comes in.

    One whose zone was taken out of the world begins anew. Raises `NoSuchZone` when there is not
    even that.
    """
    zone = places.get(character.zone_id)
    if zone is not None:
        return zone.id, Position(*character.place) if character.place else zone.safe
    start = places.start_of(character)
    zone = places.get(start.zone_id)
    if zone is None:
        raise NoSuchZone(character.zone_id)
    return zone.id, start.place or zone.safe
