from __future__ import annotations

from twisted.internet import reactor
from twisted.internet.defer import Deferred

from emu.net.scheduler import Scheduler
from emu.net.web.resources import InterruptiblePauses


async def test_a_pause_takes_its_time() -> None:
    scheduler = Scheduler(reactor)
    pauses = InterruptiblePauses(scheduler)
    before = scheduler.now()
    await pauses.wait(0.02)
    assert scheduler.now() - before >= 0.02
    assert len(pauses) == 0


async def test_at_the_end_nobody_waits_any_more() -> None:
    pauses = InterruptiblePauses(Scheduler(reactor))
    waiting = [Deferred.fromCoroutine(pauses.wait(60)) for _ in range(3)]
    assert len(pauses) == 3
    pauses.end()
    for one in waiting:
        await one
    await pauses.wait(60)
    assert len(pauses) == 0
    await Scheduler(reactor).pause(0.001)  # the reactor lets go of what was cancelled
