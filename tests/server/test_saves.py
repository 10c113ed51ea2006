"""What players have is stored whatever happens to the database, and a stop keeps its time."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import stat
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.errors import EmuError
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from emu.store.spool import read_spool, spool_path
from tests.support.patience import patience
from tests.support.running.emu_process import emu
from tests.support.running.whole_server import (
    HOST,
    ServerProcess,
    harness,
    reactor,
    rows,
    server_process,
    sleep,
    until,
)
from tests.support.world.world_fakes import store_characters

SETTINGS = {"login.auto_create_accounts": True, "world.save_seconds": 3600}
STOP = 5.0
"""Seconds that a stop may take, with the process' end."""


def in_database(folder: Path, query: str) -> list[tuple[object, ...]]:
    return rows(folder / "emu.sqlite", query)


def friends(folder: Path) -> list[object]:
    query = "SELECT name FROM world_relations ORDER BY name"
    return [name for (name,) in in_database(folder, query)]


def place(folder: Path) -> object:
    ((x,),) = in_database(folder, "SELECT x FROM world_characters WHERE x IS NOT NULL")
    return x


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock the database as another program does."""
    with closing(sqlite3.connect(folder / "emu.sqlite", isolation_level=None)) as other:
        other.execute("PRAGMA busy_timeout = 5000")
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.execute("ROLLBACK")


@contextmanager
def full_disk(server: ServerProcess) -> Iterator[None]:
    """Let no file of the server grow: each write behind its first bytes fails."""
    pid = server.process.pid
    _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, hard))
    yield
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))


async def walk_in(server: ServerProcess, name: str = "Aldana") -> ClientWorldConnection:
    entrance = Entrance(Credentials(name.lower(), "secret"), name, create=True)
    return await enter_world(reactor, HOST, server.login_port, entrance)


def types(client: ClientWorldConnection, line: str) -> None:
    client.act(lambda core: core.command(line))


async def step_aside(client: ClientWorldConnection) -> float:
    """Walk a little, and return where the server has to know the player is, as its x."""
    at = client.core.place
    client.walk_to(at.x + 3.0, at.y, at.z, 6.0)
    await client.pause(1.5)
    return float(client.core.place.x)


async def quits(client: ClientWorldConnection) -> None:
    client.act(lambda core: core.quit())
    await sleep(0.3)
    await client.stop()


@asynccontextmanager
async def playing(folder: Path) -> AsyncIterator[tuple[ServerProcess, ClientWorldConnection]]:
    """A server and a player whose first saves are done."""
    async with server_process(folder, SETTINGS) as server:
        await server.line(r"world Norrath \(1\) registered")
        store_characters(folder / "emu.sqlite", "Borvik", "Cestra")
        client = await walk_in(server)
        await sleep(3.0)
        try:
            yield server, client
        finally:
            await client.stop()


async def test_nothing_is_read_or_written_in_the_reactors_thread(tmp_path: Path) -> None:
    settings = {"login.auto_create_accounts": True, "web.listen": f"{HOST}:0"}
    async with harness(tmp_path, settings) as server:
        await server.world_registered()
        found = list[str]()

        def watch(statement: str) -> None:
            if threading.current_thread() is threading.main_thread():
                found.append(statement)

        storage: Any = server.service.server.storage
        for store in (storage.direct, *storage._seen):
            store.sqlite.connection.set_trace_callback(watch)
        for _ in range(2):
            client = await enter_world(
                server.clock, HOST, server.login_port,
                Entrance(Credentials("aldana", "secret"), "Aldana", create=True),
            )  # fmt: skip
            types(client, "joinchannel Crafts")
            await client.leave()
        assert not await server.lets_in("aldana", "wrong")
        assert await server.lets_in("aldana", "secret")
        await until(lambda: server.rows("SELECT 1 FROM world_memberships"), "the channel")
        for store in (storage.direct, *storage._seen):
            store.sqlite.connection.set_trace_callback(None)
    assert found == []


async def test_who_waits_under_a_lock_is_answered_and_not_changed_later(tmp_path: Path) -> None:
    settings = {"login.auto_create_accounts": True, "database.lock_wait": 0.5}
    async with harness(tmp_path, settings, accounts={"bob": "right"}) as server:
        await server.world_registered()
        entrance = Entrance(Credentials("bob", "right"), "Borvik", create=True)
        with locked(tmp_path):
            begun = time.monotonic()
            assert not await server.lets_in("newcomer", "secret")
            assert not await server.lets_in("bob", "wrong")
            assert await server.lets_in("bob", "right")
            with pytest.raises(EmuError):
                await enter_world(server.clock, HOST, server.login_port, entrance)
            took = time.monotonic() - begun
        assert took < patience(5.0), "four answers"
        assert await server.lets_in("bob", "right")
        await until(lambda: server.rows("SELECT 1 FROM accounts WHERE last_login > 0"), "the login")
        assert server.rows("SELECT name FROM accounts") == [("bob",)]
        assert server.rows("SELECT name FROM world_characters") == []


async def test_what_was_changed_just_before_somebody_quits_is_stored(tmp_path: Path) -> None:
    async with playing(tmp_path) as (_, client):
        types(client, "joinchannel Crafts")
        types(client, "friend Borvik")
        await sleep(2.0)
        types(client, "friend Cestra")
        await sleep(0.1)
        await quits(client)
        await until(lambda: friends(tmp_path) == ["Borvik", "Cestra"], "the second friend")
    assert friends(tmp_path) == ["Borvik", "Cestra"]
    assert in_database(tmp_path, "SELECT channel FROM world_memberships") == [("Crafts",)]


@pytest.mark.slow
async def test_a_lock_of_six_seconds_takes_nothing_back(tmp_path: Path) -> None:
    async with playing(tmp_path) as (_, client):
        with locked(tmp_path):
            types(client, "friend Borvik")
            await sleep(2.5)
            types(client, "friend Cestra")
            there = await step_aside(client)
            await quits(client)
            await sleep(3.0)
        await until(lambda: friends(tmp_path) == ["Borvik", "Cestra"], "both friends", 15.0)
    assert place(tmp_path) == pytest.approx(there, abs=0.5)


async def test_who_left_while_the_disk_was_full_is_stored_when_it_is_not(tmp_path: Path) -> None:
    async with playing(tmp_path) as (server, client):
        with full_disk(server):
            types(client, "friend Borvik")
            there = await step_aside(client)
            await quits(client)
            await server.line("Aldana is not saved: .*(full|cannot be (read or )?written)")
            assert friends(tmp_path) == []
        await until(lambda: friends(tmp_path) == ["Borvik"], "the friend", 15.0)
        assert place(tmp_path) == pytest.approx(there, abs=0.5)


def set_aside(spool: Path) -> list[Path]:
    return list(spool.parent.glob(f"{spool.name}.damaged*"))


async def stopped(server: ServerProcess) -> float:
    """Have a server stopped; returns how many seconds it took."""
    at = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    assert await server.ended() == -signal.SIGTERM, server.text
    return time.monotonic() - at


async def test_a_stop_under_a_lock_keeps_its_time_and_loses_nothing(tmp_path: Path) -> None:
    async with playing(tmp_path) as (server, client):
        types(client, "friend Borvik")
        await sleep(0.1)
        with locked(tmp_path):
            there = await step_aside(client)
            took = await stopped(server)
            text = server.text
    assert took < patience(STOP), text
    assert "Traceback" not in text
    assert "the next start stores from" in text
    spool = spool_path(tmp_path / "emu.sqlite")
    assert stat.S_IMODE(spool.stat().st_mode) == 0o600
    assert [state.name for state in read_spool(spool)] == ["Aldana"]
    assert friends(tmp_path) == []
    found, _, status = await emu(tmp_path, "--db", tmp_path / "emu.sqlite", "doctor")
    assert str(spool) in found, (found, status)
    async with server_process(tmp_path, SETTINGS) as server:
        await server.ready()
        assert "the states that the last stop could not store are stored now: Aldana" in server.text
        assert friends(tmp_path) == ["Borvik"]
        assert place(tmp_path) == pytest.approx(there, abs=0.5)
        assert not spool.exists()


async def test_a_server_that_is_killed_while_the_database_is_away_loses_nothing(
    tmp_path: Path,
) -> None:
    spool = spool_path(tmp_path / "emu.sqlite")
    async with playing(tmp_path) as (server, client):
        with locked(tmp_path):
            there = await step_aside(client)
            types(client, "friend Borvik")
            await until(lambda: is_kept(spool, there), "the player in the file", 15.0)
            server.process.send_signal(signal.SIGKILL)
            await server.ended()
        assert friends(tmp_path) == []
    async with server_process(tmp_path, SETTINGS) as server:
        await server.ready()
        assert friends(tmp_path) == ["Borvik"]
        assert place(tmp_path) == pytest.approx(there, abs=0.5)
        assert not spool.exists()


def is_kept(spool: Path, x: float) -> bool:
    """Return whether the file of unsaved players has a friend and a place."""
    try:
        states = read_spool(spool)
    except FileNotFoundError:
        return False
    return any(one.facts.get("relations") and abs(one.place[0] - x) < 0.5 for one in states)


async def test_a_file_of_a_stop_that_is_damaged_is_set_aside(tmp_path: Path) -> None:
    async with playing(tmp_path) as (_, client):
        await quits(client)
    spool = spool_path(tmp_path / "emu.sqlite")
    for number in range(2):
        spool.write_bytes(os.urandom(1000))
        async with server_process(tmp_path, SETTINGS) as server:
            await server.ready()
            assert not spool.exists()
            reported = [line for line in server.text.splitlines() if "set aside" in line]
            assert len(reported) == 1
            assert "Traceback" not in server.text
        assert len(set_aside(spool)) == number + 1
