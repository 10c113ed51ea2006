"""Scenes of `tools.bench.cluster_faults`: database and bus away, nodes drained, login nodes."""

from __future__ import annotations

import math
import re
import signal
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThread

from emu.client import Credentials
from emu.client.core import LoginPhase
from emu.client.flow import whole_list
from emu.client.swarm import percentile
from emu.config import Address
from emu.database import ServerUrl
from emu.errors import EmuError
from emu.net.client.connection import open_client
from emu.net.client.swarm import Swarm, SwarmPlan, own_address
from tests.support.cluster.engines import nats_broker
from tests.support.database.own_server import OwnServer, own_server
from tests.support.database.relay import Relay
from tests.support.running.whole_server import HOST
from tools.bench.cluster_world import (
    PASSWORD,
    Bot,
    Cluster,
    Findings,
    emu,
    enter_all,
    leave_all,
    masters,
    reactor,
    sleep,
    together,
    waited,
)

BOTS: Final = 20
DRAIN_BOTS: Final = 40
AWAY: Final = 38.0
"""Seconds that bots play in each phase; the database is away for 30 of them."""
REGISTERED: Final = re.compile(r"link: world \S+ \(\d+\) registered")
Fault = tuple[Callable[[], None], Callable[[], None]]
"""Begins and ends a fault."""
STOPPED: Final = (0, -signal.SIGTERM)


# The database away.


class Crowd:
    """Bots that walk and watch each other."""

    def __init__(self, cluster: Cluster, seconds: float) -> None:
        plan = SwarmPlan(
            BOTS, Address(HOST, cluster.port("login", "login")), seconds, "crowd", PASSWORD
        )
        self.swarm = Swarm(reactor, plan)
        self.cluster = cluster
        self.normal = math.inf
        """Seconds of `phase` without a fault."""

    async def phase(self, fault: Callable[[], Coroutine[Any, Any, None]] | None = None) -> float:
        """Let them play for the planned time, with a fault meanwhile; return how late steps are.

        Seconds of the slowest in a hundred.
        """
        self.swarm.figures.delays.clear()
        begun = Deferred.fromCoroutine(fault()) if fault else None
        await self.swarm.stay()
        if begun is not None:
            await begun
        return percentile(self.swarm.figures.delays, 99) or math.inf


async def login_time(cluster: Cluster, number: int, login: str = "login") -> tuple[float, str]:
    """Return how long a login to the lists takes or is refused, and why."""
    bot, begun = Bot(cluster, number), reactor.seconds()
    try:
        client = await open_client(
            reactor, HOST, cluster.port(login, "login"), Credentials(bot.user, PASSWORD),
            timeout=20.0, interface=own_address(HOST, number),
        )  # fmt: skip
        async with client:
            await client.run(whole_list())
            return float(reactor.seconds() - begun), ""
    except EmuError as error:
        return float(reactor.seconds() - begun), str(error)


def unsaved(cluster: Cluster, bots: list[Bot]) -> list[str]:
    """Return the bots whose stored place is not theirs."""
    rows = cluster.sql("SELECT name, x, z FROM world_characters")
    stored = {name: (x, z) for name, x, z in rows}
    return [
        bot.name for bot in bots
        if math.dist(stored.get(bot.name, (1e9, 0)), (bot.place.x, bot.place.z)) > 1.0
    ]  # fmt: skip


