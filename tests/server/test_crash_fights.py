"""kill -9 of the whole server while players kill creatures, loot them, and die.

Experience, debt, levels and loot are as of at most 0.2 s before, and nothing counts twice.
EMU_CRASH_ROUNDS is the number of servers (2), EMU_CRASH_SEED makes another choice of moments,
EMU_CRASH_FIGHTERS is the number of players (4).

The gains of one player that were stored must be the first ones of those that it has read of, in
their order: a gain, a level or a death that counted twice makes a sum that none of them has.

What a server has sent may be on its way when it is killed, and on a busy machine that is much. So
a server stands still at each random moment (SIGSTOP) while its database is copied: SIGKILL leaves
the same files. Then it goes on until each player has read what the server has sent to it. After
the last moment the server is killed, and the next one starts with that moment's copy.
"""

import os
import random
import shutil
import signal
import string
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.defer import Deferred, gatherResults

from emu.client import Credentials
from emu.client.flow import STEP_TIMEOUT, Entrance
from emu.client.world import WorldClientCore, WorldPhase
from emu.client.world.events import (
    DeathSeen,
    LineShown,
    RevivalOffered,
    WhoListed,
    WorldEvent,
)
from emu.errors import CommandError
from emu.net.client.swarm import own_address
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from emu.rules.experience import usual_needs
from emu.store import Store
from emu.world_stream.ghosts import INFO
from tests.support.patience import patience, slowness
from tests.support.running.whole_server import (
    HOST,
    ServerProcess,
    reactor,
    rows,
    server_process,
    sleep,
    until,
)
from tests.support.world.zone_files import write_zones

ROUNDS = int(os.environ.get("EMU_CRASH_ROUNDS", "2"))
SEED = int(os.environ.get("EMU_CRASH_SEED", "1"))
FIGHTERS = int(os.environ.get("EMU_CRASH_FIGHTERS", "4"))
TOGETHER = 10
"""Players who log in at once: each login checks a password, which takes long on a busy machine."""
SAVED = 0.2
"""Seconds from a change of a fighter to its save."""
LATE = 1.0
"""Seconds that a save may take on a machine with one runnable process for each processor."""
RATE = 9.7
"""Of experience: a level takes two or three kills, and no kill gives a round number."""
DEATH_DEBT = 0.5
MOMENTS = 5
"""Moments of each server at which it is killed."""
FIRST = 6.0
LEAST, MOST = 0.3, 1.5
"""Seconds before the first moment, and between one and the next."""
PARTS = ("", "-wal")
"""Files of a database that a killed server leaves and the next one reads."""
COFFER = 2000000001
"""A shipped loot table: coins, and two things of four."""
MOST_COINS, MOST_THINGS = 261, 2
SETTINGS = {
    "login.auto_create_accounts": True,
    "world.experience_rate": RATE,
    "world.vitality_gain": 0.0,
    "world.debt_recovery": 0.0,
    "world.death_debt": DEATH_DEBT,
}
ZONE = """
[zone]
id = 325
name = "IsleRefuge1"
file = "tutorial_island02"
description = "Isle of Refuge"
safe = [0.0, 0.0, 0.0, 0.0]
replaces = true
"""
CREATURE = """
[[spawn]]
kind = "npc"
name = "{name}"
id = "{name}"
place = [{x}, 0.0, 1.0]
model = 211
level = {level}
attackable = true
respawn = {respawn}
trade = {{ loot = [{loot}] }}
"""
DEAD = 100
"""What the ghosts of the dead have as their missing health."""


def gained(text: str) -> int | None:
    """Return the experience of a line."""
    words = text.split()
    is_gain = text.startswith("You gain ") and text.endswith(" experience!")
    return int(words[2]) if is_gain else None


