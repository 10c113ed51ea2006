"""What a process shares with others, by its configuration."""

from __future__ import annotations

from typing import Any

from twisted.internet.task import Clock

from emu.config import parse
from emu.net.cluster.service import Alone, BusEndpoint, ProcessContext, processes_endpoint
from emu.net.scheduler import Scheduler, Tasks
from emu.world.population.atlas import read_atlas
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


async def test_alone_everything_is_here() -> None:
    here = ground()
    part = processes_endpoint(here)
    assert isinstance(part, Alone)
    assert part.processes.zone_servers.serves(12)
    assert part.characters is here.storage.world_characters
    part.start()
    await part.stop()