async def database(note: Findings, folder: Path, _where: ServerUrl) -> None:
    """Stop, kill, cut off and slow down the database while bots play."""
    with own_server() as engine, Relay(HOST, engine.port) as relay:
        where = engine.where
        cluster = Cluster(folder, where, f"postgresql://emu@{HOST}:{relay.port}/emu")
        walkers = [Bot(cluster, 500 + number) for number in range(3)]
        try:
            await cluster.start_three(world__save_seconds=2)
            await enter_all(walkers)
            await login_time(cluster, 900)
            crowd = Crowd(cluster, AWAY)
            await crowd.swarm.come()
            crowd.normal = await crowd.phase()
            note("movement p99 before", "", f"{crowd.normal * 1000:.0f} ms", True)

            def stop() -> None:
                engine.signal(signal.SIGSTOP)

            def cut() -> None:
                relay.is_silent = True

            def restore() -> None:
                relay.is_silent = False
                relay.reset()

            for name, begin, end in (
                ("stopped", stop, lambda: engine.signal(signal.SIGCONT)),
                ("killed", engine.kill, engine.start),
                ("cut off", cut, restore),
            ):
                await database_away(note, crowd, walkers, name, (begin, end))
            relay.delay = 0.1  # each way
            late = await crowd.phase()
            note.at_most("200 ms: movement p99", late / crowd.normal, 1.2, "times")
            took, why = await login_time(cluster, 900)
            note.at_most(f"200 ms: a login {why}", took, 0.8)
            relay.delay = 0.0
            crowd.swarm.note_lost()
            note.none("sessions lost of the crowd", crowd.swarm.figures.lost)
            note.none("sessions lost", [one for bot in walkers for one in bot.closed])
            await crowd.swarm.leave()
            await kill_meanwhile(note, cluster, engine, walkers)
        finally:
            relay.delay, relay.is_silent = 0.0, False
            engine.signal(signal.SIGCONT)
            cluster.end()


async def database_away(
    note: Findings, crowd: Crowd, walkers: list[Bot], name: str, fault: Fault
) -> None:
    """Take the database away for some time, and ask what it costs the players."""
    cluster = crowd.cluster
    answers: list[tuple[float, str]] = []
    saved: list[float | None] = []

    async def away() -> None:
        begun = reactor.seconds()
        fault[0]()
        for bot in walkers:
            bot.walk(20.0)
        answers.append(await login_time(cluster, 900))
        answers.append(await login_time(cluster, 900))
        await sleep(max(0.0, AWAY - 8 - (reactor.seconds() - begun)))
        await deferToThread(fault[1])
        saved.append(await waited(lambda: not unsaved(cluster, walkers), 20))

    late = await crowd.phase(away)
    note.at_most(f"{name}: movement p99", late / crowd.normal, 1.2, "times")
    slowest = max(took for took, _why in answers)
    note.at_most(f"{name}: a login is answered ({answers[-1][1]})", slowest, 6)
    note.at_most(f"{name}: all are saved after the return", saved[0], 5)


async def kill_meanwhile(
    note: Findings, cluster: Cluster, engine: OwnServer, walkers: list[Bot]
) -> None:
    """Kill a zone node while the database is away; its players' last places must be stored."""
    engine.signal(signal.SIGSTOP)
    for bot in walkers:
        bot.walk(20.0)
        bot.is_leaving = True
    await sleep(12)
    nodes = sorted({bot.node for bot in walkers})
    for name in nodes:
        cluster.nodes[name].kill()
    engine.signal(signal.SIGCONT)
    await together([cluster.start(name) for name in nodes])
    found = await waited(lambda: not unsaved(cluster, walkers), 10)
    note.at_most("a node killed meanwhile: its players are stored after the next start", found, 10)


# The bus away.


async def bus(note: Findings, folder: Path, where: ServerUrl) -> None:
    """Stop and kill the broker of both kinds."""
    with nats_broker() as broker:
        await bus_away(
            note, Cluster(folder / "nats", where), "NATS",
            {"stopped": (broker.pause, broker.resume), "killed": (broker.kill, broker.start)},
            f"nats://{HOST}:{broker.port}",
        )  # fmt: skip
    with own_server() as engine:
        faults = {
            "stopped": (
                lambda: engine.signal(signal.SIGSTOP), lambda: engine.signal(signal.SIGCONT)
            ),
            "killed": (engine.kill, engine.start),
        }  # fmt: skip
        await bus_away(note, Cluster(folder / "postgresql", engine.where), "PostgreSQL", faults, "")


