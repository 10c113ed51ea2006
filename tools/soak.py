"""Players on a bad network for minutes: ``python -m tools.soak --minutes 12 --clients 30``.

A server runs in its own process, and clients reach it through a relay that loses datagrams in both
directions. Each client enters, walks, speaks, changes zones, quits or crashes, and enters again at
once. The report shows how many entries succeeded, which sessions ended unexpectedly, and the
server's memory and CPU for each minute. The exit status is 1 if an entry failed, a client was
disconnected, or the memory grew.
"""

from __future__ import annotations

import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import click
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.task import react

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.client.world import WorldClientCore, WorldPhase
from emu.client.world.events import Heard, Stood
from emu.errors import EmuError
from emu.net.client.swarm import own_address
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from emu.net.scheduler import Scheduler
from emu.store import Store
from tools.bench.login_child import CHEAP
from tools.bench.login_players import PASSWORD
from tools.bench.processes import Child, child
from tools.bench.world_child import PREFIX, crowded, make_characters
from tools.relay import Relay

HOST, BEHIND = "127.0.0.1", "127.0.0.2"
"""Where the server listens, and where clients find it: the relay has the same port there."""
ZONES = ("Antonica", "IsleRefuge1", "SouthFreeport")
SETTINGS = (*CHEAP, f"world.advertise={BEHIND}")
FAULT = re.compile(r"Traceback|\berror\b|\bcritical\b")
MASTERS = 2
"""Every so manieth client is a game master, who may change zones as it likes."""
MASTER_RANK = 100
PATIENCE = 60.0
"""Seconds that a client waits for each step of coming in, and for what it asked for."""
STAY = (20.0, 90.0)
"""Seconds between coming in and leaving, at least and at most."""
CRASHES = 0.3
"""Share of visits that end without a word to the server."""
SETTLED = 0.25
"""Share of the time after which memory is not to grow any more."""
GROWTH = 1.10
"""What memory at the end may be, in medians of the second quarter."""


@dataclass
class Figures:
    """What is counted."""

    tried: int = 0
    succeeded: int = 0
    slowest: float = 0.0
    crashes: int = 0
    quits: int = 0
    zonings: int = 0
    lines: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    """Why clients did not come in."""
    lost: Counter[str] = field(default_factory=Counter)
    """Sessions that ended without being asked to, by what the client was doing."""
    resident: list[int] = field(default_factory=list)
    """Bytes of the server's resident memory at the end of every minute."""
    cpu: list[float] = field(default_factory=list)
    """Seconds of CPU in every minute."""


class Visitor:
    """One player, who comes again and again."""

    def __init__(self, reactor: Any, number: int, login: tuple[str, int], figures: Figures) -> None:
        self._reactor = reactor
        self._scheduler = Scheduler(reactor)
        self._login = login
        self._figures = figures
        self._chance = random.Random(number)
        self._is_master = number % MASTERS == 0
        self._events: list[Any] = []
        self._entrance = Entrance(
            Credentials(f"{PREFIX}{number:05}", PASSWORD), interface=own_address(HOST, number)
        )

    async def live(self, until: float) -> None:
        """Visit the world until the reactor's clock says so."""
        await self._scheduler.pause(self._chance.uniform(0.0, 5.0))
        while self._reactor.seconds() < until:
            client = await self._come()
            if client is None:
                await self._scheduler.pause(1.0)
                continue
            await self._stay(client, min(until, self._reactor.seconds() + self._uniform(STAY)))
            await self._go(client)

    def _uniform(self, span: tuple[float, float]) -> float:
        return self._chance.uniform(*span)

    async def _come(self) -> ClientWorldConnection | None:
        figures = self._figures
        figures.tried += 1
        begun = self._reactor.seconds()
        try:
            client = await enter_world(
                self._reactor, *self._login, self._entrance, timeout=PATIENCE,
                on_event=self._events.append,
            )  # fmt: skip
        except EmuError as error:
            figures.failures[str(error)] += 1
            return None
        figures.succeeded += 1
        figures.slowest = max(figures.slowest, self._reactor.seconds() - begun)
        return client

    async def _stay(self, client: ClientWorldConnection, until: float) -> None:
        chance = self._chance
        doing = "standing"
        while self._reactor.seconds() < until:
            self._events.clear()
            try:
                doing = await self._do(client, chance.random())
                await self._scheduler.pause(chance.uniform(0.5, 3.0))
            except EmuError as error:
                self._figures.lost[f"{doing}: {error}"] += 1
                return
            if client.core.phase is WorldPhase.CLOSED:
                self._figures.lost[f"{doing}: {self._events[-1:]}"] += 1
                return

    async def _do(self, client: ClientWorldConnection, choice: float) -> str:
        if choice < 0.10 and self._is_master:
            await self._change_zone(client)
            return "changing zones"
        if choice < 0.30:
            text = f"I am {client.core.character} at {self._reactor.seconds():.3f}"
            client.act(lambda core: core.command(f"/say {text}"))
            heard = lambda: any(isinstance(one, Heard) and one.text == text for one in self._events)  # noqa: E731
            await client.until(heard, "its own words", timeout=PATIENCE)
            self._figures.lines += 1
            return "speaking"
        here = client.core.place
        x, z = here.x + self._chance.uniform(-15, 15), here.z + self._chance.uniform(-15, 15)
        client.walk_to(x, here.y, z)
        return "walking"

    async def _change_zone(self, client: ClientWorldConnection) -> None:
        zone = self._chance.choice(ZONES)
        client.act(lambda core: core.command(f"/zone {zone}"))
        stood = lambda: any(isinstance(one, Stood) for one in self._events)  # noqa: E731
        await client.until(stood, f"standing in {zone}", timeout=PATIENCE)
        self._figures.zonings += 1

    async def _go(self, client: ClientWorldConnection) -> None:
        """Quit, or crash."""
        if _phase(client) is WorldPhase.STANDING and self._chance.random() >= CRASHES:
            client.act(WorldClientCore.quit)
            try:
                await client.until(
                    lambda: _phase(client) is WorldPhase.CLOSED, "the end", timeout=PATIENCE
                )
                self._figures.quits += 1
            except EmuError as error:
                self._figures.lost[f"quitting: {error}"] += 1
        else:
            self._figures.crashes += 1
        await client.stop()


