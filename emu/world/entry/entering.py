"""From the world key to standing in the zone: loaded, taken over, or back from zoning.

The order is the one that EQ2Emulator was recorded to send (docs/protocol/world/entering.md#order).
A client may skip steps: whoever has loaded its entities without asking for them is given them
first, and the signal of the avatar brings everything that is still missing. Bodies of the messages
that say a step are said to hold something; nobody needs to read it.

Source: docs/protocol/world/entering.md.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

from emu.errors import EmuError
from emu.model import SEES_HIDDEN, WorldCharacter
from emu.times import UNKNOWN, Monotonic, unix_seconds
from emu.usable import usable_world_character
from emu.world.actors.appearance import spawn_looks
from emu.world.actors.client import ERROR_COLOR, PlayerClient, send_text, sheet_fields
from emu.world.actors.player import Player, PlayerState
from emu.world.actors.spawn import Destination, Spawn, SpawnKind
from emu.world.clock import game_time
from emu.world.content.atlas import Atlas
from emu.world.content.knowledge import Knowledge
from emu.world.entry import initial_messages, leaving, saving, standing
from emu.world.events import PlayerEntered, ValueReplaced
from emu.world.visibility.viewer import OWN_INDEX, Viewer
from emu.world.world import World
from emu.world.zones.directory import NoSuchZone
from emu.world_stream.movement import Position

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
        initial_messages.send_names(client, world.knowledge)
    initial_messages.send_login_reply(client)
    player.hotbars.send(client)
    if first and world.motd:
        send_text(client, world.motd)
    initial_messages.send_journals(client, player.name)
    world.give_commands(player)
    initial_messages.send_languages(client, world.knowledge, player.character)
    initial_messages.send_zone(world, player)
    initial_messages.send_relations(player)


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
    initial_messages.send_skills(client, world.knowledge, player.character)
    initial_messages.send_empty_book(client, "OP_UpdateSpellBookMsg")
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
    initial_messages.send_inventory(player.client)
    if not player.is_returning:
        world.notifications.arrived.publish(player, now)
    player.titles.send(player.client)
    initial_messages.send_group_options(player.client)
    initial_messages.send_empty_book(player.client, "OP_UpdateRecipeBookMsg")
    if player.viewer is not None:
        player.zone.ready(player.viewer, now)
    world.notifications.standing.publish(player, now)
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
    moment = world.clock.moment()
    fields = {"unknown": MINUTE_TAIL, "unix_time": unix_seconds(moment), "unknown2": 1.0}
    player.client.send("WS_GameWorldTime", game_time(moment)._asdict() | fields)


def enter(
    world: World,
    character: WorldCharacter,
    client: PlayerClient,
    now: Monotonic,
    *,
    key: int = 0,
    hidden: bool = False,
) -> Player:
    """Let a client in that has shown its key; returns the player it plays now.

    A character that is in the world already is taken over: its earlier session is closed first.
    `character` was loaded just now, and so its rank, name and mute count from now on. With
    `hidden` the character was hidden in the process that it comes from.
    Raises `UnknownStruct` for a client whose version cannot be served, and `NoSuchZone`. Whatever
    is raised, the character is then out of the world, or as it was before.
    """
    try:
        return _enter(world, character, client, now, key, hidden=hidden)
    except BaseException:
        half = world.players.get(character.id)
        if half is not None and half.client is client:
            leaving.remove(world, half, "it could not come in", now)
        raise


def _enter(
    world: World,
    character: WorldCharacter,
    client: PlayerClient,
    now: Monotonic,
    key: int,
    *,
    hidden: bool,
) -> Player:
    player = world.players.get(character.id)
    if player is not None:
        standing.refresh(world, player, character)
    if player is not None and player.client.version == client.version:
        if player.state is PlayerState.ZONING:
            _arrive(world, player, client, now, is_new=key != player.zone_key)
        else:
            _take_over(world, player, client, now)
        return player
    if player is not None:
        hidden = hidden or player.spawn.hidden
        leaving.leave(world, player, "another client plays this character", now)
    player = _load(world, character, client, now)
    player.spawn.hidden = hidden and character.admin_status >= SEES_HIDDEN
    world.players.add(player)
    world.list_zone(player.zone)
    world.set_deadline(player, saving.SAVE, world.rules.save_interval, now)
    begin(world, player, first=True)
    return player


def _load(world: World, character: WorldCharacter, client: PlayerClient, now: Monotonic) -> Player:
    character = _usable(world, saving.latest(world, character))
    is_new = character.last_played == UNKNOWN
    if is_new:
        character = beginner(world.knowledge, character)
    zone_id, place = at = home(world.zones.table, character)
    if not world.zone_servers.serves(zone_id):
        zone_id, place = _served_here(world, character)
    zone = world.zones.with_room(zone_id, now, world.players.count_seen_in)
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
    player.muted_until = world.pending_mutes.get(character.account_id, character.muted_until)
    if is_new:
        saving.changed(world, player, saving.SavedKind.TITLES, now)
        saving.changed(world, player, saving.SavedKind.HOTKEYS, now)
    return player


def _usable(world: World, character: WorldCharacter) -> WorldCharacter:
    """Return a character without what of it cannot be used; operators are told of that."""
    usable, problems = usable_world_character(character)
    for problem in problems:
        world.report(ValueReplaced(usable.name, str(problem)))
    if world.zones.table.get(usable.zone_id) is None:
        text = f"its zone ({usable.zone_id}) is not in this world; it begins anew"
        world.report(ValueReplaced(usable.name, text))
    return usable


def _served_here(world: World, character: WorldCharacter) -> tuple[int, Position]:
    """Return where somebody waits who is on the way to a zone that another process serves."""
    places = world.zones.table
    start = places.get(places.start_of(character).zone_id)
    for zone in (start, *places):
        if zone is not None and world.zone_servers.serves(zone.id):
            return zone.id, zone.safe
    raise NoSuchZone(character.zone_id)


def go_on(world: World, player: Player) -> None:
    """Send somebody on who came in at the wrong process."""
    if player.destination is not None:
        world.start(_sent_on(world, player, player.destination))


async def _sent_on(world: World, player: Player, to: Destination) -> None:
    try:
        await leaving.change_zone(world, player, to)
    except EmuError as error:
        send_text(player.client, f"You cannot be where you were: {error}", ERROR_COLOR)
        text = f"not sent on to its zone: {error}"
        world.refused(player, text)


def _take_over(world: World, player: Player, client: PlayerClient, now: Monotonic) -> None:
    """Let a new session play a character that is still in the world."""
    leaving.close_eyes(player, now)
    _connect(player, client)
    world.deadlines.forget(player, (leaving.CAMP, leaving.LINK_DEAD))
    for word in ("linkdead", "camping"):
        player.spawn.set_word(word, on=False)
    player.pace.moved_by_server(now)
    begin(world, player, first=True)


def _connect(player: Player, client: PlayerClient) -> None:
    """Give a player to another session, and end the one before."""
    before = player.client
    player.connect(client)
    before.close()  # not earlier: the end of the session that plays it would make it link-dead


def _arrive(
    world: World, player: Player, client: PlayerClient, now: Monotonic, *, is_new: bool
) -> None:
    """Let a player into the zone it was sent to; `is_new`: with a client from the login."""
    assert player.destination is not None  # noqa: S101  # what zoning means
    zone_id, place = player.destination
    before = player.zone
    player.zone = world.zones.with_room(zone_id, now, world.players.count_seen_in)
    world.list_zone(before)
    world.zones.left(before, world.players.count_in(before), now)
    player.spawn.move(place or world.zones.definition(zone_id).safe)
    player.destination = None
    world.list_zone(player.zone)
    _connect(player, client)
    player.pace.moved_by_server(now)
    world.deadlines.clear(player, leaving.ZONING)
    world.set_deadline(player, saving.SAVE, world.rules.save_interval, now)
    begin(world, player, first=is_new)


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
