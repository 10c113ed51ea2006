"""The built-in world and our login server in one process, joined by a real TCP link."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_twisted
from twisted.internet import reactor as _reactor
from twisted.internet.task import deferLater

from emu.appearance import Models
from emu.link.batches import ZoneItem
from emu.link.settings import (
    LinkServerConfig,
    LoginLinkConfig,
    LoginServerAddress,
    WorldLinkConfig,
    hash_link_password,
)
from emu.model import CreateResponse, PlayResponse
from emu.net.link.client import LoginLink
from emu.net.link.server import LinkServer
from emu.net.logs import logger
from emu.net.scheduler import Scheduler, Tasks
from emu.processes.shared import ServedHere
from emu.structs import shipped_catalog
from emu.world.entry.admission import WorldAdmissionRules
from emu.world.registration.creation import CharacterCreation, NameRules
from emu.world.registration.registry import RegistryConfig, WorldRegistry
from emu.world.rules import AdmissionRules, CreationRules
from emu.world.zones.definitions import Start
from emu.worlds import RegisteredWorld, ZoneDescription
from tests.support.login.create_requests import request_546
from tests.support.login.directory_fakes import Observer, Stores, world_directory
from tests.support.running.processes import handoff_keys, presence
from tests.support.world.world_fakes import CharactersInMemory

reactor: Any = _reactor
SCHEDULER = Scheduler(reactor)
pytestmark = pytest.mark.usefixtures("collect_garbage")


class Harness:
    """Login server and world, as one process would join them."""

    def __init__(self) -> None:
        self.stores = Stores(
            RegisteredWorld(7, "Norrath", "built-in", hash_link_password("secret"))
        )
        self.observer = Observer()
        self.tasks = Tasks(logger("link"))
        self.directory = world_directory(
            self.stores, self.observer, spawn=self.tasks.spawn, clock=SCHEDULER
        )
        config = LinkServerConfig(end=LoginLinkConfig(batch_delay=0.02))
        self.server = LinkServer(config, self.directory, self.tasks, reactor, SCHEDULER)
        port = self.server.listen("127.0.0.1", 0).getHost().port  # type: ignore[attr-defined]
        self.characters = CharactersInMemory()
        handoffs = handoff_keys(lambda: 0xBEEF)
        self.admission = WorldAdmissionRules(AdmissionRules(), presence(), handoffs)
        names = NameRules()
        self.registry = WorldRegistry(
            RegistryConfig("Norrath", "built-in", "secret", "127.0.0.1", 9001, max_level=50),
            characters=self.characters,
            creation=CharacterCreation(
                CreationRules(),
                names,
                self.characters,
                shipped_catalog(),
                lambda wanted: Start(12),
                SCHEDULER,
            ),
            admission=self.admission,
            zone_servers=ServedHere(),
            zones=lambda: [ZoneItem(12, "antonica", "Antonica")],
            models=Models(),
            clock=SCHEDULER,
        )
        self.link = LoginLink(
            WorldLinkConfig((LoginServerAddress("127.0.0.1", port),)),
            self.registry,
            self.tasks,
            reactor,
            SCHEDULER,
            random=lambda: 0.5,
        )
        self.link.start()

    async def heard(self, expected: object) -> None:
        for _ in range(500):
            if expected in self.observer.heard:
                return
            await deferLater(reactor, 0.005)
        raise AssertionError(f"{expected} not in {self.observer.heard}")

    async def until_stored(self, expected: object) -> None:
        for _ in range(500):
            if expected in self.stores.calls:
                return
            await deferLater(reactor, 0.005)
        raise AssertionError(f"{expected} not in {self.stores.calls}")


@pytest_twisted.async_yield_fixture
async def harness() -> AsyncIterator[Harness]:
    made = Harness()
    for _ in range(500):
        if made.directory.connected(7):
            break
        await deferLater(reactor, 0.005)
    yield made
    await made.link.stop()
    await made.server.stop()


async def test_a_character_is_made_played_and_deleted(harness: Harness) -> None:
    now = reactor.seconds()
    assert harness.directory.request_create(7, 101, 546, request_546(account=0), now)
    await harness.heard(CreateResponse(7, 101, 1, 1))
    assert harness.characters.rows[1].account_id == 101
    assert harness.directory.request_play(7, 101, 1, "127.0.0.1", now)
    await harness.heard(PlayResponse(7, 101, 1, 0xBEEF, 1, "127.0.0.1", 9001))
    assert await harness.admission.redeem(101, 0xBEEF) is not None
    harness.directory.notify_delete(7, 101, 1, now)
    assert harness.directory.request_play(7, 101, 1, "127.0.0.1", now)
    await harness.heard(PlayResponse(7, 101, 1, 0, 5, "127.0.0.1", 9001))
    assert harness.characters.rows[1].deleted


async def test_the_login_server_learns_the_worlds_zones_and_its_lock(harness: Harness) -> None:
    await harness.until_stored(("zones", 7, ZoneDescription(12, "antonica", "Antonica")))
    harness.admission.locked = True
    harness.link.status_changed()
    for _ in range(500):
        entry = harness.directory.connected(7)
        if entry is not None and entry.locked:
            break
        await deferLater(reactor, 0.005)
    assert entry is not None
    assert (entry.locked, entry.max_level) == (True, 50)
