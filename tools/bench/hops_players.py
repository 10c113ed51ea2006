"""Players of a world in a process of their own, who do one thing for every line on stdin.

Run as ``python -m tools.bench.hops_players PORT``; prints ``ready 0`` when the actor and the
watcher stand in the zone. The lines: ``step`` lets the actor send one movement update, one unit
from the last; ``say`` lets it say a sentence; ``enter`` brings the victim into the zone and prints
``ready 0`` again. The process ends when its input does.
"""

from __future__ import annotations

import sys
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import react
from twisted.internet.threads import deferToThread

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.net.client.swarm import character_name
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from tools.bench.hops_paths import ACTOR, VICTIM, WATCHER
from tools.bench.login_players import PASSWORD
from tools.bench.world_child import PREFIX


async def main(reactor: Any) -> None:
    """Enter, obey and leave."""
    port = int(sys.argv[1])
    players = [await _enter(reactor, port, number) for number in (ACTOR, WATCHER)]
    print("ready 0", flush=True)
    while line := await deferToThread(sys.stdin.readline):
        if line == "step\n":
            take_step(players[ACTOR])
        elif line == "say\n":
            players[ACTOR].act(lambda core: core.command("say hello"))
        else:
            players.append(await _enter(reactor, port, VICTIM))
            print("ready 0", flush=True)
    for player in players:
        await player.stop()


async def _enter(reactor: Any, port: int, number: int) -> ClientWorldConnection:
    credentials = Credentials(f"{PREFIX}{number:05}", PASSWORD)
    entrance = Entrance(credentials, character_name(PREFIX, number))
    return await enter_world(reactor, "127.0.0.1", port, entrance)


def take_step(player: ClientWorldConnection) -> None:
    """Stand one unit further east, and send that as a single update."""
    walker, now = player.core.walker, player.now()
    walker.stand_at(walker.place._replace(x=walker.place.x + 1))
    walker.stop(now)
    player.handle_timer(now)


if __name__ == "__main__":
    react(lambda reactor: Deferred.fromCoroutine(main(reactor)))
