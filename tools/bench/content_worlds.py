"""Whole servers with a world of content: start, entry, memory, reload, a newcomer, walks.

Each round has a server process of its own. Players come over UDP from other processes.
"""

from __future__ import annotations

import json
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

from tools.bench.content_dump import STANDING_ZONE, WALKING_ZONE
from tools.bench.login_child import CHEAP
from tools.bench.processes import Child, child
from tools.bench.world_child import make_characters, movers

VIEW: Final = 250.0
CHANGED: Final = 1000
"""Placements of the open zones that move before a reload."""
NOTED: Final = 0.02
"""Seconds of CPU from which a turn is explained."""
LONGEST: Final = 120.0
"""Seconds in which the memory of ended zones must come to rest."""


@dataclass(frozen=True)
class Scale:
    """How much is measured: the real thing, or little of it for a test."""

    zones: int = 20
    crowd: int = 40
    """Players who stand where the newcomer comes."""
    players: int = 50
    """Among the creatures on scripted routes."""
    seconds: float = 4.0
    """In which a server is watched."""
    settle: float = 6.0
    """Until the spawns of the last zone stand."""
    visitors: int = 10
    """Who enter zones at the same time in a tour of all of them."""
    stay: float = 4.0
    """Seconds of each visitor of a tour in its zone."""
    rest: int = 20
    """Without a change of memory, after which all zones have ended: some do so late."""


Measured = dict[str, float]


