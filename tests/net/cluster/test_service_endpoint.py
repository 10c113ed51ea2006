"""What a process shares with others, by its configuration."""

from __future__ import annotations

import dataclasses
from typing import Any

from twisted.internet.task import Clock

from emu.config import parse
from emu.errors import StoreError
from emu.net.cluster.service import Alone, BusEndpoint, ProcessContext, processes_endpoint
from emu.net.scheduler import Scheduler, Tasks
from emu.world.population.atlas import read_atlas
from tests.support.running.whole_server import captured_log
from tests.support.world.world_fakes import CharactersInMemory


class AnyStores:
    """A `Storage` whose ports nobody calls."""

    world_characters = CharactersInMemory()

    def __getattr__(self, name: str) -> object:
        return name


def ground(*settings: str) -> ProcessContext:
    storage: Any = AnyStores()
    clock: Any = Clock()
    scheduler = Scheduler(clock)
    log: Any = None
    return ProcessContext(
        BusEndpoint(scheduler), parse({}, list(settings)), storage, read_atlas(),
        lambda: ("192.0.2.1", 9001), clock, scheduler, Tasks(log),
    )  # fmt: skip


class FailingKeys:
    """World keys of a database that is away."""

    async def withdraw_account(self, _account_id: int) -> None:
        raise StoreError("the database is away")


async def test_keys_that_cannot_be_withdrawn_are_one_line_in_the_log() -> None:
    part = processes_endpoint(ground())
    part.processes = dataclasses.replace(part.processes, handoffs=FailingKeys())
    with captured_log("text") as log:
        await part.withdraw_keys(7)
    assert "the keys of account 7 could not be withdrawn: the database is away" in log.text


async def test_alone_everything_is_here() -> None:
    here = ground()
    part = processes_endpoint(here)
    assert isinstance(part, Alone)
    assert part.processes.zone_servers.serves(12)
    assert part.characters is here.storage.world_characters
    part.start()
    await part.stop()
