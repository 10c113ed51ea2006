"""The world's time on the scheduler."""

from __future__ import annotations

from typing import Any

from twisted.internet.task import Clock

from emu.net.scheduler import Scheduler
from emu.net.world.timer import WorldTimer
from emu.times import Monotonic


class Service:
    def __init__(self) -> None:
        self.due: float | None = None
        self.handled: list[float] = []

    def get_timer(self) -> Any:
        return self.due

    def handle_timer(self, now: Monotonic) -> None:
        self.handled.append(now)
        self.due = None


def test_the_world_is_called_when_it_wants_and_not_after_the_end() -> None:
    clock = Clock()
    service: Any = Service()
    timer = WorldTimer(Scheduler(clock), service.get_timer, service.handle_timer)
    service.due = 2.0
    timer.wake(Monotonic(2.0))
    clock.advance(1.5)
    assert service.handled == []
    service.due = 1.75
    timer.wake(Monotonic(1.75))
    clock.advance(0.3)
    assert len(service.handled) == 1
    service.due = 9.0
    timer.wake(Monotonic(9.0))
    timer.stop()
    clock.advance(20.0)
    assert len(service.handled) == 1
    assert clock.getDelayedCalls() == []


class Counted(Clock):
    """Counts the calls that were planned."""

    planned = 0

    def callLater(self, *about: Any, **kw: Any) -> Any:
        self.planned += 1
        return super().callLater(*about, **kw)


def test_each_deadline_of_the_world_wakes_the_reactor_once() -> None:
    class Ticking(Service):
        def handle_timer(self, now: Monotonic) -> None:
            self.handled.append(now)
            for delay in (3.0, 2.0, 1.0):
                self.due = now + delay
                timer.wake(Monotonic(self.due))

    clock = Counted()
    service: Any = Ticking()
    timer = WorldTimer(Scheduler(clock), service.get_timer, service.handle_timer)
    timer.wake(Monotonic(1.0))
    for _ in range(100):
        clock.advance(0.125)
    assert len(service.handled) == 12
    assert clock.planned == 13  # one for each call, and one for the next
