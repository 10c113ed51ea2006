"""Real processes of a cluster for `tools.bench.cluster_faults`, with config files, and bots."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from twisted.internet import reactor as _reactor
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.task import deferLater

from emu.client import Credentials
from emu.client.events import Closed
from emu.client.flow import Entrance
from emu.client.world import Place, WorldPhase
from emu.client.world.events import (
    Heard,
    LineShown,
    Stood,
    WhoListed,
    WorldEvent,
    ZoneLeft,
)
from emu.database import ServerUrl
from emu.errors import EmuError
from emu.net.client.swarm import character_name, own_address
from emu.net.client.world_connection import ClientWorldConnection, enter_world, world_messages
from emu.versions import CLIENT_2006
from tests.support.database.engines import run
from tests.support.running.whole_server import HOST, PROGRAMS, ServerProcess
from tools.ports import free_port

reactor: Any = _reactor
PASSWORD: Final = "bench-cluster"
ANTONICA: Final = ("antonica", "Antonica")
ISLE: Final = ("IsleRefuge1", "Isle of Refuge")
"""Two zones of the shipped world: name, and name for people."""
COMMON: Final[dict[str, object]] = {
    "login.password_memory_cost": 64, "login.password_iterations": 1, "login.password_memory": 0,
    "login.auto_create_accounts": True, "login.logins_at_once": 10_000,
    "login.logins_per_minute": 100_000, "world.entries_at_once": 10_000,
    "world.entries_per_minute": 100_000, "world.creations_per_hour": 10_000,
    "world.camp_seconds": 1,
}  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One thing that a scene has to show."""

    scene: str
    what: str
    wanted: str
    found: str
    is_right: bool


class Findings:
    """Collects what a scene has found."""

    def __init__(self, scene: str, found: list[Finding]) -> None:
        self._scene = scene
        self._found = found

    def __call__(self, what: str, wanted: str, found: object, is_right: bool) -> None:
        """Note one thing."""
        text = f"{found:.2f}" if isinstance(found, float) else str(found)
        self._found.append(Finding(self._scene, what, wanted, text, is_right))
        print(f"{self._scene}: {what}: {text} (wanted: {wanted})", file=sys.stderr, flush=True)

    def at_most(self, what: str, found: float | None, most: float, unit: str = "s") -> None:
        """Note a figure with a limit; None is one that never came."""
        right = found is not None and found <= most
        self(what, f"at most {most:g} {unit}", "never" if found is None else found, right)

    def none(self, what: str, found: object) -> None:
        """Note what should be 0 or empty."""
        shown = f"{len(found)}: {found[:3]}" if isinstance(found, list) and found else found
        self(what, "none", shown or "none", not found)


