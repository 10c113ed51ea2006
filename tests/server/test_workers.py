"""A real login service as a worker: it adopts the supervisor's sockets, and is replaced."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path

from emu.net.client.connection import ClientConnection
from emu.tap import worker_command
from tests.support.running.clients import connect
from tests.support.running.whole_server import HOST, add_account, reactor, settings_of, until
from tests.support.running.workers import supervised


async def logged_in(port: int) -> ClientConnection:
    client = await connect(reactor, HOST, port, "testlabs", "testpass")
    await client.login()
    return client


async def test_a_worker_serves_logins_and_links_and_so_does_the_one_that_replaces_it(
    tmp_path: Path,
) -> None:
    add_account(tmp_path / "emu.sqlite", "testlabs", "testpass")
    command = partial(worker_command, None, settings_of(tmp_path / "emu.sqlite", {}))
    async with supervised(1, command) as (one, log):
        await one.ready()
        assert f"login/0: clients on UDP {HOST}:{one.port}".encode() in one.written
        assert f"link/0: worlds on TCP {HOST}:{one.port}".encode() in one.written
        client = await logged_in(one.port)
        await client.close()
        (process,) = (found.transport.pid for found in one.service._processes.values())
        os.kill(process, signal.SIGKILL)
        await log.line("worker 0 has ended")
        client = await logged_in(one.port)
        await client.close()
        one.service.reload()
        await until(lambda: b"the configuration was read again" in one.written, "the reload")
    assert one.written.rstrip().endswith(b"server/0: stopped")


async def test_a_worker_ends_when_its_supervisor_is_gone(tmp_path: Path) -> None:
    add_account(tmp_path / "emu.sqlite", "testlabs", "testpass")
    command = partial(worker_command, None, settings_of(tmp_path / "emu.sqlite", {}))
    async with supervised(1, command) as (one, _log):
        await one.ready()
        (process,) = one.service._processes.values()
        process.transport.closeStdin()
        await until(lambda: b"server/0: stopped" in one.written, "the end of the worker", 20)
