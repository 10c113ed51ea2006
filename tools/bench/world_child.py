"""A server child whose world has characters already, and children that play them."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from emu.config import load
from emu.config.world import WorldConfig
from emu.login.accounts.passwords import SALT_SIZE, hash_password
from emu.model import Character, WorldCharacter
from emu.net.client.swarm import character_name
from emu.net.parameters import account_config
from emu.net.world.part import built_in_account
from emu.store import Store
from emu.times import UNKNOWN
from emu.world.places import read_atlas
from tools.bench.fleet import PASSWORD
from tools.bench.login_child import CHEAP
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


def spread(count: int, in_sight: int) -> Placed:
    """Put characters on a square so that each has about so many others within 250 units."""
    side = math.sqrt(math.pi * 250.0**2 * count / in_sight)
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
def world_child(characters: int, placed: Placed = crowded) -> Iterator[Child]:
    """Run a server that has characters for `tools.bench.movers`."""
    with tempfile.TemporaryDirectory(prefix="emu-bench-") as name:
        make_characters(Path(name) / "emu.sqlite", characters, placed)
        with child("tools.bench.login_server", name, *CHEAP) as server:
            yield server


def make_characters(path: Path, count: int, placed: Placed) -> None:
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
                    starting_zone=4, zone_id=ZONE, client_version=546, created=UNKNOWN,
                )
            )  # fmt: skip
            store.world.characters.save_place(own.id, ZONE, placed(number))
            store.login.characters.add(
                Character(
                    id=0, account_id=account.id, world_id=world.id, char_id=own.id, name=name,
                    level=1, zone_name="antonica",
                )
            )  # fmt: skip


class Movers:
    """Players in a process of their own, who are in the world."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def end(self) -> dict[str, Any]:
        """Let them leave; returns what they measured. Ends the benchmark when one was lost."""
        out, _ = self._process.communicate("\n", timeout=120)
        told: dict[str, Any] = json.loads(out.splitlines()[-1])
        if told["lost"]:
            raise SystemExit(f"{told['lost']} of {told['clients']} sessions did not last")
        return told


@contextmanager
def movers(server: Child, clients: int, watchers: int, habit: str = "walk") -> Iterator[Movers]:
    """Let players in; `habit` is ``walk`` or ``stand``, `watchers` how many read what they see."""
    command = ["-m", "tools.bench.movers", *map(str, (server.port, clients, watchers)), habit]
    process = subprocess.Popen(
        [sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        if process.stdout.readline() != "ready 0\n":
            raise SystemExit("the movers did not come in")
        yield Movers(process)
    finally:
        process.kill()
        process.wait()
