"""kill -9 of the whole server while players kill creatures, loot them, and die.

Experience, debt, levels and loot are as of at most 0.2 s before, and nothing counts twice.
EMU_CRASH_ROUNDS is the number of kills (2), EMU_CRASH_SEED makes another choice of moments,
EMU_CRASH_FIGHTERS is the number of players (4).

The gains of one player that were stored must be the first ones of those that it has read of, in
their order: a gain, a level or a death that counted twice makes a sum that none of them has.
"""

import os
import random
import string
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from pathlib import Path

import pytest
from twisted.internet.defer import Deferred, gatherResults

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.client.world import WorldClientCore
from emu.client.world.events import DeathSeen, LineShown, RevivalOffered, WorldEvent
from emu.errors import CommandError
from emu.net.client.swarm import own_address
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from emu.rules.experience import usual_needs
from emu.store import Store
from emu.world_stream.ghosts import INFO
from tests.support.running.clients import stop_drained
from tests.support.running.whole_server import (
    HOST,
    ServerProcess,
    reactor,
    rows,
    server_process,
    sleep,
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
"""Seconds that a save may take on a busy machine."""
RATE = 9.7
"""Of experience: a level takes two or three kills, and no kill gives a round number."""
DEATH_DEBT = 0.5
FIRST, MORE = 9.0, 4.0
"""Seconds of a round: these, and by chance up to so many more."""
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
        self.client = await enter_world(reactor, HOST, server.login_port, entrance)
        self.client.on_event = self.take

    def take(self, event: WorldEvent) -> None:
        now = reactor.seconds()
        match event:
            case LineShown(_, text) if (points := gained(text)) is not None:
                self.gains.append((now, points))
            case DeathSeen(killer, dead) if killer == self.core.own_index != dead:
                self.kills += 1
                self.target = None
                reactor.callLater(0.1, self.order, "loot")
            case DeathSeen(_, dead) if dead == self.core.own_index:
                self.deaths.append(now)
                self.died += 1
            case RevivalOffered(places):
                # Also when it comes back dead.
                self.is_dead = True
                reactor.callLater(0.1, self.revive, places[0][0])

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

    async def fights(self, seconds: float) -> None:
        end = reactor.seconds() + seconds
        while reactor.seconds() < end:
            assert self.client is not None
            self.client.act(self.fight)
            await sleep(0.25)

    # -- what must be stored ----------------------------------------------------------------------

    def stored_gains(self, killed: float) -> set[int]:
        """Return the sums of experience that this round may have left behind."""
        sums = [0, *accumulate(points for _, points in self.gains)]
        sure = sum(when < killed - SAVED - LATE for when, _ in self.gains)
        return set(sums[sure:])

    def stored_debts(self, killed: float) -> set[int]:
        """Return the debts, in thousandths of a percent, that this round may have added."""
        sure = sum(when < killed - SAVED - LATE for when in self.deaths)
        return {round(number * DEATH_DEBT * 1000) for number in range(sure, len(self.deaths) + 1)}


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


def check(
    database: Path, before: dict[str, Stored], fighters: list[Fighter], killed: float
) -> None:
    """Hold the database to what every player may expect."""
    assert rows(database, "PRAGMA integrity_check") == [("ok",)]
    after = stored(database)
    nothing = Stored(0, 0, 0, 0)
    for one in fighters:
        old, new = before.get(one.name, nothing), after[one.name]
        assert new.total - old.total in one.stored_gains(killed), one
        assert new.debt - old.debt in one.stored_debts(killed), one
        assert new.coins <= one.kills * MOST_COINS, "no body gives its coins twice"
        assert new.things <= one.kills * MOST_THINGS
    with Store.create(database) as store:
        audit = store.world.ledger.audit()
    assert (audit.differences, audit.wrong_things) == ((), ()), audit


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
    for _ in range(ROUNDS):
        async with server_process(tmp_path, settings) as server:
            await server.line(r"world Norrath \(1\) registered")
            for first in range(0, FIGHTERS, TOGETHER):
                await each(fighters[first : first + TOGETHER], lambda one: one.come(server))
            seconds = FIRST + choice.uniform(0.0, MORE)
            await each(fighters, lambda one: one.fights(seconds))  # noqa: B023
            server.kill()
            killed = reactor.seconds()
            for one in fighters:
                assert one.client is not None
                await stop_drained(one.client)
        check(database, before, fighters, killed)
        before = stored(database)
    assert sum(one.kills for one in fighters) >= ROUNDS
    assert sum(one.died for one in fighters) >= ROUNDS
    assert sum(one.total for one in before.values()) > 0
