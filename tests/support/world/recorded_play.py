"""One client that plays on a simulated server, which records its zones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random

from twisted.python.failure import Failure

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.config import Config, load
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from emu.net.scheduler import run
from tests.simulation.content import content_file, scripts_folder
from tests.simulation.network import Network, SimulatedReactor
from tests.simulation.people import messages_of
from tests.simulation.servers import (
    COMMON,
    LOGIN_PORT,
    WORLD_PORT,
    SimulatedServer,
    seeded_chance,
    settings_of,
)
from tests.simulation.virtual_time import Timeline

Play = Callable[[ClientWorldConnection], Awaitable[None]]
HOST = "10.0.0.1"


class RecordedPlay:
    """The server, whose clock is virtual, and its clients."""

    def __init__(self, folder: Path, seed: int = 1, **settings: object) -> None:
        """Make a server whose files are in `folder`."""
        self.timeline = Timeline()
        self._seed = seed
        self._network = Network(self.timeline, Random(seed))
        self.folder = folder / "recordings"
        values: dict[str, object] = {
            **COMMON, "login.listen": f"{HOST}:{LOGIN_PORT}",
            "world.listen": f"{HOST}:{WORLD_PORT}", "world.content": content_file(),
            "world.scripts": scripts_folder(), "world.record": True,
            "world.recordings": self.folder, "database.url": f"sqlite:{folder}/emu.sqlite",
            **settings,
        }  # fmt: skip
        self.config: Config = load(None, settings_of(values))
        self.server = SimulatedServer(self._network, "server", HOST, folder, Random(seed), values)
        self.failures: list[str] = []

    def play(self, seconds: float, *plays: Play, version: int = 546) -> list[Path]:
        """Let clients play for some seconds; return the files of recordings, by name."""
        with seeded_chance(self._seed):
            self.server.start()
            self.timeline.run(self.timeline.passed + 5.0)
            for number, play in enumerate(plays):
                reactor = SimulatedReactor(
                    self._network, f"client {number}", f"10.1.0.{number + 1}", Random(number)
                )
                work = self._one(reactor, number, version, play)
                reactor.callLater(number * 0.5, run, work, self._failed)
            self.timeline.run(self.timeline.passed + seconds)
            self.server.kill()
            self.server.close()
        assert not self.failures, self.failures
        assert not self.server.faults, self.server.faults
        return sorted(self.folder.glob("*.zone"))

    async def _one(self, reactor: SimulatedReactor, number: int, version: int, play: Play) -> None:
        entrance = Entrance(
            Credentials(f"player{number}", "secret"), f"Simone{'abcdef'[number]}", create=True,
            version=version,
        )  # fmt: skip
        client = await enter_world(
            reactor, HOST, LOGIN_PORT, entrance, timeout=20.0, on_event=lambda _event: None,
            messages=messages_of(version),
        )  # fmt: skip
        await play(client)

    def _failed(self, failure: Failure) -> None:
        self.failures.append(failure.getTraceback())