@dataclass
class Fighter:
    """A player who kills one creature again and again, or is killed by one."""

    name: str
    foe: str
    """The name of whom it strikes."""
    number: int
    """Its address comes from it: servers limit what one address may have."""
    client: ClientWorldConnection | None = None
    gains: list[tuple[float, int]] = field(default_factory=list)
    """When it read of experience, and how much, in this round."""
    deaths: list[float] = field(default_factory=list)
    kills: int = 0
    died: int = 0
    target: int | None = None
    is_dead: bool = False
    planned: list[Any] = field(default_factory=list)
    """The calls of the reactor with its next orders."""
    lists: int = 0
    """How many lists of players it has read: it asks for one to know that it has read all else."""

    @property
    def core(self) -> WorldClientCore:
        assert self.client is not None
        return self.client.core

    async def come(self, server: ServerProcess) -> None:
        self.gains, self.deaths, self.target, self.is_dead = [], [], None, False
        entrance = Entrance(
            Credentials(self.name.lower(), "secret"), self.name, create=True,
            interface=own_address(HOST, self.number),
        )  # fmt: skip
        self.client = await enter_world(
            reactor, HOST, server.login_port, entrance, timeout=patience(STEP_TIMEOUT)
        )
        self.client.on_event = self.take

    def take(self, event: WorldEvent) -> None:
        now = reactor.seconds()
        match event:
            case LineShown(_, text) if (points := gained(text)) is not None:
                self.gains.append((now, points))
            case DeathSeen(killer, dead) if killer == self.core.own_index != dead:
                self.kills += 1
                self.target = None
                self.plan(self.order, "loot")
            case DeathSeen(_, dead) if dead == self.core.own_index:
                self.deaths.append(now)
                self.died += 1
            case WhoListed():
                self.lists += 1
            case RevivalOffered(places):
                # Also when it comes back dead.
                self.is_dead = True
                self.plan(self.revive, places[0][0])

    def plan(self, act: Callable[..., None], value: object) -> None:
        """Do something a little later: nobody reads and answers at once."""
        self.planned = [one for one in self.planned if one.active()]
        self.planned.append(reactor.callLater(0.1, act, value))

    async def stop(self) -> None:
        for one in self.planned:
            if one.active():
                one.cancel()
        assert self.client is not None
        await self.client.stop()

    def revive(self, place: int) -> None:
        self.is_dead, self.target = False, None
        self.order(f"select_junction {place}")

    def order(self, line: str) -> None:
        assert self.client is not None
        self.client.act(partial(self._order, line))

    @staticmethod
    def _order(line: str, core: WorldClientCore) -> None:
        try:
            core.command(line)
        except CommandError:
            return  # it is just not in a zone

    def living(self) -> int | None:
        """Return the ghost of its foe, if that lives."""
        seen = self.core.surroundings
        return None if seen is None else next(
            (
                one for one in seen
                if seen.name(one) == self.foe and seen.part(one, INFO)["hp_remaining"] != DEAD
            ),
            None,
        )  # fmt: skip

    def fight(self, core: WorldClientCore) -> None:
        """Strike its foe whenever that stands."""
        foe = self.living()
        if self.is_dead or foe is None or foe == self.target:
            return
        self.target = foe
        try:
            core.target(foe)
            core.command("autoattack 1")
        except CommandError:
            self.target = None

    @property
    def is_lost(self) -> bool:
        """Whether its session has ended: on a busy machine one side was silent for too long."""
        return self.core.phase is WorldPhase.CLOSED

    async def reads_all(self) -> None:
        """Wait until it has read what the server has sent: messages keep their order."""
        wanted = self.lists + 1
        self.order("who")
        await until(lambda: self.lists >= wanted or self.is_lost, f"the list of {self.name}", 20.0)


@dataclass(frozen=True)
class Read:
    """What a player had read when the server was killed, and what was on its way."""

    gains: tuple[tuple[float, int], ...]
    deaths: tuple[float, ...]
    kills: int

    def stored_gains(self, sure: float) -> set[int]:
        """Return the sums of experience that may be stored; what was read before `sure` is."""
        sums = [0, *accumulate(points for _, points in self.gains)]
        return set(sums[sum(when < sure for when, _ in self.gains) :])

    def stored_debts(self, sure: float) -> set[int]:
        """Return the debts, in thousandths of a percent, that may be stored."""
        first = sum(when < sure for when in self.deaths)
        return {round(number * DEATH_DEBT * 1000) for number in range(first, len(self.deaths) + 1)}


@dataclass(frozen=True)
class Stored:
    """What the database says of a player."""

    total: int
    """All the experience that it ever had."""
    debt: int
    coins: int
    things: int


def stored(database: Path) -> dict[str, Stored]:
    """Read the players, each level within its own points."""
    needs, found = usual_needs(), {}
    for row, name, level, points, debt, coins in rows(
        database,
        "SELECT id, name, level, experience, experience_debt, coins FROM world_characters",
    ):
        assert 0 <= points < needs[level + 1], f"{name} has a level's points twice"
        total = points + sum(needs[one] for one in range(2, level + 1))
        things = rows(
            database,
            "SELECT coalesce(sum(amount), 0) FROM world_ledger WHERE reason = 'looted'"
            " AND what = 'things' AND taker = 'character' AND taker_id = ?", row,
        )  # fmt: skip
        found[name] = Stored(total, debt, coins, things[0][0])
    return found


def check(database: Path, before: dict[str, Stored], read: dict[str, Read], killed: float) -> None:
    """Hold the database to what every player may expect."""
    assert rows(database, "PRAGMA integrity_check") == [("ok",)]
    after = stored(database)
    nothing = Stored(0, 0, 0, 0)
    sure = killed - SAVED - LATE * slowness()
    for name, one in read.items():
        old, new = before.get(name, nothing), after[name]
        assert new.total - old.total in one.stored_gains(sure), (name, old, new, killed, one)
        assert new.debt - old.debt in one.stored_debts(sure), (name, old, new, killed, one)
        assert new.coins <= one.kills * MOST_COINS, "no body gives its coins twice"
        assert new.things <= one.kills * MOST_THINGS
    with Store.create(database) as store:
        audit = store.world.ledger.audit()
    assert (audit.differences, audit.wrong_things) == ((), ()), audit


