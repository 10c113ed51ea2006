"""What a process has of the others, by its configuration."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from twisted.internet.task import Clock

from emu.config import parse
from emu.errors import ConfigError, StoreError, Unanswered
from emu.net.cluster.service import Alone, Hub, Member, ProcessContext, processes_endpoint
from emu.net.scheduler import Scheduler, Tasks
from emu.processes.connection import ProcessJoined
from emu.world.content.atlas import read_atlas
from tests.support.world.world_fakes import CharactersInMemory

SECRET = "processes.secret=known to all of them"
HUB = ["processes.listen=127.0.0.1:0", SECRET]
MEMBER = ["processes.hub=127.0.0.1:9", "processes.name=east", "login.enabled=no", SECRET]


def ground(*settings: str) -> ProcessContext:
    storage: Any = SimpleNamespace(
        models=object(),
        world_characters=CharactersInMemory(),
        account_gate=object(),
        memories=object(),
    )
    clock: Any = Clock()
    scheduler = Scheduler(clock)
    log: Any = None
    return ProcessContext(
        parse({}, list(settings)), storage, read_atlas(), lambda: ("192.0.2.1", 9001), clock,
        scheduler, Tasks(log),
    )  # fmt: skip


async def test_alone_everything_is_here() -> None:
    here = ground()
    part = processes_endpoint(here)
    assert isinstance(part, Alone)
    assert part.processes.zone_servers.serves(12)
    assert part.characters is here.storage.world_characters
    part.listen()
    part.start()
    await part.stop()


def test_the_hub_has_the_store_and_says_who_serves_what() -> None:
    part = processes_endpoint(ground(*HUB, "processes.zones=antonica=east"))
    assert isinstance(part, Hub)
    assert part.processes.name == "hub"
    servers = part.processes.zone_servers
    assert (servers.serves(325), servers.serves(12)) == (True, False)
    with pytest.raises(Unanswered, match="server east is not connected"):
        servers.elsewhere(12)
    assert part.port.own.about() == {"host": "192.0.2.1", "port": 9001, "zones": "12=east"}


def test_a_zone_that_there_is_not_is_said_at_the_start() -> None:
    with pytest.raises(ConfigError, match="there is no zone atlantis"):
        processes_endpoint(ground(*HUB, "processes.zones=atlantis=east"))


def test_a_certificate_that_cannot_be_read_is_said_at_the_start(tmp_path: Path) -> None:
    part = processes_endpoint(ground(*HUB, f"processes.certificate={tmp_path / 'none.pem'}"))
    with pytest.raises(StoreError, match=r"none\.pem: cannot be read"):
        part.listen()


class Link:
    """A connection that goes nowhere."""

    def send(self, frame: Any) -> None:
        """Send nothing."""

    def cut_off(self, reason: str) -> None:
        raise AssertionError(reason)


def test_a_member_serves_what_the_hub_says_and_goes_on_with_it_without_the_hub() -> None:
    part = processes_endpoint(ground(*MEMBER))
    assert isinstance(part, Member)
    servers = part.processes.zone_servers
    assert not servers.serves(12), "nothing is known yet"
    with pytest.raises(Unanswered, match="server the hub is not connected"):
        servers.elsewhere(12)
    bus, link = part.link.bus, Link()
    about = {"host": "192.0.2.1", "port": 9001, "zones": "12=east,33=west"}
    bus.joined(link, ProcessJoined("hub", about))
    bus.received(link, ["ready"])
    assert (servers.serves(12), servers.serves(325)) == (True, False)
    assert servers.elsewhere(325) == ("192.0.2.1", 9001)
    bus.ended(link)
    assert servers.serves(12)
    with pytest.raises(Unanswered, match="server hub is not connected"):
        servers.elsewhere(325)
