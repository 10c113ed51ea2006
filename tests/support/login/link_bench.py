"""A port for worlds with everything around it, and scripted worlds that connect to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from twisted.internet import reactor as _reactor
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater

from emu.link.settings import LinkServerConfig, hash_link_password
from emu.model import CreateResponse, PlayResponse
from emu.net.link.server import LinkServer
from emu.net.logs import logger
from emu.net.scheduler import Scheduler, Tasks
from emu.times import Monotonic
from emu.worlds import RegisteredWorld, WorldEntry
from tests.support.login.directory_fakes import Observer, Stores, world_directory
from tests.support.login.scripted_world import ScriptedWorld, connect_world
from tests.support.patience import patience

reactor: Any = _reactor
SCHEDULER = Scheduler(reactor)


class WaitingObserver(Observer):
    """Lets a test await what the client side of the login service hears."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[Deferred[None]] = []

    async def hears(self, expected: object) -> None:
        while expected not in self.heard:
            more: Deferred[None] = Deferred()
            self.waiting.append(more)
            more.addTimeout(patience(5), reactor)
            await more

    def _notify(self) -> None:
        waiting, self.waiting = self.waiting, []
        for one in waiting:
            one.callback(None)

    def world_changed(self, entry: WorldEntry, now: Monotonic) -> None:
        super().world_changed(entry, now)
        self._notify()

    def world_gone(self, world_id: int, now: Monotonic) -> None:
        super().world_gone(world_id, now)
        self._notify()

    def play_answered(self, answer: PlayResponse, now: Monotonic) -> None:
        super().play_answered(answer, now)
        self._notify()

    def create_answered(self, answer: CreateResponse, now: Monotonic) -> None:
        super().create_answered(answer, now)
        self._notify()


class Bench:
    def __init__(self, stores: type[Stores] = Stores) -> None:
        password = hash_link_password("secret")
        self.stores = stores(
            RegisteredWorld(7, "Norrath", "testlabs", password),
            RegisteredWorld(8, "Other", "other", password),
        )
        self.observer = WaitingObserver()
        self.tasks = Tasks(logger("link"))
        self.directory = world_directory(
            self.stores, self.observer, spawn=self.tasks.spawn, clock=SCHEDULER
        )
        self.worlds: list[ScriptedWorld] = []
        self.server: LinkServer

    def start(self, config: LinkServerConfig | None = None) -> None:
        self.server = LinkServer(
            config or LinkServerConfig(), self.directory, self.tasks, reactor, SCHEDULER
        )
        at: Any = self.server.listen("127.0.0.1", 0).getHost()
        self.port: int = at.port

    async def connect(self) -> ScriptedWorld:
        world = await connect_world(reactor, self.port)
        self.worlds.append(world)
        return world

    async def registered(self, account: bytes = b"testlabs", world_id: int = 7) -> ScriptedWorld:
        world = await self.connect()
        world.register(account)
        name = "Norrath" if world_id == 7 else "Other"
        await self.observer.hears(WorldEntry(world_id, name, True, False, 0, max_level=50))
        return world

    async def counted(self, reason: str) -> None:
        for _ in range(500):
            if self.server.counters[reason]:
                return
            await deferLater(reactor, 0.01)
        raise AssertionError(f"{reason!r} not in {self.server.counters}")


@asynccontextmanager
async def link_bench() -> AsyncIterator[Bench]:
    """Yield a bench; afterwards nothing of it is left."""
    made = Bench()
    yield made
    await made.server.stop()
    for world in made.worlds:
        await world.ended()
    assert made.server.connections == 0