def stop(server: ServerProcess) -> None:
    """Stop a server, and wait until all its threads stand still."""
    server.process.send_signal(signal.SIGSTOP)
    states = set[str]()
    while states != {"T"}:
        time.sleep(0.001)
        states = {
            (task / "stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
            for task in Path(f"/proc/{server.process.pid}/task").iterdir()
        }


def copy_database(database: Path, copy: Path) -> None:
    """Copy a database that nobody writes to a folder."""
    copy.mkdir()
    for part in PARTS:
        file = database.with_name(database.name + part)
        if file.exists():
            shutil.copyfile(file, copy / file.name)


def put_back(copy: Path, database: Path) -> None:
    """Replace the database of a killed server by a copy."""
    for part in (*PARTS, "-shm"):
        database.with_name(database.name + part).unlink(missing_ok=True)
    for file in copy.iterdir():
        shutil.copyfile(file, database.with_name(file.name))


async def crash(
    server: ServerProcess, database: Path, copy: Path, fighters: list[Fighter]
) -> tuple[float, dict[str, Read]]:
    """Copy what a kill at this moment would leave; return the moment and what players read."""
    stop(server)
    killed = reactor.seconds()
    copy_database(database, copy)
    server.process.send_signal(signal.SIGCONT)
    await each(fighters, lambda one: one.reads_all())
    here = [one for one in fighters if not one.is_lost]
    assert 2 * len(here) > len(fighters), "most sessions are lost"
    return killed, {one.name: Read(tuple(one.gains), tuple(one.deaths), one.kills) for one in here}


def write_zone(folder: Path, fighters: int) -> Path:
    """Write a zone with a creature for each player, and one that kills."""
    creatures = [
        CREATURE.format(name=f"crab {name}", x=number * 0.2, level=1, respawn=1, loot=COFFER)
        for number, name in enumerate(names(fighters))
    ]
    creatures.append(CREATURE.format(name="a giant", x=1.0, level=90, respawn=1, loot=COFFER))
    return write_zones(folder / "zones", isle=ZONE + "".join(creatures))


def names(count: int) -> list[str]:
    letters = string.ascii_lowercase
    return [f"Fighter{letters[one // 26]}{letters[one % 26]}" for one in range(count)]


async def each(fighters: list[Fighter], work: Callable[[Fighter], Awaitable[object]]) -> None:
    async def done(fighter: Fighter) -> None:
        await work(fighter)

    await gatherResults([Deferred.fromCoroutine(done(fighter)) for fighter in fighters])


async def fight(fighters: list[Fighter], is_over: list[bool]) -> None:
    """Let all fight until something is in the list."""
    while not is_over:
        for one in fighters:
            assert one.client is not None
            one.client.act(one.fight)
        await sleep(0.25)


@pytest.mark.slow
async def test_a_crash_counts_no_kill_and_no_death_twice(tmp_path: Path) -> None:
    choice = random.Random(SEED)
    database = tmp_path / "emu.sqlite"
    settings = SETTINGS | {"world.zones": write_zone(tmp_path, FIGHTERS)}
    # One in four strikes what kills it.
    fighters = [
        Fighter(name, "a giant" if number % 4 == 3 else f"crab {name}", number)
        for number, name in enumerate(names(FIGHTERS))
    ]
    before: dict[str, Stored] = {}
    for number in range(ROUNDS):
        copies = [tmp_path / f"copy-{number}-{moment}" for moment in range(MOMENTS)]
        crashes = []
        async with server_process(tmp_path, settings) as server:
            await server.line(r"world Norrath \(1\) registered")
            for first in range(0, FIGHTERS, TOGETHER):
                await each(fighters[first : first + TOGETHER], lambda one: one.come(server))
            is_over: list[bool] = []
            fighting = Deferred.fromCoroutine(fight(fighters, is_over))
            await sleep(FIRST)
            for copy in copies:
                await sleep(choice.uniform(LEAST, MOST))
                crashes.append(await crash(server, database, copy, fighters))
            is_over.append(True)
            await fighting
            server.kill()
            for one in fighters:
                await one.stop()
        put_back(copies[-1], database)
        for copy, (killed, read) in zip(copies, crashes, strict=True):
            check(copy / database.name, before, read, killed)
            shutil.rmtree(copy)
        before = stored(database)
    assert sum(one.kills for one in fighters) >= ROUNDS
    assert sum(one.died for one in fighters) >= ROUNDS
    assert sum(one.total for one in before.values()) > 0
