"""Acts of fights: to attack, to die, to come back, and to take what the dead have."""

from __future__ import annotations

from emu.client.world import WorldClientCore
from emu.net.client.world_connection import ClientWorldConnection
from tests.simulation.act import Act, approach, choose
from tests.simulation.acts_of_things import loot
from tests.simulation.content import BEAR
from tests.simulation.people import ClientProgram, Person

PATIENCE = 15
"""Seconds for which a person fights."""


async def _fight(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    """Strike a creature for a while, and loot it if it dies."""
    seen = client.core.surroundings
    if seen is None:
        return
    creatures = sorted({seen.name(index) for index in seen if " wolf of " in seen.name(index)})
    if creatures:
        await _strike(person, client, person.chance.choice(creatures))


async def _slay(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    """Let a creature die, as a game master does."""
    seen = client.core.surroundings
    if seen is None:
        return
    creatures = sorted({seen.name(index) for index in seen if " wolf of " in seen.name(index)})
    if not creatures:
        return
    name = person.chance.choice(creatures)
    index = await choose(client, name)
    if index is None:
        return
    person.fighting = (name, index)
    client.command("kill")
    await client.pause(1.0)
    person.fighting = None
    for _ in range(person.chance.choice((1, 2))):
        await loot(client, name)


async def _provoke(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    """Strike a creature that is much too strong."""
    await _strike(person, client, BEAR)


async def _strike(person: Person, client: ClientWorldConnection, name: str) -> None:
    index = await choose(client, name)
    if index is None:
        return
    person.fighting = (name, index)
    client.command("attack")
    for _ in range(PATIENCE):
        await client.pause(1.0)
        if person.fighting is None or person.is_dead:
            break
    client.command("autoattack 0")
    if person.fighting is None:
        await loot(client, name)
    person.fighting = None


async def _revive(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    for _ in range(person.chance.choice((1, 2))):
        client.command("revive")
    person.is_dead = False
    await client.pause(4.0)


async def _duel(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    """Challenge somebody, who accepts mostly, and strike each other for a while."""
    other = person.other()
    if other is None:
        return
    index = await approach(client, other.name)
    program = other.program
    if index is None or program is None or not program.stands or program.connection is None:
        return
    client.act(lambda core: core.target(index))
    await client.pause(0.3)
    client.command("duel")
    await client.pause(0.5)
    word = "accept_duel" if person.chance.random() < 0.8 else "decline_duel"
    if program.stands:
        program.connection.command(word)
    await client.pause(4.0)
    client.command("attack")
    await client.pause(8.0 * person.chance.random())
    client.command("autoattack 0")
    if person.chance.random() < 0.5:
        client.command("surrender")


async def _rest(_person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    client.act(WorldClientCore.sit)
    await client.pause(5.0)
    client.act(WorldClientCore.stand)


ACTS = (
    Act("fight", 12, _fight),
    Act("slay", 6, _slay, lambda person: person.is_master),
    Act("provoke", 4, _provoke),
    Act("revive", 40, _revive, lambda person: person.is_dead),
    Act("duel", 4, _duel),
    Act("rest", 2, _rest),
)
