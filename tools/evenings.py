"""Plays evenings of `emu client evening` on a content file, in virtual time.

    python -m tools.evenings --content content.sqlite --scripts scripts --version 546 \
        --prefer Fighter --prefer Qeynos --refuse Freeport

Server and client are the program itself, on the network and the clock of the simulation. An hour
of play takes some minutes of CPU time, and nothing else that the machine does changes it. The same
seed gives the same evening. Each evening writes its diary to standard output, and faults of the
server to standard error.
"""

from __future__ import annotations

import argparse
import pickle
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from twisted.logger import ILogObserver, LogEvent, LogLevel, formatEvent, globalLogPublisher
from zope.interface import provider

from emu.client import Credentials
from emu.client.evening.diary import Diary, DiaryEntry
from emu.client.evening.player import Preferences
from emu.client.flow import Entrance
from emu.net.client.evening import Evening, begin_evening
from emu.net.scheduler import run
from tests.simulation.network import Network, SimulatedReactor
from tests.simulation.servers import (
    COMMON,
    LOGIN_PORT,
    WORLD_PORT,
    SimulatedServer,
    remove,
    scratch_folder,
    seeded_chance,
)
from tests.simulation.virtual_time import Timeline

HOST, CLIENT = "10.0.0.1", "10.1.0.1"
STARTED = 6.0
"""Seconds for the server to start."""
STEP = 60.0
"""Seconds that the client waits for each step of its login."""
QUIET = ("talk", "line")
MEMORY = "player.pickle"
"""The file of what a player knows."""


@dataclass(frozen=True, slots=True)
class EveningPlan:
    """One evening: the content, and who plays on it."""

    content: Path
    scripts: Path
    version: int = 546
    preferences: Preferences = field(default_factory=Preferences)
    level: int = 10
    minutes: float = 300.0
    rate: float = 10.0
    seed: int = 1
    choices: dict[str, object] = field(default_factory=dict)
    """Race, class and the like of the character."""
    folder: Path | None = None
    """Where the database is kept, so that the next evening goes on; None for one that is removed.
    """
    keep: tuple[float, ...] = ()
    """The minutes at which a copy of `folder` is made, which another evening can go on with."""


@dataclass(slots=True)
class EveningResult:
    """The diary of an evening, and what it took."""

    diary: Diary
    faults: list[str] = field(default_factory=list)
    evening: Evening | None = None
    failure: str = ""
    cpu_seconds: float = 0.0

    @property
    def level(self) -> int:
        """The level that the character has reached."""
        return self.evening.player.level if self.evening is not None else 0


def settings_of(plan: EveningPlan, folder: Path) -> dict[str, object]:
    """Return the settings of the server."""
    return {
        **COMMON, "login.listen": f"{HOST}:{LOGIN_PORT}", "world.listen": f"{HOST}:{WORLD_PORT}",
        "world.content": plan.content, "world.scripts": plan.scripts,
        "world.experience_rate": plan.rate, "database.url": f"sqlite:{folder}/emu.sqlite",
    }  # fmt: skip


def play(plan: EveningPlan, on_entry: Callable[[DiaryEntry], None]) -> EveningResult:
    """Play one evening."""
    begun = time.process_time()
    if plan.folder is not None:
        plan.folder.mkdir(exist_ok=True)
    folder = plan.folder or Path(tempfile.mkdtemp(prefix="emu-evening-", dir=scratch_folder()))
    result = EveningResult(Diary(on_entry))

    @provider(ILogObserver)
    def heard(event: LogEvent) -> None:
        if event.get("log_failure") is not None:
            result.faults.append(event["log_failure"].getTraceback())
        elif event.get("log_level") in (LogLevel.warn, LogLevel.error, LogLevel.critical):
            result.faults.append(formatEvent(event))

    globalLogPublisher.addObserver(heard)
    try:
        # Nodes compare the digest; a thread makes it, whose seconds the simulation would count.
        with (
            seeded_chance(plan.seed),
            patch("emu.net.world.content._digest_of", lambda _path: ""),
        ):
            _play(plan, folder, result)
    finally:
        globalLogPublisher.removeObserver(heard)
        if plan.folder is None:
            remove(folder)
    result.cpu_seconds = time.process_time() - begun
    return result


