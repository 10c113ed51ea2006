"""A cluster of real processes while its parts are killed, stopped, drained and cut off.

A login node and two zone nodes run on the PostgreSQL of the tests, or on servers of their own where
those are stopped. Each scene prints what was wanted and what was found. ``--scene`` chooses some.
"""

from __future__ import annotations

import math
import os
import random
import signal
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from twisted.internet.defer import Deferred
from twisted.internet.task import react

from emu.cluster.ports import LEASE
from emu.config import load
from emu.database import ServerUrl
from emu.errors import EmuError
from emu.net.parameters import account_config
from tests.support.database.engines import empty_database
from tests.support.running.whole_server import HOST
from tools.bench.cluster_groups import groups
from tools.bench.cluster_outages import bus, database, drain, logins
from tools.bench.cluster_world import (
    ANTONICA,
    ISLE,
    Bot,
    Cluster,
    Finding,
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
from tools.bench.login_child import CHEAP, make_accounts

BOTS: Final = 20
KILLS, KILL_BOTS = 40, 20
ACCOUNTS: Final = 5000


def rows_of(path: Path) -> dict[str, list[Any]]:
    """Return the rows of all tables of a SQLite file, sorted."""
    with closing(sqlite3.connect(path)) as one:
        tables = one.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
        return {
            name: sorted(map(repr, one.execute(f'SELECT * FROM "{name}"')))
            for (name,) in tables.fetchall()
        }


async def p50_of_one_process(folder: Path, database: Path, note: Findings) -> float:
    """Return the median of entering one process with a SQLite file."""
    cluster = Cluster(folder, ServerUrl("", HOST, "", ""), f"sqlite:{database}")
    bots = [Bot(cluster, number) for number in range(BOTS)]
    os.environ["PYTHONPROFILEIMPORTTIME"] = "1"
    try:
        process = await cluster.start("login", node__name="")
        await waited(lambda: "registered" in process.text, 10)
        drivers = {
            one for one in ("psycopg", "nats") if f"| {one}\n" in process.text.replace(" " * 2, "")
        }
        drivers |= {one for one in ("psycopg", "nats") if f" {one}\n" in process.text}
        note.none("drivers in the default process", sorted(drivers))
        await enter_all(bots)
        await leave_all(bots)
        await sleep(1.5)
        return median(await enter_all(bots, 1))
    finally:
        os.environ.pop("PYTHONPROFILEIMPORTTIME", None)
        await together([bot.drop() for bot in bots])
        cluster.end()


async def enters(note: Findings, folder: Path, where: ServerUrl) -> None:
    """Copy a database, enter, change the zone across nodes, see and speak to each other."""
    first, back, single = (folder / name for name in ("one.sqlite", "two.sqlite", "three.sqlite"))
    make_accounts(first, ACCOUNTS, account_config(load(None, list(CHEAP))).passwords, 1)
    single.write_bytes(first.read_bytes())
    copied = emu("database", "copy", f"sqlite:{first}", str(where))
    note(
        "a copy of 5,000 accounts into PostgreSQL",
        "exit status 0",
        copied.returncode,
        not copied.returncode,
    )
    copied = emu("database", "copy", str(where), f"sqlite:{back}")
    note("and back", "exit status 0", copied.returncode, not copied.returncode)
    one, two = rows_of(first), rows_of(back)
    note.none(
        "tables that differ after both copies", [name for name in one if one[name] != two.get(name)]
    )
    alone = await p50_of_one_process(folder, single, note)
    cluster = Cluster(folder, where)
    bots = [Bot(cluster, number) for number in range(BOTS)]
    try:
        await cluster.start_three()
        await enter_all(bots)
        await leave_all(bots)
        await sleep(1.5)  # Their last saves come first.
        masters(cluster, apart=True)
        p50 = median(await enter_all(bots, 1))
        note(
            "median of entering, one process / cluster",
            "",
            f"{alone * 1000:.0f} / {p50 * 1000:.0f} ms",
            True,
        )
        note.at_most("the same as a ratio", p50 / alone, 1.5, "times")
        note(
            "players of the nodes",
            "10 and 10",
            Counter(bot.node for bot in bots),
            len({bot.node for bot in bots}) == 2,
        )
        await waited(lambda: False, 1.0)
        await see_and_hear(note, bots)
        for turn in range(3):
            goals = [ISLE if (bot.node == "west") else ANTONICA for bot in bots]
            begun = [bot.node for bot in bots]
            times = await together(
                [bot.travel(*goal) for bot, goal in zip(bots, goals, strict=True)]
            )
            note.none(
                f"bots that did not change zone and node ({turn + 1})",
                sum(
                    time is None or bot.node == before
                    for time, bot, before in zip(times, bots, begun, strict=True)
                ),
            )
        await see_and_hear(note, bots)
        note.none("sessions lost", [one for bot in bots for one in bot.closed])
        await leave_all(bots)
    finally:
        cluster.end()


async def see_and_hear(note: Findings, bots: list[Bot]) -> None:
    """Let bots of both nodes ask who is here, and send private and channel messages."""
    names = sorted(bot.name for bot in bots)
    listed = await together([bot.who() for bot in bots])
    note.none("wrong answers to who all", sum(one != names for one in listed))
    mark = f"m{random.randrange(10**9)}"
    east = [bot for bot in bots if bot.node == "east"]
    west = [bot for bot in bots if bot.node == "west"]
    for one, other in zip(east, west, strict=True):
        one.command(f"tell {other.name} {mark} to {other.name}")
        other.command(f"tell {one.name} {mark} to {one.name}")
    heard = await waited(lambda: all(bot.has_heard(f"{mark} to {bot.name}") for bot in bots), 5)
    note.at_most("private messages heard by all at the other node", heard, 5)
    for bot in bots:
        bot.command("joinchannel General")
    await sleep(0.5)
    bots[0].command(f"tellchannel General {mark} for all")
    heard = await waited(lambda: all(bot.has_heard(f"{mark} for all") for bot in bots), 5)
    note.at_most("a channel heard by all at both nodes", heard, 5)


# Kills.


class Liver:
    """A bot that creates, walks and camps for ever, and knows what the server has confirmed."""

    def __init__(self, cluster: Cluster, number: int) -> None:
        self.cluster = cluster
        self.bot = Bot(cluster, number, "life")
        self.number = number
        self.lives = 0
        self.created: list[str] = []
        self.camped: dict[str, tuple[float, float]] = {}
        """Character -> where it was when its camp was confirmed, until it is in again."""
        self.lost_camps: list[str] = []
        self.doubles: list[str] = []
        self.disturbed: list[str] = []
        self.is_over = False
        self.camps = 0

    async def live(self, killed: Callable[[str, float], bool]) -> None:
        """Play until `is_over`; `killed` says whether a node was killed since a moment."""
        while not self.is_over:
            since = reactor.seconds()
            try:
                await self.bot.enter(seconds=4)
            except EmuError:
                await sleep(0.3)
                continue
            bot = self.bot
            if bot.name not in self.created:
                self.created.append(bot.name)
            at = self.camped.pop(bot.name, None)
            if at is not None and math.dist(at, (bot.place.x, bot.place.z)) > 1.0:
                self.lost_camps.append(f"{bot.name}: {at} {bot.place}")
            try:
                await self._play(killed, since)
            except EmuError as error:
                # Until its lease has ended, players are still sent to a node that was killed.
                if not killed(bot.node, since - LEASE):
                    self.disturbed.append(f"{bot.name} at {bot.node}: {error} {bot.closed[-1:]}")

    async def _play(self, killed: Callable[[str, float], bool], since: float) -> None:
        """Walk and camp once; `since` is when the bot began to enter.

        A client whose node was killed since then may take the end of its session for that of its
        camp.
        """
        bot = self.bot
        client = bot.client
        assert client is not None
        for _ in range(random.randint(1, 4)):
            bot.walk()
            await client.arrival(6.0)  # A killed node is noticed by its silence.
        names = await bot.who()
        twice = [name for name, count in Counter(names or ()).items() if count > 1]
        self.doubles += twice
        place = (bot.place.x, bot.place.z)
        await sleep(0.3)
        if await bot.camp() and not killed(bot.node, since):
            self.camped[bot.name] = place
            self.camps += 1
            self.lives += 1
            if self.lives % 2:
                # Somebody new: account and character are created by entering.
                self.bot = Bot(self.cluster, self.number + 1000 * self.lives, "life")
        elif not killed(bot.node, since):
            raise EmuError("the camp was not confirmed")


async def kills(note: Findings, folder: Path, where: ServerUrl) -> None:
    """Kill random nodes while bots create, walk and camp."""
    cluster = Cluster(folder, where)
    times: dict[str, list[float]] = {"login": [], "east": [], "west": []}

    def killed(name: str, since: float) -> bool:
        return any(moment >= since for moment in times.get(name, ()))

    livers = [Liver(cluster, number) for number in range(KILL_BOTS)]
    try:
        await cluster.start_three()
        first = [one.bot for one in livers]
        await enter_all(first)
        await leave_all(first)
        await sleep(1.5)
        masters(cluster, apart=True)
        running = [Deferred.fromCoroutine(one.live(killed)) for one in livers]
        await sleep(5)
        for number in range(KILLS):
            print(f"kill {number + 1} of {KILLS}", file=sys.stderr, flush=True)
            name = random.choice(list(times))
            times[name].append(reactor.seconds())
            cluster.nodes[name].kill()
            await sleep(random.uniform(0, 1))
            await cluster.start(name)
            await sleep(random.uniform(0.5, 4))
        await sleep(12)
        for one in livers:
            one.is_over = True
        for ending in running:
            await ending
        rows = cluster.sql("SELECT name FROM world_characters")
        found, made = (
            Counter(name for (name,) in rows),
            [name for one in livers for name in one.created],
        )
        places = cluster.sql("SELECT name, x, z FROM world_characters")
        stored = {name: (x, z) for name, x, z in places}
        lost = [text for one in livers for text in one.lost_camps]
        lost += [
            f"{name}: {at} {stored.get(name)}"
            for one in livers
            for name, at in one.camped.items()
            if math.dist(at, stored.get(name, (math.inf, 0.0))) > 1.0
        ]
        accounts = Counter(name for (name,) in cluster.sql("SELECT name FROM accounts"))
        note(
            "kills / characters created / camps",
            f"{KILLS} kills",
            f"{KILLS} / {len(made)} / {sum(one.camps for one in livers)}",
            True,
        )
        note.none(
            "created characters that are not there once",
            [name for name in made if found[name] != 1],
        )
        note.none(
            "accounts that are there twice", [name for name, count in accounts.items() if count > 1]
        )
        note.none("confirmed camps that were lost", lost)
        note.none("players listed twice", [text for one in livers for text in one.doubles])
        note.none(
            "bots of other nodes that were disturbed",
            [text for one in livers for text in one.disturbed],
        )
        await leave_all([one.bot for one in livers])
    finally:
        cluster.end()


# A node that stands still.


def snapshot(cluster: Cluster) -> dict[str, Any]:
    """Return all rows of all tables but those in which nodes say that they live."""
    tables = cluster.sql("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
    left_out = {"nodes", "zone_servers", "leases", "client_logs", "world_stats"}
    return {
        name: Counter(repr(row) for row in cluster.sql(f'SELECT * FROM "{name}"'))
        for (name,) in tables if name not in left_out
    }  # fmt: skip


async def zombie(note: Findings, folder: Path, where: ServerUrl) -> None:
    """Stop the node of a player for 62 seconds."""
    cluster = Cluster(folder, where)
    bot, again = Bot(cluster, 1), Bot(cluster, 1)
    try:
        await cluster.start_three()
        await enter_all([bot])
        note("the node of the player", "east", bot.node, bot.node == "east")
        bot.walk()
        begun = reactor.seconds()
        cluster.signal("east", signal.SIGSTOP)
        took = await again.enter_until(40)
        note.at_most("until the player stands elsewhere", took, 20)
        note("where", "west", again.node, again.node == "west")
        assert again.client is not None
        again.walk()
        await again.client.arrival()
        await sleep(max(0.0, 62 - (reactor.seconds() - begun)))
        before = snapshot(cluster)
        cluster.signal("east", signal.SIGCONT)
        east = cluster.nodes["east"]
        over = await waited(lambda: f"{bot.name} left " in east.text, 10)
        note.at_most("until the old session is over", over, 2)
        await sleep(5)
        after = snapshot(cluster)
        changed = {
            name: list((after[name] - before[name]).elements())[:2]
            for name in after
            if after[name] != before[name]
        }
        note.none("tables that the resumed node has changed", changed)
        note("the new session", "stands", "stands" if again.stands else again.closed, again.stands)
        names = await again.who()
        note(
            "who all afterwards",
            "the player once",
            names,
            names is not None and names.count(again.name) == 1,
        )
    finally:
        await together([one.drop() for one in (bot, again)])
        cluster.end()


SCENES: Final[dict[str, Callable[[Findings, Path, ServerUrl], Coroutine[Any, Any, None]]]] = {
    "enters": enters, "kills": kills, "zombie": zombie, "database": database, "bus": bus,
    "drain": drain, "groups": groups, "logins": logins,
}  # fmt: skip


async def run(names: Sequence[str]) -> list[Finding]:
    """Run scenes one after the other."""
    found: list[Finding] = []
    for name in names:
        with tempfile.TemporaryDirectory(prefix="emu-bench-") as folder, empty_database() as where:
            await SCENES[name](Findings(name, found), Path(folder), where)
    return found


def show(
    console: Console,
    _rounds: int,
    *,
    files: bool = False,  # noqa: ARG001
    scenes: Sequence[str] = (),
) -> None:
    """Run the scenes and print what they have found; exit status 1 if anything is wrong."""
    if unknown := set(scenes) - set(SCENES):
        raise SystemExit(f"no scene {', '.join(unknown)}; there are {', '.join(SCENES)}")
    found: list[Finding] = []

    async def main() -> None:
        found.extend(await run(scenes or list(SCENES)))

    def begin(_reactor: Any) -> Deferred[None]:
        return Deferred.fromCoroutine(main())

    try:
        react(begin)
    except SystemExit as end:
        if end.code:
            raise
    table = Table(title="a cluster of real processes while its parts fail")
    for column in ("scene", "what", "wanted", "found"):
        table.add_column(column)
    for one in found:
        table.add_row(
            one.scene, one.what, one.wanted, one.found, style="" if one.is_right else "bold red"
        )
    console.print(table)
    if not all(one.is_right for one in found):
        raise SystemExit(1)
