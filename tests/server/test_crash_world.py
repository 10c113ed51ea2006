"""kill -9 of the whole server while players walk in its world.

No character is lost, each is where it was at most one save interval ago, and all that was kept
before is there. EMU_CRASH_ROUNDS is the number of kills (2), EMU_CRASH_SEED makes another choice of
moments.
"""

import os
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from twisted.internet.defer import Deferred, gatherResults

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from tests.support.running.whole_server import (
    HOST,
    ServerProcess,
    reactor,
    rows,
    server_process,
    sleep,
)
from tests.support.world.world_fakes import store_characters

ROUNDS = int(os.environ.get("EMU_CRASH_ROUNDS", "2"))
SEED = int(os.environ.get("EMU_CRASH_SEED", "1"))
SAVE_SECONDS = 1.0
LATE = 1.5
"""Seconds that a save may take on a busy machine, and its being held back for others."""
SETTINGS = {"login.auto_create_accounts": True, "world.save_seconds": SAVE_SECONDS}
NAMES = ("Aldana", "Borvik", "Cenwyn", "Dorlas")
SPEED = 2.0
SETTLED = 6.0
"""Seconds of walking after which only the regular save can have stored a recent place."""
STEP = 0.5
"""World units between what a client knows and its server."""


@dataclass
class Walker:
    """One player who walks on and on, and where it was when."""

    name: str
    client: ClientWorldConnection | None = None
    track: list[tuple[float, float]] = field(default_factory=list)
    """Seconds on the test's clock, and x there."""

    async def come(self, server: ServerProcess) -> ClientWorldConnection:
        user = self.name.lower()
        entrance = Entrance(Credentials(user, "secret"), self.name, create=True)
        self.client = await enter_world(reactor, HOST, server.login_port, entrance)
        return self.client

    async def walk(self, seconds: float) -> None:
        client = self.client
        assert client is not None
        at = client.core.place
        client.walk_to(at.x + 500.0, at.y, at.z, SPEED)
        until = reactor.seconds() + seconds
        while reactor.seconds() < until:
            self.track.append((reactor.seconds(), client.core.place.x))
            await sleep(0.05)

    def x_since(self, moment: float) -> tuple[float, float]:
        """Return the least and the most x it has had since a moment."""
        seen = [x for when, x in self.track if when >= moment] or [self.track[-1][1]]
        return min(seen), max(seen)


async def each(walkers: list[Walker], work: Callable[[Walker], Awaitable[object]]) -> None:
    async def done(walker: Walker) -> None:
        await work(walker)

    await gatherResults([Deferred.fromCoroutine(done(walker)) for walker in walkers])


def check(database: Path, walkers: list[Walker], killed: float) -> None:
    """Hold the database to what every player may expect."""
    assert rows(database, "PRAGMA integrity_check") == [("ok",)]
    assert rows(database, "PRAGMA foreign_key_check") == []
    found = dict(rows(database, "SELECT name, x FROM world_characters WHERE account_id <> 900"))
    assert sorted(found) == sorted(NAMES)
    for walker in walkers:
        least, most = walker.x_since(killed - SAVE_SECONDS - LATE)
        assert found[walker.name] is not None, f"{walker.name} was never saved"
        assert least - STEP <= found[walker.name] <= most + STEP, walker.name


@pytest.mark.slow
async def test_a_crash_loses_one_save_interval_and_no_character(tmp_path: Path) -> None:
    choice = random.Random(SEED)
    database = tmp_path / "emu.sqlite"
    walkers = [Walker(name) for name in NAMES]
    for number in range(ROUNDS):
        async with server_process(tmp_path, SETTINGS) as server:
            await server.line(r"world Norrath \(1\) registered")
            before = dict(
                rows(database, "SELECT name, x FROM world_characters WHERE account_id <> 900")
            )
            if not number:
                store_characters(database, *(f"Friend{letter}" for letter in "abcdefgh"))
            await each(walkers, lambda one: one.come(server))
            for walker in walkers if number else ():
                assert walker.client is not None
                assert walker.client.core.place.x == pytest.approx(before[walker.name], abs=0.01)
            friend = f"Friend{'abcdefgh'[number % 8]}"
            for walker in walkers:
                assert walker.client is not None
                walker.client.act(lambda core, name=friend: core.command(f"friend {name}"))  # type: ignore[misc]
            seconds = SETTLED + choice.uniform(0.0, SAVE_SECONDS)
            await each(walkers, lambda one, long=seconds: one.walk(long))  # type: ignore[misc]
            server.kill()
            killed = reactor.seconds()
            for walker in walkers:
                assert walker.client is not None
                await walker.client.stop()
        check(database, walkers, killed)
        kept = rows(database, "SELECT count(*) FROM world_relations WHERE name = ?", friend)
        assert kept == [(len(NAMES),)], "what changed was stored within seconds"
