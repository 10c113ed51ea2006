"""Fights: a blow before 20 onlookers, creatures that nobody fights, and a battle of many.

The clock is virtual. What clients are sent is encoded as in sessions: with RC4, and compressed
above 128 bytes. Nothing is decoded.
"""

from __future__ import annotations

from time import process_time

from emu.session.codec import MessageCodec
from emu.session.configuration import Role, SessionConfig
from emu.world.actors.spawn import Spawn
from emu.world.combat.figures import PRIMARY
from tests.support.world.fights import HERE, Fight
from tools.bench.figures import Figure, Round
from tools.bench.yardsticks import RC4_KILOBYTE, rc4_loop

ONLOOKERS = 20
IDLE = 1000
BLOWS = 500
SECONDS = 100.0
HEALTH = 2_000_000_000
VERSIONS = (546, 561, 1096, 1208, 60114)
PLAYERS, CREATURES = 50, 100
"""Of the battle: each player is struck by two creatures, and strikes one of them."""
BATTLE_SECONDS = 20.0
AIM = "at most 120 us"
AIM_BATTLE = "at most 350,000 us: 35 % of a core"
AIM_IDLE = "as much as without creatures"


CONFIG = SessionConfig()
KEY = bytes(range(8))


def _scene(onlookers: int, creatures: int) -> tuple[Fight, list[Spawn]]:
    fight = Fight()
    found = [
        fight.creature(f"a crab {one}", HERE._replace(x=3.0 + one / 10)) for one in range(creatures)
    ]
    clients = [fight.client]
    for number in range(onlookers):
        name = f"Onlooker{chr(ord('a') + number)}"
        clients.append(fight.stand(100 + number, name, VERSIONS[number % len(VERSIONS)]))
    for client in clients:
        codec = MessageCodec(CONFIG, Role.SERVER, KEY)
        client.send = client.send_later = codec.encode  # type: ignore[method-assign,assignment]
    fight.run(5.0)
    return fight, found


def _blow(fight: Fight, crab: Spawn) -> float:
    blow, player = fight.harness.parts.combat.fights.blow, fight.player
    began = process_time()
    for _ in range(BLOWS):
        blow(player.zone, player.spawn, crab, PRIMARY)
    return (process_time() - began) / BLOWS


def _second(fight: Fight) -> float:
    began = process_time()
    fight.run(SECONDS)
    return (process_time() - began) / SECONDS


def _battle() -> Fight:
    """Let players and creatures in sight of each other fight, so that nobody dies."""
    fight, creatures = _scene(PLAYERS - 1, CREATURES)
    players = list(fight.harness.world.players)
    for number, creature in enumerate(creatures):
        creature.sheet.health.fill(HEALTH)
        player = players[number % PLAYERS]
        player.spawn.sheet.health.fill(HEALTH)
        player.set_target(creature)
        fight.harness.parts.combat.creatures.hate(player.zone, creature, player.spawn, 50)
        fight.harness.parts.combat.fights.start(player)
    fight.run(5.0)
    return fight


def _battle_second(fight: Fight) -> float:
    began = process_time()
    fight.run(BATTLE_SECONDS)
    return (process_time() - began) / BATTLE_SECONDS


def report(rounds: int) -> list[Figure]:
    """Strike, and fight, before onlookers; let creatures stand before a player."""
    fight, (crab,) = _scene(ONLOOKERS, 1)
    for spawn in (crab, fight.player.spawn):
        spawn.sheet.health.fill(HEALTH)
    blows = [Round(_blow(fight, crab) * 1e6, rc4_loop().cpu * 1e9) for _ in range(rounds)]
    what = f"a blow with its messages to {ONLOOKERS} onlookers of five versions"
    figures = [Figure(what, "us", RC4_KILOBYTE, blows, AIM)]
    fight.attack(crab)
    scenes = {
        f"a second of a fight, one blow of each side in two, before {ONLOOKERS} onlookers": fight,
        "a second of a player alone": _scene(0, 0)[0],
        f"a second of a player and {IDLE:,} creatures that nobody fights": _scene(0, IDLE)[0],
    }
    for what, scene in scenes.items():
        found = [Round(_second(scene) * 1e6, rc4_loop().cpu * 1e9) for _ in range(rounds)]
        figures.append(
            Figure(what, "us", RC4_KILOBYTE, found, AIM_IDLE if "nobody" in what else "")
        )
    battle = _battle()
    found = [Round(_battle_second(battle) * 1e6, rc4_loop().cpu * 1e9) for _ in range(rounds)]
    what = f"a second of {CREATURES} creatures that fight {PLAYERS} players in sight of each other"
    figures.append(Figure(what, "us", RC4_KILOBYTE, found, AIM_BATTLE))
    return figures
