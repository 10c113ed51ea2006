"""A server process whose world has characters, and processes that play them."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from emu.config import load
from emu.config.world import WorldConfig
from emu.files import data_file
from emu.login.passwords import SALT_SIZE, hash_password
from emu.model import Character, WorldCharacter
from emu.net.client.swarm import character_name
from emu.net.parameters import account_config
from emu.net.world.registration import built_in_account
from emu.store import Store
from emu.times import UNKNOWN
from emu.versions import CLIENT_2006
from emu.world.population.atlas import read_atlas
from tools.bench.login_child import CHEAP
from tools.bench.login_players import PASSWORD
from tools.bench.processes import Child, child

PREFIX = "mover"
ZONE = 12
CENTER = (436.2, -37.5, 819.56)
Place = tuple[float, float, float, float, int]
Placed = Callable[[int], Place]
"""Where the n-th of the characters stands."""


def crowded(_number: int) -> Place:
    """Put all within sight of each other."""
    return (*CENTER, 0.0, 0)


def spread(count: int, in_view: int) -> Placed:
    """Put characters on a square so that each has about so many others within 250 units."""
    side = math.sqrt(math.pi * 250.0**2 * count / in_view)
    columns = math.ceil(math.sqrt(count))

    def placed(number: int) -> Place:
        row, column = divmod(number, columns)
        x, y, z = CENTER
        return (
            x + side * (column / columns - 0.5),
            y,
            z + side * (row / columns - 0.5),
            0.0,
            0,
        )

    return placed


@contextmanager
def world_child(
    characters: int, placed: Placed = crowded, *, shipped: bool = False
) -> Iterator[Child]:
    """Run a server that has characters for `tools.bench.movers`, all of them in one zone.

    The zone has no other spawns, and takes any number of players; a `shipped` one is as it comes.
    """
    with tempfile.TemporaryDirectory(prefix="emu-bench-") as name:
        folder = Path(name)
        make_characters(folder / "emu.sqlite", characters, placed)
        settings = CHEAP if shipped else (*CHEAP, f"world.zones={boundless_zone(folder)}")
        with child("tools.bench.login_server", name, *settings) as server:
            yield server


def boundless_zone(folder: Path) -> Path:
    """Write the zone as movers need it: any number of them in it, and nothing else that moves.

    Returns the folder of the file.
    """
    zones = folder / "zones"
    zones.mkdir()
    text = data_file("world", "zones", "antonica.toml").read_text(encoding="utf-8")
    for what, instead in ((POPULATION, "population = 0"), (BEHAVIOR, ""), (OPTIONS, "")):
        text, count = what.subn(instead, text)
        if not count:
            raise SystemExit(f"the shipped zone has nothing like {what.pattern}")
    (zones / "antonica.toml").write_text(text, encoding="utf-8")
    return zones


POPULATION = re.compile(r"^population = \d+$", re.MULTILINE)
BEHAVIOR = re.compile(r"^behavior = .*$", re.MULTILINE)
OPTIONS = re.compile(r"^\[spawn\.behavior_options\]\n(?:.+\n)*", re.MULTILINE)


def make_characters(
    path: Path, count: int, placed: Placed, zone_of: Callable[[int], int] = lambda _number: ZONE
) -> None:
    """Make accounts with a character each, where it is to be."""
    passwords = account_config(load(None, list(CHEAP))).passwords
    hashed = hash_password(PASSWORD.encode(), os.urandom(SALT_SIZE), passwords)
    with Store.create(path) as store, store.transaction():
        built_in_account(store, WorldConfig().name, UNKNOWN, read_atlas())
        world = store.login.worlds.find(WorldConfig().name)
        assert world is not None
        for number in range(count):
            account = store.login.accounts.add(f"{PREFIX}{number:05}", hashed, UNKNOWN)
            name = character_name(PREFIX, number)
            own = store.world.characters.create(
                WorldCharacter(
                    0, account.id, name, race=9, class_=1, gender=1, deity=0, level=1,
                    starting_zone=4, zone_id=zone_of(number), client_version=546, created=UNKNOWN,
                )
            )  # fmt: skip
            store.world.characters.save_place(own.id, zone_of(number), placed(number))
            store.login.characters.add(
                Character(
                    id=0, account_id=account.id, world_id=world.id, char_id=own.id, name=name,
                    level=1, zone_name="antonica",
                )
            )  # fmt: skip


class Movers:
    """Players in processes of their own, who are in the world."""

    def __init__(self) -> None:
        self._processes: list[subprocess.Popen[str]] = []

    def come(self, server: Child, first: int, count: int, watchers: int, *how: object) -> None:
        """Let players in, and wait until all of them stand; they come in a process of their own."""
        command = [server.port, first, count, watchers, *how]
        process = subprocess.Popen(
            [sys.executable, "-m", "tools.bench.movers", *map(str, command)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._processes.append(process)
        assert process.stdout is not None
        if process.stdout.readline() != "ready 0\n":
            raise SystemExit("the movers did not come in")

    def end(self) -> dict[str, Any]:
        """Let them leave; returns what those measured who came last, and the counts of all.

        Ends the benchmark when one was lost.
        """
        result: dict[str, Any] = {}
        counts: Counter[str] = Counter()
        for process in self._processes:
            out, _ = process.communicate("\n", timeout=120)
            result = json.loads(out.splitlines()[-1])
            counts.update({name: result[name] for name in ADDED})
        if counts["lost"]:
            raise SystemExit(f"{counts['lost']} of {counts['clients']} sessions did not last")
        return result | counts

    def kill(self) -> None:
        """End their processes."""
        for process in self._processes:
            process.kill()
            process.wait()


ADDED = ("clients", "lost", "messages", "bytes_per_s")
"""Figures of which the sum over all processes is result."""


@contextmanager
def movers(
    server: Child,
    clients: int,
    watchers: int,
    habit: str = "walk",
    rate: int = 100,
    *,
    versions: Sequence[int] = (CLIENT_2006,),
) -> Iterator[Movers]:
    """Let players in, so many in a second; `habit` is one of `tools.bench.movers`.

    `watchers` is how many read what they see; the client `versions` are assigned in turn.
    Watchers come last, in a process with nobody else but those they watch: what they measure is the
    server's time, not that of a busy crowd's process.
    """
    players = Movers()
    apart = 2 * watchers
    try:
        if clients > apart:
            players.come(server, apart, clients - apart, 0, rate, habit, *versions)
        if apart:
            players.come(server, 0, apart, watchers, rate, habit, *versions)
        yield players
    finally:
        players.kill()