async def bus_away(
    note: Findings, cluster: Cluster, kind: str, faults: dict[str, Fault], url: str
) -> None:
    """Take the bus away for ten seconds, once for each fault."""
    cluster.folder.mkdir()
    bots = [Bot(cluster, number) for number in range(6)]
    try:
        await cluster.start_three(bus__url=url)
        await enter_all(bots)
        await leave_all(bots)
        await sleep(1.5)
        masters(cluster, apart=True)
        await enter_all(bots)
        names = sorted(bot.name for bot in bots)
        for name, (begin, end) in faults.items():
            asker = next(bot for bot in bots if bot.node == "east")
            asked = next(bot for bot in bots if bot.node == "west")
            begin()
            begun, seen = reactor.seconds(), len(asker.events)
            asker.command(f"tell {asked.name} are you there {name}")

            def refused() -> list[str]:
                return [one for one in asker.lines(seen) if asked.name in one or "deliver" in one]  # noqa: B023

            took = await waited(refused, 10)
            line = (refused() or asker.lines(seen) or [""])[-1]
            note.at_most(f"{kind} {name}: a private message is refused ({line})", took, 5)
            for bot in bots:
                bot.walk()
            # One leaves meanwhile: a ghost, if the other node does not learn of it.
            await bots[-1].leave()
            await sleep(max(0.0, 10 - (reactor.seconds() - begun)))
            await deferToThread(end)
            back = reactor.seconds()
            left, last = bots[:-1], None
            while reactor.seconds() - back < 15:
                last = await together([bot.who() for bot in left])
                if all(one == names[:-1] for one in last):
                    break
                await sleep(0.2)
            is_same = last is not None and all(one == names[:-1] for one in last)
            note.at_most(
                f"{kind} {name}: who all is the same at all nodes",
                reactor.seconds() - back if is_same else None,
                5,
            )
            if not is_same:
                note(f"{kind} {name}: who all", str(names[:-1]), last, False)
            await bots[-1].enter_until(20)
            await sleep(1)
            listed = await together([bot.who() for bot in bots])
            note.none(
                f"{kind} {name}: wrong lists when the one is back",
                [one for one in listed if one != names],
            )
        note.none(f"{kind}: sessions lost", [one for bot in bots[:-1] for one in bot.closed])
        await leave_all(bots)
    finally:
        cluster.end()


# Drain.


async def drain(note: Findings, folder: Path, where: ServerUrl) -> None:
    """Drain and restart every node in turn while bots walk."""
    cluster = Cluster(folder, where)
    bots = [Bot(cluster, number) for number in range(DRAIN_BOTS)]
    is_over: list[bool] = []
    jumps: list[str] = []

    async def stroll(bot: Bot) -> None:
        while not is_over:
            if not bot.stands:
                await sleep(0.05)
                continue
            bot.walk()
            last, session = bot.place, bot.client.core.session if bot.client else None
            while bot.stands and bot.client and bot.client.core.walker.goal is not None:
                last = bot.place
                await sleep(0.05)
            if not await waited(lambda: bot.stands or bot.closed, 15) and bot.closed:
                return
            if bot.client and bot.client.core.session is not session:
                way = math.dist((last.x, last.z), (bot.place.x, bot.place.z))
                if way > 5.0:
                    jumps.append(f"{bot.name}: {way:.1f} units")
            await sleep(0.2)

    try:
        await cluster.start_three(node__drain_wait=30)
        await enter_all(bots, 10)
        running = [Deferred.fromCoroutine(stroll(bot)) for bot in bots]
        await sleep(3)
        for name in ("east", "west", "login", "east"):
            here = sum(bot.node == name for bot in bots)
            begun = reactor.seconds()
            status = await cluster.stop(name)
            note(
                f"{name} with {here} players: exit status",
                "0, or the signal",
                status,
                status in STOPPED,
            )
            note(f"{name}: seconds of the stop", "", float(reactor.seconds() - begun), True)
            await cluster.start(name)
            await sleep(3)
        is_over.append(True)
        for one in running:
            await one
        note.none("sessions lost", [one for bot in bots for one in bot.closed])
        note.none("bots further than 5 units from where they stood", jumps)
        pauses = [one for bot in bots for one in bot.pauses]
        note("changes of the node", "", len(pauses), bool(pauses))
        note.at_most("longest time until a bot stands again", max(pauses, default=None), 10)
        await waited(lambda: all(bot.stands for bot in bots), 10)
        names = await bots[0].who()
        note(
            "who all",
            f"{DRAIN_BOTS} bots",
            len(names or ()),
            names == sorted(bot.name for bot in bots),
        )
        await leave_all(bots)
    finally:
        cluster.end()


