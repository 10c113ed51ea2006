"""A supervisor of login workers in a test's process, with any program as the workers."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from emu.config import Config, parse
from emu.config.setting import with_settings
from emu.net.supervisor import WorkerSupervisor
from tests.support.running.whole_server import HOST, Log, captured_log, reactor, until

PROGRAM = (sys.executable, str(Path(__file__).with_name("worker_program.py")))
Command = Callable[[int], Sequence[str]]


def workers_config(workers: int, port: int = 0, shutdown_time: int = 1) -> Config:
    """Return the settings of a supervisor."""
    listen = f"login.listen={HOST}:{port}"
    config = parse({}, [listen, f"network.shutdown_time={shutdown_time}"])
    return with_settings(config, {"login": {"workers": workers}})


def stand_in(**modes: str) -> Command:
    """Return the command of `worker_program`, with a mode for some workers: ``w1="broken"``."""
    return lambda index: [*PROGRAM, str(index), *filter(None, [modes.get(f"w{index}", "")])]


class Supervised:
    """A supervisor in this process, and what it has written."""

    def __init__(
        self, workers: int, command: Command | None = None, port: int = 0, shutdown_time: int = 1
    ) -> None:
        self.written = b""
        self.happened: list[str] = []
        self.service = WorkerSupervisor(
            workers_config(workers, port, shutdown_time),
            command or stand_in(),
            write=self._write,
            reactor=reactor,
            started=lambda: self.happened.append("started"),
            failed=lambda line: self.happened.append(f"failed: {line}"),
            end=lambda: self.happened.append("end"),
            environment={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    def _write(self, line: bytes) -> None:
        self.written += line

    @property
    def port(self) -> int:
        return self.service.port.address.port

    def process(self, index: int) -> int:
        """Return the number of a worker's process."""
        transport: Any = self.service._processes[index].transport
        return int(transport.pid)

    async def ready_again(self, index: int) -> None:
        """Wait until a worker has reported for the second time that it serves."""
        line = f"server/{index}: ready".encode()
        await until(lambda: self.written.count(line) > 1, "the worker that replaces another", 20)

    async def ready(self) -> None:
        await until(lambda: "started" in self.happened, "all workers", 20)


@asynccontextmanager
async def supervised(
    workers: int = 2, command: Command | None = None, *, shutdown_time: int = 1
) -> AsyncIterator[tuple[Supervised, Log]]:
    """Run a supervisor until the end of the block.

    Workers that are whole servers need a `shutdown_time` that is enough on a busy machine.
    """
    with captured_log("text") as log:
        one = Supervised(workers, command, shutdown_time=shutdown_time)
        one.service.privilegedStartService()
        one.service.startService()
        try:
            yield one, log
        finally:
            await one.service.stopService()
