"""Players of a world in their own process, for the section `world`.

Run as ``python -m tools.bench.movers PORT FIRST CLIENTS WATCHERS RATE HABIT VERSION...``. It
prints ``ready 0`` when all are in, plays until it reads a line, leaves, and prints the swarm's
report as JSON. FIRST is the number of the first player. WATCHERS is how many decode what they see;
the rest cost this process next to nothing. RATE is how many enter per second. The client versions
are assigned in turn. HABIT is ``walk``, ``stand`` or ``fight``.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from twisted.internet.defer import Deferred, ensureDeferred
from twisted.internet.task import react
from twisted.internet.threads import deferToThread

from emu.client.swarm import BotHabits
from emu.config import Address
from emu.net.client.swarm import Swarm, SwarmPlan
from tools.bench.login_players import PASSWORD
from tools.bench.world_child import PREFIX

WALK = BotHabits(radius=15.0, rest=0.0, talk=0.0)
STAND = BotHabits(radius=0.0, rest=1e9, talk=0.0)
FIGHT = BotHabits(radius=15.0, rest=0.0, talk=0.0, fights=True)
HABITS = {"walk": WALK, "stand": STAND, "fight": FIGHT}
LONG = 3600.0
SETTLE = 2.0
"""Seconds for what the last ones to come in bring to the others."""


async def main(reactor: Any) -> None:
    """Come, play, leave and report."""
    port, first, clients, watchers, rate = (int(word) for word in sys.argv[1:6])
    habits = HABITS[sys.argv[6]]
    plan = SwarmPlan(
        clients, Address("127.0.0.1", port), LONG, PREFIX, PASSWORD, first=first, rate=rate,
        watchers=watchers, timeout=30.0, habits=habits,
        versions=[int(word) for word in sys.argv[7:]],
    )  # fmt: skip
    swarm = Swarm(reactor, plan)
    await swarm.come()
    if swarm.failures:
        raise SystemExit(f"movers: {swarm.failures}")
    await swarm.scheduler.pause(SETTLE)
    print("ready 0", flush=True)
    playing = ensureDeferred(swarm.stay())
    playing.addErrback(lambda _cancelled: None)
    await deferToThread(sys.stdin.readline)
    swarm.note_lost()
    playing.cancel()
    await swarm.leave()
    print(json.dumps(swarm.figures.report()), flush=True)


if __name__ == "__main__":
    react(lambda reactor: Deferred.fromCoroutine(main(reactor)))
