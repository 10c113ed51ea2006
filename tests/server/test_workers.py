"""Real login services as workers: they share a port, and a killed one is replaced alone."""

from __future__ import annotations

import os
import re
import signal
from functools import partial
from pathlib import Path

from emu.database import ServerUrl
from emu.net.client.connection import ClientConnection
from emu.tap import worker_command
from tests.support.database.engines import store_database
from tests.support.running.clients import connect
from tests.support.running.whole_server import HOST, add_account, reactor, settings_of, until
from tests.support.running.workers import Supervised, supervised

PLAYERS = [f"player{number}" for number in range(12)]


async def logged_in(port: int, name: str = "testlabs") -> ClientConnection:
    client = await connect(reactor, HOST, port, name, "testpass")
    await client.login()
    return client


def worker_of(one: Supervised, name: str) -> int:
    """Return which worker has logged a player in, by the last line about it."""
    return int(re.findall(rf"login/(\d): login of {name} from".encode(), one.written)[-1])


def command_on(where: ServerUrl, folder: Path, index: int) -> list[str]:
    """Return the command of a worker with a shared database."""
    settings = {
        "database.url": where, "database.node_file": folder / "node.sqlite", "node.name": "login",
        "world.enabled": False, "login.logins_per_address": 100,
    }  # fmt: skip
    return worker_command(None, settings_of(folder / "emu.sqlite", settings), index)


async def test_workers_share_port_and_database_and_a_killed_one_is_replaced_alone(
    tmp_path: Path,
) -> None:
    with store_database() as where:
        for name in PLAYERS:
            add_account(where, name, "testpass")
        command = partial(command_on, where, tmp_path)
        async with supervised(2, command, shutdown_time=60) as (one, log):
            await one.ready()
            for index in range(2):
                assert f"login/{index}: clients on UDP {HOST}:{one.port}".encode() in one.written
            assert one.written.count(b"worlds on TCP") == 1
            clients = {name: await logged_in(one.port, name) for name in PLAYERS}
            # A worker's log comes through a pipe, so it may be later than the login.
            await until(
                lambda: all(f"login of {name} from".encode() in one.written for name in PLAYERS),
                "the lines about the logins",
            )
            workers = {name: worker_of(one, name) for name in PLAYERS}
            assert set(workers.values()) == {0, 1}
            os.kill(one.process(1), signal.SIGKILL)
            await log.line("worker 1 has ended")
            for name in PLAYERS:
                if workers[name] == 0:
                    assert await clients[name].worlds() == ()
            await one.ready_again(1)
            assert one.written.count(b"server/0: ready") == 1
            for name in PLAYERS:
                if workers[name] == 1:
                    await clients[name].stop()
                    again = await logged_in(one.port, name)
                    await again.close()
                else:
                    assert await clients[name].worlds() == ()
                    await clients[name].close()
            one.service.reload()
            await until(lambda: one.written.count(b"was read again") == 2, "the reload")
        assert one.written.count(b": stopped\n") == 2


async def test_a_worker_ends_when_its_supervisor_is_gone(tmp_path: Path) -> None:
    add_account(tmp_path / "emu.sqlite", "testlabs", "testpass")
    command = partial(worker_command, None, settings_of(tmp_path / "emu.sqlite", {}))
    async with supervised(1, command, shutdown_time=60) as (one, _log):
        await one.ready()
        client = await logged_in(one.port)
        await client.close()
        one.service._processes[0].transport.closeStdin()
        await until(lambda: b"server/0: stopped" in one.written, "the end of the worker", 20)
