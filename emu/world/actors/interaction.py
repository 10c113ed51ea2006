"""A player uses something: what it offers, and what is done with it.

Clients up to 561 ask for the verbs of a spawn at the second mouse button; a click or the choice of
a verb sends the verb's own text, newer ones the command, and some a spawn alone, which means the
first verb. Ways (doors, signs, bells) bring whoever uses them elsewhere.
Source: docs/protocol/world/spawns.md#verbs.
"""

from __future__ import annotations

from typing import Final

from emu.errors import EmuError, MalformedMessage
from emu.times import Monotonic
from emu.world.actors import moving
from emu.world.actors.client import send_text
from emu.world.actors.player import Player
from emu.world.actors.spawn import Destination, Spawn, SpawnKind, Verb
from emu.world.entry import leaving
from emu.world.world import World
from emu.world.zones.directory import NoSuchZone

MOST_VERBS: Final = 0xFF
SPAWN_ONLY: Final = 4
"""Bytes of a message that names a spawn and no verb."""


def verbs_requested(world: World, player: Player, body: bytes, _now: Monotonic) -> None:
    """Tell a client what can be done with a spawn. Raises `MalformedMessage`."""
    index = player.client.dialect.layout("WS_EntityVerbsRequest").decode(body)["spawn_id"]
    spawn = _spawn_at(world, player, index)
    if spawn is None:
        return
    verbs = [
        {"command": verb.command, "distance": verb.distance, "display_text": verb.name}
        for verb in spawn.verbs[:MOST_VERBS]
    ]
    player.client.send(
        "WS_EntityVerbsResponse",
        {"spawn_id": index, "num_verbs": len(verbs), "verbs_array": verbs},
    )


def verb_chosen(world: World, player: Player, body: bytes, now: Monotonic) -> None:
    """Do what a client chose. Raises `MalformedMessage`."""
    index, text = _chosen(player, body)
    spawn = _spawn_at(world, player, index)
    if spawn is None:
        return
    verb = _verb(spawn, text)
    if verb is None:
        world.count("verb unknown")
    elif verb.distance and player.position.distance_to(spawn.position) > verb.distance:
        send_text(player.client, "You are too far away.")
    else:
        player.target = spawn
        _use(world, player, spawn, verb, now)


def travel(world: World, player: Player, to: Destination, now: Monotonic) -> None:
    """Bring a player where a way leads; one that leads nowhere says so."""
    try:
        definition = world.zones.definition(to.zone_id)
    except NoSuchZone:
        world.count("way leads nowhere")
        send_text(player.client, "This way is closed.")
        return
    if to.zone_id == player.zone.zone_id:
        moving.teleport(player, to.position or definition.safe, now)
    else:
        world.start(_set_out(world, player, to))


async def _set_out(world: World, player: Player, to: Destination) -> None:
    try:
        await leaving.change_zone(world, player, to)
    except EmuError as error:
        send_text(player.client, "This way is crowded. Try again in a moment.")
        world.refused(player, f"way: {error}")


def _use(world: World, player: Player, spawn: Spawn, verb: Verb, now: Monotonic) -> None:
    if world.do_command(player, verb.command, now):
        return
    if spawn.destination is not None:
        travel(world, player, spawn.destination, now)
    elif spawn.kind is SpawnKind.SIGN and spawn.footer is not None and spawn.footer.description:
        send_text(player.client, spawn.footer.description)
    else:
        world.count("verb does nothing")


def _chosen(player: Player, body: bytes) -> tuple[int, str]:
    """Return the index of a spawn and what is to be done with it, empty for the usual."""
    if len(body) == SPAWN_ONLY:
        return int.from_bytes(body, "little"), ""
    fields = player.client.dialect.layout("WS_EntityVerbsVerb").decode(body)
    return fields["spawn_id"], str(fields["command"])


def _spawn_at(world: World, player: Player, index: int) -> Spawn | None:
    """Return the spawn that a client knows by an index; what it never saw is counted."""
    if index > 0xFFFF:
        raise MalformedMessage("index of a spawn out of range")
    spawn = player.viewer.interest.spawn_at(index) if player.viewer is not None else None
    if spawn is None:
        world.count("spawn unknown")
    return spawn


def _verb(spawn: Spawn, text: str) -> Verb | None:
    """Return the verb that a client means by its text or its command."""
    if not text:
        return spawn.verbs[0] if spawn.verbs else None
    wanted = _plain(text)
    for verb in spawn.verbs:
        if wanted in (_plain(verb.name), _plain(verb.command)):
            return verb
    return None


def _plain(text: str) -> str:
    return text.strip().casefold().replace(" ", "_")
