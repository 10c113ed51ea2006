"""The whole server for measuring: everything that `twistd emu` runs, with its own database.

Run as ``python -m tools.bench.login_server FOLDER [TABLE.KEY=VALUE ...]``; prints ``ready PORT``
when its world has registered. The server's log is the file ``log`` in the folder. With
``EMU_BENCH_PROFILE=FILE`` in the environment it writes a profile there when it ends. At SIGUSR1 it
returns the memory that its allocator keeps to the system, so that the rest can be measured.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
from pathlib import Path
from typing import Any

from twisted.internet import reactor as _reactor
from twisted.internet import task
from twisted.internet.defer import Deferred
from twisted.logger import globalLogBeginner

from emu.net import logs
from emu.net.server import EmuService
from emu.tap import Options, makeService

reactor: Any = _reactor

SETTINGS = (
    "login.listen=127.0.0.1:0",
    "world.listen=127.0.0.1:0",
    "login.logins_per_address=100000",
)


def main() -> None:
    """Serve until terminated."""
    signal.signal(signal.SIGUSR1, lambda *_: reactor.callFromThread(give_back))
    folder = Path(sys.argv[1])
    options = Options()
    options.config_file = folder / "emu.toml"
    options.config_file.touch()
    options.overrides = [f"database.url=sqlite:{folder / 'emu.sqlite'}", *SETTINGS, *sys.argv[2:]]
    service: Any = makeService(options)
    with (folder / "log").open("a") as stream:
        globalLogBeginner.beginLoggingTo([logs.observer("text", stream)], redirectStandardIO=False)
        service.privilegedStartService()
        service.startService()
        reactor.addSystemEventTrigger("before", "shutdown", service.stopService)
        reactor.callWhenRunning(lambda: Deferred.fromCoroutine(say_ready(service)))
        serve(os.environ.get("EMU_BENCH_PROFILE"))


async def say_ready(service: EmuService) -> None:
    """Print the port as soon as there is a world to list."""
    login: Any = service.server.login
    while not any(world.up for world in login.directory.listed()):
        await task.deferLater(reactor, 0.02)
    print(f"ready {login.port}", flush=True)


def give_back() -> None:
    """Collect garbage, and return free memory to the system where the C library can."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def serve(profile: str | None) -> None:
    """Run the reactor, under a profiler when there is a file for what it finds."""
    if profile is None:
        reactor.run()
        return
    import cProfile

    cProfile.runctx("reactor.run()", globals(), {}, profile)


if __name__ == "__main__":
    main()
