"""A supervisor with login workers for measuring, as `twistd emu` runs them.

Run as ``python -m tools.bench.worker_server WORKERS FOLDER URL [TABLE.KEY=VALUE ...]``; prints
``ready PORT`` when all workers are ready. The log of the workers is the file ``log`` in the folder.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

from twisted.internet import reactor as _reactor

from emu.config import load
from emu.config.setting import with_settings
from emu.net.supervisor import WorkerSupervisor
from emu.tap import worker_command

reactor: Any = _reactor

SETTINGS = (
    "login.listen=127.0.0.1:0",
    "world.enabled=false",
    "login.logins_per_address=100000",
    # Each worker would remember other passwords; so all check all of them, at the least cost.
    "login.password_memory=0",
)


def main() -> None:
    """Serve until terminated."""
    count, name, url, *settings = sys.argv[1:]
    folder = Path(name)
    overrides = [
        f"database.url={url}",
        f"database.node_file={folder / 'node.sqlite'}",
        f"node.name=bench{count}",
        *SETTINGS,
        *settings,
    ]
    config = with_settings(load(None, overrides), {"login": {"workers": int(count)}})
    log = (folder / "log").open("ab", buffering=0)
    service = WorkerSupervisor(
        config,
        partial(worker_command, None, overrides),
        write=log.write,
        started=lambda: print(f"ready {service.port.address.port}", flush=True),
        failed=lambda line: os.write(2, f"{line}\n".encode()),
    )
    service.privilegedStartService()
    service.startService()
    reactor.addSystemEventTrigger("before", "shutdown", service.stopService)
    reactor.run()


if __name__ == "__main__":
    main()