def measured_import(dumps: Path, target: Path) -> Measured:
    """Import dumps in a process of its own; return seconds of CPU and MB."""
    code = (
        "import resource, sys; from pathlib import Path;"
        "from tools.bench.content_dump import imported;"
        "imported(Path(sys.argv[1]), Path(sys.argv[2]));"
        "used = resource.getrusage(resource.RUSAGE_SELF);"
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss)"
    )
    command = [sys.executable, "-c", code, str(dumps), str(target)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return {"cpu": float(said[0]), "memory": int(said[1]) * 1024 / 1e6}


class Server:
    """A server under measurement, with its folder."""

    def __init__(self, process: Child, folder: Path) -> None:
        self.child = process
        self.folder = folder

    @property
    def memory(self) -> float:
        """Resident MB."""
        return self.child.resident_bytes() / 1e6

    def turns(self) -> Measured:
        """Return milliseconds of the longest turn since the last call, and those of its CPU.

        What the turn of the most CPU did goes to the standard error.
        """
        self.child.process.send_signal(signal.SIGUSR2)
        assert self.child.process.stdout is not None
        found = json.loads(self.child.process.stdout.readline())
        if found["cpu"] > NOTED:
            print(f"a turn of {found['cpu'] * 1000:.0f} ms of CPU:", file=sys.stderr)
            print("\n".join(f"  {line}" for line in found["culprits"]), file=sys.stderr)
        return {name: found[name] * 1000 for name in ("wall", "cpu")}

    def command(self, line: str) -> Any:
        """Give a command at the server's local socket; return its answer."""
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(str(self.folder / "emu.sqlite.console"))
            link.sendall(line.encode() + b"\n")
            with link.makefile() as answers:
                return json.loads(answers.readline())

    def watched(self, seconds: float) -> float:
        """Return the microseconds of CPU that one second of the server takes."""
        before, start = self.child.cpu_seconds(), time.monotonic()
        time.sleep(seconds)
        return (self.child.cpu_seconds() - before) / (time.monotonic() - start) * 1e6

    def rested(self, seconds: int) -> float:
        """Return the memory after it has not changed for so many seconds."""
        least, end, quiet = self.memory, time.monotonic() + LONGEST, 0
        while time.monotonic() < end and quiet < seconds:
            time.sleep(1.0)
            now = self.memory
            quiet = quiet + 1 if abs(now - least) < 1.0 else 0
            least = min(least, now)
        return self.memory


@contextmanager
def server(path: Path | None, scripts: Path | None, places: list[Place]) -> Iterator[Server]:
    """Run a server with characters at places; None: without a content file."""
    with tempfile.TemporaryDirectory(prefix="emu-bench-") as name:
        folder = Path(name)
        make_characters(
            folder / "emu.sqlite", len(places),
            lambda number: (*places[number][1:], 0.0, 0), lambda number: places[number][0],
        )  # fmt: skip
        settings = [*CHEAP]
        if path is not None and scripts is not None:
            settings += [f"world.content={path}", f"world.scripts={scripts}"]
        with child("tools.bench.content_server", name, *settings) as process:
            yield Server(process, folder)


Place = tuple[int, float, float, float]
"""Number of a zone, and coordinates in it."""


def started(path: Path | None, scripts: Path | None) -> Measured:
    """Return CPU in seconds and memory of a server that has started and that nobody has entered."""
    with server(path, scripts, []) as one:
        time.sleep(1.0)
        return {"cpu": one.child.cpu_seconds(), "memory": one.memory, "idle": one.watched(4.0)}


def largest(path: Path, count: int) -> list[Place]:
    """Return a place in each of the zones with the most placements."""
    with _opened(path) as database:
        rows = database.execute(
            "SELECT zone_id, count(*) FROM placements JOIN zones ON zones.id = zone_id"
            " GROUP BY zone_id ORDER BY 2 DESC, 1 LIMIT ?", (count,)
        ).fetchall()  # fmt: skip
        return [
            (zone, *database.execute(
                "SELECT safe_x, safe_y, safe_z FROM zones WHERE id = ?", (zone,)).fetchone())
            for zone, _ in rows
        ]  # fmt: skip


def most_crowded(path: Path) -> Place:
    """Return the middle of the square of 250 units with the most placements."""
    squares: Counter[tuple[int, int, int]] = Counter()
    sums: dict[tuple[int, int, int], list[float]] = {}
    with _opened(path) as database:
        for zone, x, y, z in database.execute("SELECT zone_id, x, y, z FROM placements"):
            square = zone, int(x // VIEW), int(z // VIEW)
            squares[square] += 1
            sums.setdefault(square, [0.0, 0.0, 0.0])
            for at, value in enumerate((x, y, z)):
                sums[square][at] += value
    square, count = squares.most_common(1)[0]
    x, y, z = (value / count for value in sums[square])
    return square[0], x, y, z


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        yield database
    finally:
        database.close()


def visited(path: Path, scripts: Path, scale: Scale) -> Measured:
    """Enter the largest zones, reload changed content, leave; return what each took."""
    with tempfile.TemporaryDirectory(prefix="emu-bench-content-") as name:
        # A copy, since its content is exchanged.
        content = Path(name) / "content.sqlite"
        shutil.copy(path, content)
        places = largest(path, scale.zones)
        with server(content, scripts, places) as one:
            time.sleep(1.0)
            found = {"before": one.memory}
            one.turns()
            spent = one.child.cpu_seconds()
            with movers(one.child, len(places), 0, "stand", rate=5) as players:
                time.sleep(scale.settle)
                found["opened"] = one.child.cpu_seconds() - spent
                _put(found, "opening", one.turns())
                found["full"] = one.memory
                found["idle"] = one.watched(scale.seconds)
                one.turns()
                _exchange(content, [place[0] for place in places])
                spent = one.child.cpu_seconds()
                answer = one.command("reload content")
                if not answer["ok"]:
                    raise SystemExit(f"reload content: {answer['lines']}")
                time.sleep(scale.settle / 2)
                found["reload"] = one.child.cpu_seconds() - spent
                _put(found, "reloading", one.turns())
                players.end()
            found["left"] = one.rested(scale.rest)
            _put(found, "leaving", one.turns())
        return found


def toured(path: Path, scripts: Path, scale: Scale, most: int) -> Measured:
    """Enter all zones of a file, some players at a time, and leave; return what it took.

    At most `most` zones, in an order of no meaning that is the same in each run.
    """
    places = largest(path, most)
    Random(7).shuffle(places)
    with server(path, scripts, places) as one:
        time.sleep(1.0)
        found = {"before": one.memory, "zones": float(len(places)), "full": 0.0}
        one.turns()
        spent = one.child.cpu_seconds()
        command = [sys.executable, "-m", "tools.bench.content_tour", str(one.child.port),
                   str(len(places)), str(scale.visitors), str(scale.stay)]  # fmt: skip
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as visitors:
            while visitors.poll() is None:
                time.sleep(0.5)
                found["full"] = max(found["full"], one.memory)
            assert visitors.stdout is not None
            said = json.loads(visitors.stdout.read().splitlines()[-1])
        if said["stood"] != len(places):
            raise SystemExit(f"{len(places) - said['stood']} visitors did not enter")
        found["entering"] = max(said["entering"])
        found["spent"] = one.child.cpu_seconds() - spent
        _put(found, "touring", one.turns())
        found["left"] = one.rested(scale.rest)
        _put(found, "leaving", one.turns())
        return found


def _put(found: Measured, what: str, turns: Measured) -> None:
    found[what], found[f"{what} cpu"] = turns["wall"], turns["cpu"]


def _exchange(content: Path, zones: list[int]) -> None:
    """Put a content file in place of another, as an import does; some placements have moved."""
    fresh = content.with_suffix(".new")
    shutil.copy(content, fresh)
    database = sqlite3.connect(fresh)
    marks = ",".join("?" * len(zones))
    database.execute(
        f"UPDATE placements SET x = x + 1 WHERE (zone_id, id) IN (SELECT zone_id, id FROM"
        f" placements WHERE zone_id IN ({marks}) LIMIT {CHANGED})", zones,
    )  # fmt: skip
    database.commit()
    database.close()
    fresh.replace(content)


def welcomed(path: Path, scripts: Path, scale: Scale, place: Place) -> Measured:
    """Let a newcomer enter the most crowded place, among players who stand there."""
    with server(path, scripts, [place] * (scale.crowd + 1)) as one:
        with movers(one.child, scale.crowd, 0, "stand", rate=20) as players:
            time.sleep(scale.settle)
            one.turns()
            command = [sys.executable, "-m", "tools.bench.content_newcomer",
                       str(one.child.port), str(scale.crowd)]  # fmt: skip
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            found: Measured = json.loads(said.splitlines()[-1])
            _put(found, "waits", one.turns())
            players.end()
        return found


def walked(path: Path, scripts: Path, scale: Scale) -> Measured:
    """Watch creatures on scripted routes and others that stand, with players and without any."""
    found = {}
    for zone, what in ((WALKING_ZONE, "walk"), (STANDING_ZONE, "stand")):
        places = [(zone, 50.0, 0.0, 50.0)] * scale.players
        with server(path, scripts, places) as one:
            time.sleep(1.0)
            with movers(one.child, scale.players, 0, "stand", rate=20) as players:
                time.sleep(scale.settle)
                found[what] = one.watched(scale.seconds)
                players.end()
            time.sleep(0.5)
            # The zone runs for `EMPTY` seconds more.
            found[f"{what} alone"] = one.watched(2.0)
    return found
