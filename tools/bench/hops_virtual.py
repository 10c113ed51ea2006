"""The five paths of `tools.bench.hops` in virtual time: the same files in every run.

The whole server and its players are in this process, on a simulated network. Only what the server
calls is recorded. The lists of files in docs/contributing/architecture.md are made from it.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from twisted.internet.protocol import ClientFactory, Protocol

from emu.admin.rcon import PacketType, RconPacket
from emu.client import Credentials
from emu.client.flow import Entrance
from emu.net.client.connection import open_client
from emu.net.client.swarm import character_name
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from emu.net.scheduler import run
from tests.simulation.network import HostPort, Network, SimulatedReactor
from tests.simulation.people import messages_of
from tests.simulation.servers import (
    COMMON,
    LOGIN_PORT,
    WORLD_PORT,
    SimulatedServer,
    prepare,
    remove,
    scratch_folder,
    seeded_chance,
)
from tests.simulation.virtual_time import Timeline
from tools.bench.hops_paths import (
    AIMS,
    CALM,
    KICK,
    LOGIN,
    PASSWORD,
    SAY,
    SETTLE,
    STEP_IN,
    STEP_OUT,
    Hops,
    files_of,
    first_read,
    step_in,
    step_out,
    until_sent,
)  # fmt: skip
from tools.bench.hops_players import take_step
from tools.bench.hops_server import Recorder, Turn

VERSION = 546
HOST = "10.0.0.1"
RCON_PORT = 27_015
PREFIX = "Mover"
START = 6.0
"""Virtual seconds in which the server starts."""


class VirtualScene:
    """A server on a simulated network, two players who stand in its world, and a console."""

    def __init__(self, folder: Path) -> None:
        self.timeline = Timeline()
        self.network = Network(self.timeline, random.Random(1))
        self.server = SimulatedServer(
            self.network, "server", HOST, folder, random.Random(2),
            {
                **COMMON, "login.listen": f"{HOST}:{LOGIN_PORT}",
                "world.listen": f"{HOST}:{WORLD_PORT}",
                "database.url": f"sqlite:{folder}/emu.sqlite",
                "rcon.listen": f"{HOST}:{RCON_PORT}", "rcon.password": PASSWORD,
            },
        )  # fmt: skip
        self.turns: list[Turn] = []
        self._recorder = Recorder()
        self._idle: set[frozenset[str]] = set()
        self._clients = 0
        self._coroutines: list[Coroutine[Any, Any, Any]] = []
        self.server.start()
        self._watch()
        self._pass(START)
        self.actor = self._enter(0)
        self._enter(1)
        self._console = self._connect_console()

    # -- time -------------------------------------------------------------------------------------

    def _pass(self, seconds: float) -> None:
        self.timeline.run(self.timeline.passed + seconds)

    def wait_until_calm(self) -> None:
        """Let the last arrival settle, and learn what the server does when nothing happens."""
        self._pass(CALM)
        self.turns.clear()
        self._pass(2 * SETTLE)
        self._idle |= {files_of(turn) for turn in self.turns if not turn["received"]}

    def recorded(self, act: Callable[[], object]) -> list[Turn]:
        """Return the server's turns while something is done, without those of an idle server."""
        self.wait_until_calm()
        self.turns.clear()
        act()
        self._pass(SETTLE)
        turns = self.turns[first_read(self.turns) :]
        return [
            turn for turn in turns
            if turn["received"] or turn["sent"] or files_of(turn) not in self._idle
        ]  # fmt: skip

    # -- the server -------------------------------------------------------------------------------

    def _watch(self) -> None:
        """Record each call of the server's reactor as a turn."""
        reactor = self.server.reactor
        assert reactor is not None
        make, carry = reactor.make, self.network.carry
        recorder = self._recorder

        def recorded(
            function: Callable[..., Any], args: tuple[Any, ...], kw: dict[str, Any]
        ) -> None:
            ports = [
                port for (_, port), one in self.network.udp.items()
                if one.process is reactor and one.protocol is getattr(function, "__self__", None)
                and len(args) == 2
            ]  # fmt: skip
            if getattr(function, "__name__", "") == "receive":
                ports.append(RCON_PORT)
            sys.setprofile(recorder)
            try:
                make(function, args, kw)
            finally:
                sys.setprofile(None)
                for turn in recorder.taken():
                    turn["received"] += ports
                    self.turns.append(turn)

        def sending(data: bytes, source: HostPort, to: HostPort) -> None:
            if source[0] == HOST:
                recorder.note_sent(source[1])
            carry(data, source, to)

        reactor.make = recorded  # type: ignore[method-assign]
        self.network.carry = sending  # type: ignore[method-assign]

    # -- players ----------------------------------------------------------------------------------

    def _client(self) -> SimulatedReactor:
        self._clients += 1
        return SimulatedReactor(
            self.network, f"client {self._clients}", f"10.1.0.{self._clients}",
            random.Random(self._clients),
        )  # fmt: skip

    def _enter(self, number: int) -> ClientWorldConnection:
        """Let a player enter the world, and return its connection."""
        entrance = Entrance(
            Credentials(f"player{number}", PASSWORD), character_name(PREFIX, number), create=True,
            version=VERSION,
        )  # fmt: skip
        entered: list[ClientWorldConnection] = []

        async def enter() -> None:
            entered.append(
                await enter_world(
                    self._client(), HOST, LOGIN_PORT, entrance, messages=messages_of(VERSION)
                )
            )

        self._start(enter())
        self._pass(2 * CALM)
        if not entered:
            raise SystemExit("a player could not enter the world")
        return entered[0]

    def _start(self, work: Coroutine[Any, Any, Any]) -> None:
        def failed(failure: Any) -> None:
            raise SystemExit(str(failure.value))

        self._coroutines.append(work)
        run(work, failed)

    def _log_in(self, number: int) -> None:
        async def log_in() -> None:
            who = Credentials(f"player{number}", PASSWORD)
            client = await open_client(self._client(), HOST, LOGIN_PORT, who, version=VERSION)
            await client.login()
            await client.worlds()
            await client.characters()

        self._start(log_in())

    def _connect_console(self) -> Protocol:
        console = Protocol()
        self._client().connectTCP(HOST, RCON_PORT, ClientFactory.forProtocol(lambda: console))
        self._pass(SETTLE)
        assert console.transport is not None
        console.transport.write(RconPacket(1, PacketType.AUTH, PASSWORD.encode()).encode())
        self._pass(SETTLE)
        return console

    def _command(self, line: str) -> None:
        assert self._console.transport is not None
        self._console.transport.write(RconPacket(7, PacketType.EXECCOMMAND, line.encode()).encode())

    # -- paths ------------------------------------------------------------------------------------

    def round(self, victim: int) -> dict[str, Hops]:
        """Take each path once; `victim` is the number of a player who is not there yet."""
        step = with_handling(self._in_world(lambda: take_step(self.actor)))
        said = self._in_world(lambda: self.actor.act(lambda core: core.command("say hello")))
        self._enter(victim)
        name = character_name(PREFIX, victim)
        kicked = self._in_world(lambda: self._command(f"kick {name}"))
        login = self.recorded(lambda: self._log_in(victim + 100))
        return {
            STEP_IN: step_in(step),
            STEP_OUT: step_out(step),
            SAY: until_sent(said),
            KICK: until_sent(kicked),
            LOGIN: until_sent([turn for turn in login if self._is_of_login(turn)]),
        }

    def _in_world(self, act: Callable[[], object]) -> list[Turn]:
        return [turn for turn in self.recorded(act) if LOGIN_PORT not in turn["received"]]

    def _is_of_login(self, turn: Turn) -> bool:
        """Return whether a turn has no network traffic, or some of the login server."""
        ports = {*turn["received"], *turn["sent"]}
        return not ports or LOGIN_PORT in ports

    def close(self) -> None:
        """End the processes."""
        self.server.kill()
        self.server.close()
        for work in self._coroutines:
            work.close()


def with_handling(turns: list[Turn]) -> list[Turn]:
    """Return turns of which the first has read a datagram and handled what was in it.

    A simulated socket hands over each datagram in a call of its own, and the dispatcher then asks
    for a further one; a real socket is read and handled in one.
    """
    read, handled, *rest = turns
    return [{**read, "calls": [*read["calls"], *handled["calls"]]}, *rest]


@contextmanager
def virtual_scene() -> Iterator[VirtualScene]:
    """Run the server and the players in virtual time."""
    prepare()
    messages_of(VERSION)
    folder = Path(tempfile.mkdtemp(prefix="emu-bench-", dir=scratch_folder()))
    try:
        with seeded_chance(1):
            scene = VirtualScene(folder)
            try:
                yield scene
            finally:
                scene.close()
    finally:
        remove(folder)


def virtual_paths() -> dict[str, Hops]:
    """Return the five paths, after one round that fills the caches."""
    with virtual_scene() as scene:
        scene.round(2)
        found = scene.round(3)
    return {path: found[path] for path in AIMS}