def emu(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command line of the program."""
    return subprocess.run(
        [PROGRAMS / "emu", *words], capture_output=True, text=True, check=False, timeout=300
    )


def masters(cluster: Cluster, *, apart: bool) -> None:
    """Let all characters use every command, and put every second one into another zone."""
    cluster.sql("UPDATE world_characters SET admin_status = 100")
    if apart:
        cluster.sql("UPDATE world_characters SET zone_id = 12 WHERE id % 2 = 0")


async def sleep(seconds: float) -> None:
    """Let the reactor work for a while."""
    await deferLater(reactor, seconds)


async def waited(condition: Callable[[], object], seconds: float) -> float | None:
    """Wait for a condition; return the seconds until it held, None if it did not in time."""
    begun = reactor.seconds()
    while not condition():
        if reactor.seconds() - begun > seconds:
            return None
        await sleep(0.01)
    return float(reactor.seconds() - begun)


async def together(work: Sequence[Any]) -> list[Any]:
    """Run coroutines at the same time, and return their results."""
    return list(await gatherResults([Deferred.fromCoroutine(one) for one in work]))


def toml(settings: dict[str, object]) -> str:
    """Return a config file: a table for each first word of the settings' names."""
    tables: dict[str, list[str]] = {}
    for name, value in settings.items():
        table, _, key = name.partition(".")
        tables.setdefault(table, []).append(f"{key} = {json.dumps(value)}")
    return "\n".join(f"[{table}]\n" + "\n".join(lines) for table, lines in tables.items()) + "\n"


@dataclass
class Cluster:
    """The processes of a world, each with a folder and a config file."""

    folder: Path
    where: ServerUrl
    """The database, as this program reaches it."""
    url: str = ""
    """The database as the nodes reach it; "" is the same way."""
    nodes: dict[str, ServerProcess] = field(default_factory=dict)
    settings: dict[str, dict[str, object]] = field(default_factory=dict)
    ended: list[int] = field(default_factory=list)

    async def start(self, name: str, **settings: object) -> ServerProcess:
        """Start a node, for the first time or again; return when it is ready."""
        known = self.settings.get(name)
        if known is None:
            known = self.settings[name] = {
                **COMMON, "database.url": self.url or str(self.where),
                "database.node_file": "node.sqlite", "node.name": name,
                "login.listen": f"{HOST}:{free_port()}", "world.listen": f"{HOST}:{free_port()}",
            }  # fmt: skip
        known.update({key.replace("__", "."): value for key, value in settings.items()})
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        (folder / "emu.toml").write_text(toml(known))
        process = ServerProcess(folder, [], ["--config", str(folder / "emu.toml")])
        self.nodes[name] = process
        await self.ready(name)
        return process

    async def ready(self, name: str) -> None:
        """Wait until a node serves. Raises `SystemExit` if it does not."""
        process = self.nodes[name]
        found = await waited(
            lambda: "server: ready" in process.text or process.process.poll() is not None, 30
        )
        if found is None or process.process.poll() is not None:
            raise SystemExit(f"{name} did not start:\n{process.text[-2000:]}")

    async def start_three(self, **settings: object) -> None:
        """Start a login node and two zone nodes, of which each prefers one zone."""
        await self.start("login", node__capacity=0, **settings)
        await together(
            [
                self.start("east", login__enabled=False, node__zones=["IsleRefuge1"], **settings),
                self.start("west", login__enabled=False, node__zones=["antonica"], **settings),
            ]
        )
        login = self.nodes["login"]
        if await waited(lambda: "registered" in login.text, 30) is None:
            raise SystemExit(f"the world did not register:\n{login.text[-2000:]}")

    def port(self, name: str, table: str = "world") -> int:
        """Return a port of a node."""
        return int(str(self.settings[name][f"{table}.listen"]).rpartition(":")[2])

    def node_at(self, port: int) -> str:
        """Return the name of the node with a world's port."""
        return next((name for name in self.settings if self.port(name) == port), str(port))

    def sql(self, text: str) -> list[Any]:
        """Ask the database."""
        return run(self.where, text)

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to a node."""
        self.nodes[name].process.send_signal(number)

    async def stop(self, name: str, seconds: float = 60) -> int | None:
        """Stop a node in order; return its exit status, None if it does not end in time."""
        process = self.nodes[name].process
        process.send_signal(signal.SIGTERM)
        found = await waited(lambda: process.poll() is not None, seconds)
        return None if found is None else process.returncode

    def end(self) -> None:
        """Kill what is left."""
        for process in self.nodes.values():
            if process.process.poll() is None:
                os.kill(process.process.pid, signal.SIGCONT)
                process.kill()


class Bot:
    """A client of the cluster that knows what it has received, and why its sessions ended."""

    messages: Any = None

    def __init__(self, cluster: Cluster, number: int, prefix: str = "bot") -> None:
        self.cluster = cluster
        self.number = number
        self.user = f"{prefix}{number:05}"
        self.name = character_name(prefix, number)
        self.client: ClientWorldConnection | None = None
        self.events: list[WorldEvent] = []
        self.closed: list[str] = []
        """Why sessions ended that the bot did not end."""
        self.left_at = 0.0
        self.pauses: list[float] = []
        """Seconds of each change of the zone."""
        self.is_leaving = False

    async def enter(self, login: str = "login", seconds: float = 10) -> float:
        """Log in and stand; return the seconds. Raises `EmuError`."""
        await self.drop()
        self.is_leaving = False
        begun = reactor.seconds()
        entrance = Entrance(
            Credentials(self.user, PASSWORD), self.name, create=True,
            interface=own_address(HOST, self.number), reads_ghosts=False,
        )  # fmt: skip
        Bot.messages = Bot.messages or world_messages(CLIENT_2006)
        self.client = await enter_world(
            reactor, HOST, self.cluster.port(login, "login"), entrance,
            timeout=seconds, on_event=self._event, messages=Bot.messages,
        )  # fmt: skip
        return float(reactor.seconds() - begun)

    async def enter_until(self, seconds: float, login: str = "login") -> float | None:
        """Try to enter until the bot stands; return the seconds, None if it never does."""
        begun = reactor.seconds()
        while reactor.seconds() - begun < seconds:
            try:
                await self.enter(login, seconds=4)
            except EmuError:
                await sleep(0.3)
            else:
                return float(reactor.seconds() - begun)
        return None

    def _event(self, event: WorldEvent) -> None:
        self.events.append(event)
        if isinstance(event, ZoneLeft):
            self.left_at = reactor.seconds()
        elif isinstance(event, Stood) and self.left_at:
            self.pauses.append(reactor.seconds() - self.left_at)
            self.left_at = 0.0
        elif isinstance(event, Closed) and not self.is_leaving:
            self.closed.append(event.reason)

    @property
    def stands(self) -> bool:
        """Whether the character is in a zone."""
        return self.client is not None and self.client.core.phase is WorldPhase.STANDING

    @property
    def node(self) -> str:
        """The node of the session."""
        assert self.client is not None
        return self.cluster.node_at(self.client.core.handoff.port)

    @property
    def place(self) -> Place:
        """Where the client is."""
        assert self.client is not None
        return self.client.core.place

    def command(self, line: str) -> None:
        """Send a command. Raises `CommandError`."""
        assert self.client is not None
        self.client.command(line)

    def walk(self, radius: float = 6.0) -> None:
        """Start to walk to a place near."""
        assert self.client is not None
        at = self.place
        aside, ahead = (random.uniform(-radius, radius) for _ in range(2))
        self.client.walk_to(at.x + aside, at.y, at.z + ahead)

    async def travel(self, zone: str, zone_name: str, seconds: float = 20) -> float | None:
        """Go to a zone; return the seconds."""
        self.command(f"zone {zone}")

        def is_there() -> bool:
            assert self.client is not None
            there = self.client.core.zone
            return self.stands and there is not None and there.description == zone_name

        return await waited(is_there, seconds)

    async def who(self) -> list[str] | None:
        """Return who is in the world, in order; None without an answer in 5 seconds."""
        seen = len(self.events)
        self.command("who all")

        def answers() -> list[WhoListed]:
            return [one for one in self.events[seen:] if isinstance(one, WhoListed)]

        if await waited(answers, 5) is None:
            return None
        return sorted(name for name, _level, _zone in answers()[0].players)

    def has_heard(self, text: str) -> bool:
        """Whether a text was heard."""
        return any(isinstance(one, Heard) and text in one.text for one in self.events)

    def lines(self, since: int = 0) -> list[str]:
        """Return the lines of plain text."""
        return [one.text for one in self.events[since:] if isinstance(one, LineShown)]

    async def camp(self) -> bool:
        """Camp; return whether the session has ended after it. Raises `CommandError`.

        The client says the same of a session that was lost during the countdown.
        """
        assert self.client is not None
        client, self.is_leaving = self.client, True
        client.act(lambda core: core.camp())
        await waited(lambda: client.core.phase is WorldPhase.CLOSED, 10)
        return any(isinstance(one, Closed) and "camped" in one.reason for one in self.events[-20:])

    async def leave(self) -> None:
        """Quit."""
        self.is_leaving = True
        if self.client is not None:
            await self.client.leave()

    async def drop(self) -> None:
        """Close the socket without a word."""
        self.is_leaving = True
        if self.client is not None:
            await self.client.stop()


async def enter_all(bots: Sequence[Bot], at_once: int = 5) -> list[float]:
    """Let bots enter, a few at a time; return the seconds of each."""
    found: list[float] = []
    for first in range(0, len(bots), at_once):
        found += await together([bot.enter() for bot in bots[first : first + at_once]])
    return found


async def leave_all(bots: Sequence[Bot]) -> None:
    """Let bots quit."""
    await together([bot.leave() for bot in bots])
