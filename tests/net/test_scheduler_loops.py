"""Every periodic loop of the program: its body raises once, and it runs again when it is due."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.internet.task import Clock
from twisted.logger import Logger

from emu.admin.commands.server import Countdown
from emu.config import Address
from emu.link.settings import LoginServerAddress, WorldLinkConfig
from emu.mailbox import Mailbox
from emu.net.admin.ggmp import GgmpPort
from emu.net.admin.queries import INTERVAL as MASTERS_INTERVAL
from emu.net.admin.queries import MasterUplink
from emu.net.admin.service import AdminEndpoints
from emu.net.link import client as link_client
from emu.net.link.client import LoginLink
from emu.net.login.password_workers import PasswordWorkers
from emu.net.opcode_source import OpcodeSource
from emu.net.scheduler import Scheduler, Tasks
from emu.net.service_manager import STATUS_EVERY, ServiceManager
from emu.net.stream import Stream
from emu.net.watch import INTERVAL as REFUSALS_INTERVAL
from emu.net.watch import RefusalLog
from emu.net.web.live import INTERVAL as LIVE_INTERVAL
from emu.net.web.live import LiveResource, _Page
from emu.net.web.resources import InterruptiblePauses
from emu.net.web.site import Visitors
from emu.net.world.timer import WorldTimer
from emu.times import Monotonic
from tests.support.running.whole_server import captured_log


class Mistake(Exception):
    """What is raised."""


class Body:
    """What a loop does: it raises the first time, and counts."""

    def __init__(self, result: Any = None) -> None:
        self.calls = 0
        self.result = result

    def __call__(self, *_values: Any, **_named: Any) -> Any:
        self.calls += 1
        if self.calls == 1:
            raise Mistake
        return self.result


class Page:
    """A page that is open."""

    transport = None

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self.write = write

    def setResponseCode(self, _code: int) -> None: ...

    def setHeader(self, *_header: str) -> None: ...

    def notifyFinish(self) -> Deferred[None]:
        return Deferred()


Loop = Callable[[Clock, Scheduler, Body], float]
"""Begins a loop with a body; returns the seconds in which it runs at least twice."""


def every(_clock: Clock, scheduler: Scheduler, body: Body) -> float:
    scheduler.every(1.0, body)
    return 2.0


def beside_another(_clock: Clock, scheduler: Scheduler, body: Body) -> float:
    """Two calls of the same moment: the second comes although the first raises."""
    scheduler.later(1.0, body)
    scheduler.later(1.0, body)
    return 1.0


def world(_clock: Clock, scheduler: Scheduler, body: Body) -> float:
    def due() -> Monotonic:
        return Monotonic(scheduler.now() + 0.1)

    WorldTimer(scheduler, due, body).wake(due())
    return 0.5


def countdown(_clock: Clock, scheduler: Scheduler, body: Body) -> float:
    """The announcement fails; the server stops all the same."""
    part = AdminEndpoints.__new__(AdminEndpoints)
    part._scheduler = scheduler
    part._timer = scheduler.timer(part)
    reported: list[str] = []

    def announce(_text: str) -> None:
        if reported:
            body()
        reported.append("the first, at once")

    part._countdown = Countdown(announce, body)
    part._countdown.start(3.0, scheduler.now())
    part._countdown_changed()
    return 4.0


def ggmp(_clock: Clock, scheduler: Scheduler, body: Body) -> float:
    port = GgmpPort.__new__(GgmpPort)
    port._scheduler = scheduler
    port._timer = scheduler.timer(port)
    port.core = SimpleNamespace(  # type: ignore[assignment]
        handle_timer=body, data_to_send=list, get_timer=lambda: scheduler.now() + 1.0
    )
    port._arm(port.core.get_timer())
    return 3.0


def masters(_clock: Clock, scheduler: Scheduler, body: Body) -> float:
    """One master cannot be sent to; the other one is, at once."""
    both = [Address("192.0.2.1", 1), Address("192.0.2.2", 1)]
    MasterUplink(body, both, 1, scheduler).start()
    assert body.calls == 2
    return MASTERS_INTERVAL


def refusals(_clock: Clock, scheduler: Scheduler, body: Body) -> float:
    log = RefusalLog(Logger("test"), scheduler)
    log._repeats = SimpleNamespace(take_counts=body)  # type: ignore[assignment]
    body.result = []
    log.start()
    return 2 * REFUSALS_INTERVAL


def service_manager(_clock: Clock, scheduler: Scheduler, body: Body) -> float:
    manager = ServiceManager(scheduler, lambda: "well", {"NOTIFY_SOCKET": "@nobody-listens-here"})
    manager.start()
    manager._status = body
    body.result = "well"
    return 2 * STATUS_EVERY


def opcodes(_clock: Clock, scheduler: Scheduler, body: Body) -> float:
    source = OpcodeSource.__new__(OpcodeSource)
    source._watcher = SimpleNamespace(poll=body, problem=None)  # type: ignore[assignment]
    source._run, source._asked, source._logged = maybeDeferred, False, None
    source._is_lost = False
    source._scheduler = scheduler
    source.start()
    return 2.0


EVERYBODY = Visitors(lambda _request: "192.0.2.1", lambda _request: True)


def live(_clock: Clock, scheduler: Scheduler, body: Body) -> float:
    """The state cannot be made once; pages are sent it again two seconds later."""
    asked: list[int] = []

    def state() -> Any:
        asked.append(1)
        return body() if len(asked) > 1 else {}

    body.result = {}
    resource = LiveResource(scheduler, state, dict, EVERYBODY)
    page: Any = Page(lambda _data: None)
    resource._pages[page] = _Page()
    resource._turn = scheduler.every(LIVE_INTERVAL, resource._send_state)
    state()
    return 2 * LIVE_INTERVAL


def one_page_of_two(_clock: Clock, scheduler: Scheduler, body: Body) -> float:
    """One page cannot be written to; the other one is sent the state."""
    resource = LiveResource(scheduler, dict, dict, EVERYBODY)
    for _ in range(2):
        page: Any = Page(body)
        resource._pages[page] = _Page()
    with captured_log("text"):
        resource.send("line", {})
    assert len(resource) == 1
    return 0.0


def login_link(_clock: Clock, scheduler: Scheduler, body: Body) -> float:
    """Connecting raises at once, and is tried again."""
    body.result = Deferred()
    nothing: Any = None
    config = WorldLinkConfig(servers=(LoginServerAddress("127.0.0.1", 1),), end=nothing)
    link = LoginLink(config, nothing, Tasks(Logger("test")), None, scheduler, random=lambda: 0.5)
    link._running = True
    vars(link_client)["connect"] = body
    link._later("connect", 0.0, lambda: link._connect(0))
    return 60.0


def mailbox(_clock: Clock, scheduler: Scheduler, body: Body) -> float:
    """A task raises; what waits behind it is done without another one that comes."""
    tasks = Tasks(Logger("test"))
    first: Deferred[None] = Deferred()

    async def waits() -> None:
        await first

    async def works() -> None:
        body()

    box = Mailbox(tasks.spawn, 10)
    assert all([box.put(waits), box.put(works), box.put(works)])
    scheduler.later(1.0, lambda: first.callback(None))
    return 1.0


def password_turns(_clock: Clock, _scheduler: Scheduler, body: Body) -> float:
    """One asker raises when it is asked whether it still waits; others get their turn."""
    body.result = True
    workers = PasswordWorkers(None, threads=1, most_waiting=10)
    for _ in range(2):
        turn = workers.turn("somebody", body)
        turn.began.addErrback(lambda failure: failure.trap(Mistake))
        workers.begin(turn)
    return 0.0


def pauses(_clock: Clock, scheduler: Scheduler, body: Body) -> float:
    waiting = InterruptiblePauses(scheduler)

    async def waits() -> None:
        await waiting.wait(1.0)
        body()

    tasks = Tasks(Logger("test"))
    tasks.spawn(waits())
    tasks.spawn(waits())
    return 1.0


LOOPS: list[Loop] = [
    every, beside_another, world, countdown, ggmp, masters, refusals, service_manager, opcodes,
    live,
    one_page_of_two, login_link, mailbox, password_turns, pauses,
]  # fmt: skip


@contextmanager
def connectors_kept() -> Iterator[None]:
    """Give the modules back what the loops of connections have replaced there."""
    before = vars(link_client)["connect"]
    try:
        yield
    finally:
        vars(link_client)["connect"] = before


@pytest.fixture(autouse=True)
def flush(logged_failures: Any) -> Iterator[None]:
    """Take out what is logged of the mistakes."""
    yield
    logged_failures.flush(Mistake)


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_whose_body_raises_once_runs_again(loop: Loop) -> None:
    clock, body = Clock(), Body()
    with connectors_kept(), captured_log("text"):
        seconds = loop(clock, Scheduler(clock), body)
        for _ in range(int(seconds * 20) + 10):
            clock.advance(0.05)
    assert body.calls >= 2
    assert body.calls < 100, "it must not run without a pause"


def test_a_world_that_raises_is_not_called_without_a_pause() -> None:
    clock = Clock()
    calls: list[float] = []

    def fails(_now: Any) -> None:
        calls.append(clock.seconds())
        raise Mistake

    timer = WorldTimer(Scheduler(clock), lambda: Monotonic(clock.seconds()), fails)
    with captured_log("text") as log:
        timer.wake(Monotonic(0.0))
        for _ in range(100):
            clock.advance(0.01)
        assert "a timer failed" in log.text
    assert 5 <= len(calls) <= 12


def test_a_connection_whose_timer_raises_is_cut_off() -> None:
    clock = Clock()
    scheduler, cut = Scheduler(clock), list[int]()
    stream = Stream(scheduler, SimpleNamespace())  # type: ignore[arg-type]
    stream.core = SimpleNamespace(handle_timer=Body())  # type: ignore[assignment]
    stream.transport = SimpleNamespace(abortConnection=lambda: cut.append(1))
    scheduler.arm(stream._timer, scheduler.now())
    with captured_log("text") as log:
        clock.advance(0.1)
        assert "a timer failed" in log.text
    assert cut == [1]


def test_the_clock_goes_on_after_what_ends_a_program() -> None:
    clock = Clock()
    scheduler, body = Scheduler(clock), Body()

    def ends() -> None:
        raise KeyboardInterrupt

    scheduler.later(1.0, ends)
    scheduler.every(1.5, body)
    with pytest.raises(KeyboardInterrupt):
        clock.advance(1.0)
    with captured_log("text"):
        for _ in range(100):
            clock.advance(0.05)
    assert body.calls >= 2
