"""Fights: microseconds of a blow before 20 onlookers, and of creatures that nobody fights.

The clock is virtual. Clients compress what they are sent, as sessions do, and decode nothing.
"""

from __future__ import annotations

import zlib
from time import process_time

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
AIM = "at most 120 us"
AIM_IDLE = "as much as without creatures"


def _seal(opcode: int, payload: bytes) -> None:
    del opcode
    zlib.compress(payload, 1)


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
        client.send = _seal  # type: ignore[method-assign]
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
    return figures