# Several login nodes.


async def logins(note: Findings, folder: Path, where: ServerUrl) -> None:
    """Log in at two login nodes, ban, guess, and kill the node that has the world's link."""
    cluster = Cluster(folder, where)
    for name in ("login", "other"):
        await cluster.start(name, node__capacity=0)
    await cluster.start("east", login__enabled=False)
    try:
        await waited(lambda: any("registered" in one.text for one in cluster.nodes.values()), 20)
        await two_logins(note, cluster)
        await ban(note, cluster)
        await guesses(note, cluster)
        await holder_killed(note, cluster)
    finally:
        cluster.end()


async def logged_in(cluster: Cluster, login: str, number: int, password: str = PASSWORD) -> Any:
    """Return a client that is logged in. Raises `EmuError`."""
    credentials = Credentials(Bot(cluster, number).user, password)
    client = await open_client(
        reactor, HOST, cluster.port(login, "login"), credentials,
        interface=own_address(HOST, number),
    )  # fmt: skip
    try:
        await client.run(whole_list())
    except BaseException:
        await client.stop()
        raise
    return client


def is_closed(client: Any) -> bool:
    """Whether a login session has ended."""
    return bool(client.core.phase is LoginPhase.CLOSED)


async def two_logins(note: Findings, cluster: Cluster) -> None:
    """One account at two nodes: the first session ends."""
    first = await logged_in(cluster, "login", 1)
    second = await logged_in(cluster, "other", 1)
    note.at_most(
        "one account at two nodes: the first ends", await waited(lambda: is_closed(first), 10), 1
    )
    note(
        "the second", "goes on", "closed" if is_closed(second) else "goes on", not is_closed(second)
    )
    for one in (first, second):
        await one.stop()


async def ban(note: Findings, cluster: Cluster) -> None:
    """A ban ends the sessions at all nodes."""
    clients = [
        await logged_in(cluster, name, 10 + number)
        for number, name in enumerate(("login", "other"))
    ]
    for number in (10, 11):
        done = emu(
            "--config",
            str(cluster.folder / "login" / "emu.toml"),
            "account",
            "ban",
            Bot(cluster, number).user,
        )
        if done.returncode:
            note("account ban", "exit status 0", done.stderr, False)
    for name in ("login", "other"):
        for number in (10, 11):
            took, why = await login_time(cluster, number, name)
            note(
                f"a banned account at {name}",
                "refused",
                why or f"let in after {took:.1f} s",
                "denied" in why,
            )
    for one in clients:
        await one.stop()


async def holder_killed(note: Findings, cluster: Cluster) -> None:
    """Kill the login node that the world is linked to."""
    nodes = ("login", "other")
    holder = next(name for name in nodes if REGISTERED.search(cluster.nodes[name].text))
    left = "other" if holder == "login" else "login"
    cluster.nodes[holder].kill()
    text = cluster.nodes[left].text
    log = cluster.nodes[left]
    back = await waited(lambda: REGISTERED.search(log.text, len(text)), 20)
    note.at_most(f"{holder} with the link killed: until the world is listed again", back, 10)
    bot = Bot(cluster, 21)
    took = await bot.enter_until(20, left)
    note.at_most("a player enters through the other", took, 10)
    await bot.drop()
    await cluster.start(holder)


async def guesses(note: Findings, cluster: Cluster) -> None:
    """Count the wrong passwords that are checked, at one node and at two."""
    counts = []
    for number, names in ((30, ("login",)), (31, ("login", "other"))):
        await (await logged_in(cluster, "login", number)).stop()
        reasons: Counter[str] = Counter()
        for turn in range(60):
            try:
                name = names[turn % len(names)]
                await (await logged_in(cluster, name, number, "wrong-password")).stop()
            except EmuError as error:
                reasons["checked" if "bad user name" in str(error) else "refused"] += 1
            # As long as a check takes: the passwords here cost next to nothing.
            await sleep(0.05)
        counts.append(reasons["checked"])
    note("60 wrong passwords: checked at one node / at two", "", f"{counts[0]} / {counts[1]}", True)
    note.at_most("as a ratio", counts[1] / counts[0], 1.2, "times")
