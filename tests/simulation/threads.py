"""Threads of a simulated process: their work is done step by step in virtual time."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from emu.net.machine import Machine, ThreadWork
from emu.scripts.own_time import OwnTime

if TYPE_CHECKING:
    from tests.simulation.virtual_time import SimulatedProcess

T = TypeVar("T")


class VirtualMachine(Machine):
    """A machine without threads, whose clocks are virtual and whose work takes no time."""

    def __init__(self, process: SimulatedProcess, chance: random.Random) -> None:
        self.process = process
        self.chance = chance
        self.slowness = 0.001
        """Seconds that a step of a thread takes at most."""
        self.moment = process.moment  # type: ignore[assignment]
        self.steady = process.seconds  # type: ignore[assignment]
        self.work = process.seconds  # type: ignore[assignment]
        self.processor = process.seconds  # type: ignore[assignment]
        self.own_time = lambda: OwnTime(process.seconds)  # type: ignore[assignment]
        self.limited = _unlimited  # type: ignore[assignment]
        self.held: list[Callable[[], object]] | None = None
        """Calls to the reactor's thread in the present step of a thread; None outside of one."""
        self.delayed: Callable[[], float] = lambda: 0.0
        """Returns, and forgets, the seconds that a slow disk or server has taken in this step."""

    def thread(self, work: ThreadWork, name: str) -> StepThread:
        """Return a thread whose work is done in steps."""
        return StepThread(self, work, name)

    def threads(self, reactor: Any, count: int, name: str) -> CallSteps:
        """Return threads for calls; each call is one step."""
        return CallSteps(self)

    def delay(self) -> float:
        """Return how long the next step of a thread takes to begin."""
        return self.slowness * self.chance.random()


def _unlimited(call: Callable[[], object], _seconds: float) -> None:
    call()


class StepThread:
    """A thread that does the next step of its work when it is woken."""

    def __init__(self, machine: VirtualMachine, work: ThreadWork, name: str) -> None:
        self._machine = machine
        self._work = work
        self._name = name
        self._is_planned = False
        self._is_woken = True
        self._is_over = False
        self._plan(machine.delay())

    def wake(self) -> None:
        """Do the next step soon."""
        self._is_woken = True
        if not self._is_planned and not self._is_over:
            self._plan(self._machine.delay())

    def join(self) -> None:
        """Do nothing: the work has ended."""

    def _plan(self, delay: float) -> None:
        self._is_planned = True
        self._machine.process.callLater(delay, self._step)

    def _step(self) -> None:
        self._is_planned = False
        self._is_woken = False
        machine = self._machine
        machine.held = held = []
        pause: float | None = None
        try:
            pause = next(self._work)
        except StopIteration:
            self._is_over = True
        finally:
            machine.held = None
        delayed = machine.delayed()
        for call in held:
            machine.process.callLater(delayed + machine.delay(), call)
        if self._is_over:
            return
        if pause is not None or delayed or self._is_woken:
            self._plan(delayed + (pause if pause is not None else self._machine.delay()))


class CallSteps:
    """Calls without an order of their own, such as password hashes."""

    def __init__(self, machine: VirtualMachine) -> None:
        self._machine = machine

    def run(self, call: Callable[[], T]) -> Deferred[T]:
        """Make a call after a while."""
        done: Deferred[T] = Deferred()
        self._machine.process.callLater(self._machine.delay(), self._make, call, done)
        return done

    def _make(self, call: Callable[[], T], done: Deferred[T]) -> None:
        try:
            result = call()
        except Exception:  # noqa: BLE001  # the caller gets it
            done.errback(Failure())
        else:
            done.callback(result)

    def stop(self) -> None:
        """Do nothing: no call is running."""