def _play(plan: EveningPlan, folder: Path, result: EveningResult) -> None:
    timeline = Timeline()
    network = Network(timeline, random.Random(plan.seed))
    network.usual.delay = 0.005
    server = SimulatedServer(
        network, "world", HOST, folder, random.Random(plan.seed), settings_of(plan, folder)
    )
    server.slowness = 0.001
    is_over: list[bool] = []

    def failed(failure: Any) -> None:
        result.failure = failure.getTraceback()
        is_over.append(True)

    async def evening() -> None:
        reactor = SimulatedReactor(network, "client", CLIENT, random.Random(plan.seed))
        entrance = Entrance(
            Credentials("evening", "secret"), "Aldana", create=True, version=plan.version,
            choices=plan.choices,
        )  # fmt: skip
        result.evening = one = await begin_evening(
            reactor, HOST, LOGIN_PORT, entrance, diary=result.diary,
            preferences=plan.preferences, timeout=STEP,
        )  # fmt: skip
        _recall(one, folder)
        for minutes, end in _legs(plan):
            await one.play(minutes * 60, plan.level)
            if end < plan.minutes and plan.folder is not None:
                _keep(one, folder, f"{folder}-{end:.0f}")
        _remember(one, folder)
        await one.client.leave()
        is_over.append(True)

    try:
        server.start()
        timeline.run(STARTED)
        run(evening(), failed)
        timeline.run(STARTED + plan.minutes * 60 + 3 * STEP, lambda: is_over)
        result.faults.extend(server.faults)
    finally:
        server.kill()
        server.close()


def _legs(plan: EveningPlan) -> list[tuple[float, float]]:
    """Return how many minutes the player plays until each copy and the end, and when that is."""
    ends = [*sorted(one for one in plan.keep if one < plan.minutes), plan.minutes]
    return [(end - begin, end) for begin, end in zip([0.0, *ends], ends, strict=False)]


def _remember(one: Evening, folder: Path) -> None:
    """Write down what the player knows, beside the database."""
    (folder / MEMORY).write_bytes(pickle.dumps(one.player.memory()))


def _recall(one: Evening, folder: Path) -> None:
    """Give the player what it has known at the end of the last evening, if there was one."""
    if (folder / MEMORY).exists():
        one.player.recall(pickle.loads((folder / MEMORY).read_bytes()))  # our own file


def _keep(one: Evening, folder: Path, name: str) -> None:
    """Copy the database as it is now, and what the player knows."""
    copy = Path(name)
    copy.mkdir(exist_ok=True)
    source = sqlite3.connect(folder / "emu.sqlite")
    target = sqlite3.connect(copy / "emu.sqlite")
    with closing(source), closing(target):
        source.backup(target)
    _remember(one, copy)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(prog="python -m tools.evenings", description=__doc__)
    made.formatter_class = argparse.RawDescriptionHelpFormatter
    made.add_argument("--content", type=Path, required=True, help="a content file")
    made.add_argument("--scripts", type=Path, required=True, help="the folder of its scripts")
    made.add_argument("--version", type=int, default=546, help="the client's version")
    made.add_argument("--prefer", action="append", default=[], help="words of wanted answers")
    made.add_argument("--refuse", action="append", default=[], help="words of refused answers")
    made.add_argument("--first", action="append", default=[], help="words of quests done first")
    made.add_argument("--choice", action="append", default=[], metavar="NAME=NUMBER",
                      help="a field of the character that is created")  # fmt: skip
    made.add_argument("--level", type=int, default=10, help="the level at which it stops")
    made.add_argument("--minutes", type=float, default=300.0, help="virtual minutes at most")
    made.add_argument("--rate", type=float, default=10.0, help="the rate of experience")
    made.add_argument("--folder", type=Path, help="keep the database here, and go on with it")
    made.add_argument("--keep", action="append", type=float, default=[], metavar="MINUTE",
                      help="with --folder: copy it then, to go on from there")  # fmt: skip
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--talks", action="store_true", help="also print talks and lines")
    return made


def main(words: Sequence[str] | None = None) -> int:
    """Play an evening; return 1 if it has not reached its level."""
    options = parser().parse_args(words)
    plan = EveningPlan(
        options.content, options.scripts, options.version,
        Preferences(tuple(options.prefer), tuple(options.refuse), tuple(options.first)),
        options.level, options.minutes,
        options.rate, options.seed,
        {name: int(value) for name, _, value in (one.partition("=") for one in options.choice)},
        options.folder, tuple(options.keep),
    )  # fmt: skip

    def show(entry: DiaryEntry) -> None:
        if options.talks or entry.kind not in QUIET:
            print(entry.line(), flush=True)

    result = play(plan, show)
    counts = ", ".join(
        f"{kind} {number}" for kind, number in sorted(result.diary.counts.items())
        if kind not in QUIET
    )  # fmt: skip
    print(f"level {result.level} in {result.cpu_seconds:.0f} s of CPU time: {counts}")
    for one in (*result.faults, result.failure):
        if one:
            print(one, file=sys.stderr)
    return 0 if result.level >= plan.level else 1


if __name__ == "__main__":
    sys.exit(main())