def _phase(client: ClientWorldConnection) -> WorldPhase:
    return client.core.phase


@contextmanager
def server(folder: Path, clients: int) -> Iterator[Child]:
    """Run a server that has a character for every client."""
    database = folder / "emu.sqlite"
    make_characters(database, clients, crowded)
    with Store.create(database) as store:
        for number in range(0, clients, MASTERS):
            store.world.characters.set_admin_status(number + 1, MASTER_RANK)
    with child("tools.bench.login_server", str(folder), *SETTINGS) as process:
        yield process
    log = (folder / "log").read_text(encoding="utf-8")
    faults = [line for line in log.splitlines() if FAULT.search(line)]
    if faults:
        raise SystemExit(f"{len(faults)} faults in the server's log, the first: {faults[0]}")


def world_port(folder: Path) -> int:
    """Return the port of the world that a server's log names."""
    found = re.search(r"\bworld: .*clients on UDP \S+:(\d+)", (folder / "log").read_text())
    if found is None:
        raise SystemExit("the server has no world")
    return int(found[1])


@dataclass
class Soak:
    """Clients beside a server, for some minutes."""

    child: Child
    ports: tuple[int, int]
    """Of the login server and of the world."""
    minutes: float
    clients: int
    loss: float
    figures: Figures

    async def run(self, reactor: Any) -> None:
        """Let the clients live, and look at the server every minute."""
        scheduler = Scheduler(reactor)  # first: it makes the reactor's clock steady
        relays = [Relay(reactor, (HOST, one), loss=self.loss, seed=one) for one in self.ports]
        login = relays[0].listen(BEHIND)
        relays[1].listen(BEHIND, self.ports[1])
        until = reactor.seconds() + self.minutes * 60.0
        lives = [
            Deferred.fromCoroutine(
                Visitor(reactor, number, (BEHIND, login), self.figures).live(until)
            )
            for number in range(self.clients)
        ]
        await self._watch(scheduler, relays)
        await gatherResults(lives)
        carried, lost = (sum(getattr(one, name) for one in relays) for name in ("carried", "lost"))
        click.echo(f"{lost:,} of {carried:,} datagrams lost ({lost / max(carried, 1):.1%})")
        for relay in relays:
            await relay.stop()

    async def _watch(self, scheduler: Scheduler, relays: list[Relay]) -> None:
        figures = self.figures
        before = self.child.cpu_seconds()
        for _ in range(round(self.minutes)):
            await scheduler.pause(60.0)
            now = self.child.cpu_seconds()
            figures.cpu.append(now - before)
            before = now
            figures.resident.append(self.child.resident_bytes())
            for relay in relays:
                relay.forget_idle()
            show_minute(figures)


def show_minute(figures: Figures) -> None:
    """Print a line of what was found by now."""
    click.echo(
        f"minute {len(figures.resident):2}: {figures.succeeded} of {figures.tried} entries,"
        f" {sum(figures.lost.values())} disconnected, {figures.resident[-1] / 1e6:.1f} MB,"
        f" {figures.cpu[-1] / 60.0:.1%} of a core"
    )


def problems(figures: Figures) -> list[str]:
    """Return what was not as it should be."""
    found = [f"{count} entries failed: {reason}" for reason, count in figures.failures.items()]
    found += [f"{count} disconnected while {doing}" for doing, count in figures.lost.items()]
    minutes = figures.resident
    if len(minutes) >= 4:
        quarter = max(1, round(len(minutes) * SETTLED))
        usual, last = median(minutes[quarter : 2 * quarter]), median(minutes[-quarter:])
        if last > usual * GROWTH:
            found.append(f"memory grew from {usual / 1e6:.1f} to {last / 1e6:.1f} MB")
    return found


@click.command()
@click.option("--minutes", type=click.FloatRange(min=0.1), default=12.0, show_default=True)
@click.option("--clients", type=click.IntRange(min=1), default=30, show_default=True)
@click.option(
    "--loss", type=click.FloatRange(0.0, 0.9), default=0.10, show_default=True,
    help="Share of datagrams that is lost each way.",
)  # fmt: skip
def main(minutes: float, clients: int, loss: float) -> None:
    """Let players live on a bad network, and report what became of them and of the server."""
    figures = Figures()
    with tempfile.TemporaryDirectory(prefix="emu-soak-") as name:
        folder = Path(name)
        with server(folder, clients) as process:
            soak = Soak(
                process, (process.port, world_port(folder)), minutes, clients, loss, figures
            )
            with suppress(SystemExit):  # how `react` returns
                react(lambda reactor: Deferred.fromCoroutine(soak.run(reactor)))
            died = process.process.poll()
    click.echo(
        f"{figures.succeeded} of {figures.tried} entries succeeded, the slowest in"
        f" {figures.slowest:.1f} s; {figures.quits} quits, {figures.crashes} crashes,"
        f" {figures.zonings} changes of zone, {figures.lines} lines spoken and heard"
    )
    found = problems(figures)
    if died is not None:
        found.append(f"the server ended with status {died}")
    for line in found:
        click.echo(line)
    if found:
        raise SystemExit(1)
    click.echo("every entry succeeded, nobody was disconnected, memory stayed flat")


if __name__ == "__main__":
    main()
