"""A newcomer in a place with many spawns, in a process of its own.

Run as ``python -m tools.bench.content_newcomer PORT NUMBER``: the player of this number enters, and
waits until nothing has appeared for `QUIET` seconds. It prints one line of JSON: how many entities
appeared, and the seconds from showing the world's key to the last of them.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Final

from twisted.internet.defer import Deferred
from twisted.internet.task import react

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.client.world.events import Appeared, WorldEvent
from emu.net.client.swarm import character_name
from emu.net.client.world_connection import enter_world
from tools.bench.login_players import PASSWORD
from tools.bench.world_child import PREFIX

QUIET: Final = 2.0


async def main(reactor: Any) -> None:
    """Enter, wait and report."""
    port, number = (int(word) for word in sys.argv[1:3])
    entrance = Entrance(
        Credentials(f"{PREFIX}{number:05}", PASSWORD), character_name(PREFIX, number)
    )
    appeared: list[float] = []

    def noted(event: WorldEvent) -> None:
        if isinstance(event, Appeared):
            appeared.append(reactor.seconds())

    client = await enter_world(reactor, "127.0.0.1", port, entrance, timeout=60.0, on_event=noted)
    entering = client.core.entering
    if entering is None:
        raise SystemExit("the newcomer does not stand")
    began = reactor.seconds() - entering
    seen = -1
    while seen != len(appeared):
        seen = len(appeared)
        await client.pause(QUIET)
    last = max(began + entering, *appeared) - began if appeared else entering
    print(json.dumps({"entities": len(appeared), "seconds": last}), flush=True)
    await client.stop()


if __name__ == "__main__":
    react(lambda reactor: Deferred.fromCoroutine(main(reactor)))
