"""The running server: whether there is one, and how it does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from emu.admin.snapshot import Snapshot
from emu.cli.consoles.admin_socket import NoServer
from emu.cli.doctor.findings import Finding, fail, ok, warn
from emu.cli.watch.asking import ask, read
from emu.cli.watch.rows import QUEUES, ticks
from emu.config import Config
from emu.errors import CommandError

SERVER: Final = "server"
SLOW_TICK: Final = 0.1
"""Seconds of the world's work at once from which on players notice."""
LONG_QUEUE: Final = 50


def look_at_server(path: Path) -> tuple[Snapshot | None, list[Finding]]:
    """Return how the running server is, None when none is heard, and what is wrong with that."""
    try:
        return read(ask(path)), []
    except NoServer:
        mend = "start one: twistd emu; or give emu its --config, and be its user"
        return None, [warn(SERVER, f"none runs that listens at {path}", mend)]
    except CommandError as error:
        mend = "be the server's user; if you are, look into its log: it may hang; restart it"
        return None, [fail(SERVER, str(error), mend)]


def judge_server(now: Snapshot, config: Config) -> Iterator[Finding]:
    """Judge a server that runs."""
    server = now.server
    yield ok(SERVER, f"{server['name']} runs, process {now.process}, version {server['version']}")
    if config.login.enabled:
        yield judge_worlds([world["name"] for world in now.worlds if world["up"]])
    taken = now.histogram("world_tick_seconds")
    slow = taken.quantile(0.99)
    if slow is not None and slow > SLOW_TICK:
        yield warn(
            SERVER, f"the world's work takes long: {ticks(taken)}",
            "fewer spawns or players in one zone; emu top shows which",
        )  # fmt: skip
    for key, name in QUEUES.items():
        waiting = int(now.number(key))
        if waiting > LONG_QUEUE:
            yield warn(
                SERVER, f"{waiting} wait for {name}",
                "a slow disk, or too few of login.password_threads",
            )  # fmt: skip
    if server["locked"]:
        yield warn(SERVER, "its world is locked: only game masters come in", "emu admin unlock")


def judge_worlds(up: list[str]) -> Finding:
    """Judge which worlds players can choose."""
    if up:
        return ok(SERVER, f"worlds that are up: {', '.join(up)}")
    return fail(
        SERVER, "no world is up: players can log in, and play nothing",
        "look into the log for lines of link and world; emu world list shows who may register",
    )  # fmt: skip
