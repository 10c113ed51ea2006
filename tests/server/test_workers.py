"""Real login services as workers: they share a port, and a killed one is replaced alone."""

from __future__ import annotations

import os
import re
import signal
from functools import partial
from pathlib import Path

from emu.net.client.connection import ClientConnection
from emu.tap import worker_command
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


def command_of(folder: Path, index: int) -> list[str]:
    """Return the command of a worker with a database of its own: a SQLite file has one process."""
    settings = {"world.enabled": False, "login.logins_per_address": 100}
    return worker_command(None, settings_of(folder / f"emu-{index}.sqlite", settings), index)


async def test_workers_share_the_port_and_a_killed_one_is_replaced_alone(tmp_path: Path) -> None:
    for index in range(2):
        for name in PLAYERS:
            add_account(tmp_path / f"emu-{index}.sqlite", name, "testpass")
    async with supervised(2, partial(command_of, tmp_path)) as (one, log):
        await one.ready()
        for index in range(2):
            assert f"login/{index}: clients on UDP {HOST}:{one.port}".encode() in one.written
        assert one.written.count(b"worlds on TCP") == 1
        clients = {name: await logged_in(one.port, name) for name in PLAYERS}
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
    add_account(tmp_path / "emu-0.sqlite", "testlabs", "testpass")
    async with supervised(1, partial(command_of, tmp_path)) as (one, _log):
        await one.ready()
        one.service._processes[0].transport.closeStdin()
        await until(lambda: b"server/0: stopped" in one.written, "the end of the worker", 20)
