"""Players who enter many zones, some at a time, in a process of its own.

Run as ``python -m tools.bench.content_tour PORT COUNT AT_ONCE STAY``: the first COUNT players of
`tools.bench.world_child` enter, AT_ONCE of them at a time; each stands for STAY seconds and leaves.
It prints one line of JSON: how many have stood, and the seconds of each until it stood.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from typing import Any

from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.task import react

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.errors import EmuError
from emu.net.client.swarm import character_name, own_address
from emu.net.client.world_connection import enter_world
from emu.session import Session
from tools.bench.login_players import PASSWORD
from tools.bench.world_child import PREFIX


async def main(reactor: Any) -> None:
    """Let all of them enter and leave, and report."""
    port, count, at_once = (int(word) for word in sys.argv[1:4])
    stay = float(sys.argv[4])
    coming, entered = deque(range(count)), list[float]()

    async def play() -> None:
        while coming:
            number = coming.popleft()
            entrance = Entrance(
                Credentials(f"{PREFIX}{number:05}", PASSWORD),
                character_name(PREFIX, number),
                interface=own_address("127.0.0.1", number),
                reads_ghosts=False,
            )
            try:
                client = await enter_world(
                    reactor, "127.0.0.1", port, entrance,
                    timeout=60.0, make_session=Session.client,
                )  # fmt: skip
            except EmuError as error:
                print(f"player {number}: {error}", file=sys.stderr)
                continue
            entered.append(client.core.entering or 0.0)
            await client.pause(stay)
            await client.leave()

    await gatherResults([Deferred.fromCoroutine(play()) for _ in range(at_once)])
    print(json.dumps({"stood": len(entered), "entering": entered}), flush=True)


if __name__ == "__main__":
    react(lambda reactor: Deferred.fromCoroutine(main(reactor)))
