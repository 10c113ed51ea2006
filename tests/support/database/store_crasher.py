"""A process that changes a store at random until it is killed, and the check of what is left.

Run as ``python -m tests.support.database.store_crasher FILE SEED``. A line is written for each
change after the store has answered it; whoever kills the process holds the store to these lines.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from emu.errors import DuplicateName
from emu.model import Color, Equipment
from emu.store import Store
from emu.store import worlds as reports
from emu.times import UNKNOWN
from emu.worlds import RegisteredWorld
from tests.support.database.stores import character, world_character

COLORS = {f"color{number}": Color(number, 0, -number, signed=True) for number in range(6)}
EQUIPMENT = tuple(Equipment(slot, 100 + slot) for slot in range(9))
APPEARANCE = {f"model{number}": number for number in range(5)}


def crash(path: Path, seed: int) -> None:
    """Change the store for ever."""
    choice = random.Random(seed)
    store = Store.create(path)
    reports.REPORTS_OF_WORLD = 1 << 31  # promises are kept for ever here
    try:
        store.login.accounts.add("owner", "0", UNKNOWN)
        store.login.worlds.add(RegisteredWorld(0, "world", "world", ""))
    except DuplicateName:
        pass  # an earlier process made them
    for number in range(10**9):
        acknowledged: list[str] = []
        if choice.random() < 0.3:
            with store.transaction():
                for part in range(choice.randrange(2, 20)):
                    acknowledged += change(store, choice, f"{seed}-{number}-{part}")
        else:
            acknowledged += change(store, choice, f"{seed}-{number}")
        os.write(1, "".join(f"{line}\n" for line in acknowledged).encode())


def change(store: Store, choice: random.Random, name: str) -> Iterator[str]:
    """Make one change and yield its line."""
    kind = choice.randrange(5)
    if kind == 0:
        store.login.accounts.add(name, "0", UNKNOWN)
        yield f"account {name}"
    elif kind == 1:
        char_id = choice.randrange(1, 1 << 31)
        row = character(
            char_id=char_id, name=name, colors=COLORS, equipment=EQUIPMENT, appearance=APPEARANCE
        )
        store.login.characters.add(row)
        yield f"character {name}"
        if choice.random() < 0.3 and store.login.characters.delete(1, 1, char_id, name):
            yield f"deleted {name}"
    elif kind == 2:
        store.world.characters.create(world_character(name=name, colors=COLORS))
        yield f"world_character {name}"
    elif kind == 3:
        store.login.reports.add_bug_report(1, 1, {"summary": name}, UNKNOWN)
        yield f"report {name}"
    else:
        owner = store.login.accounts.find("owner")
        assert owner is not None
        count = int(owner.password)
        store.login.accounts.set_password(1, str(count + 1))
        yield f"count {count + 1}"


@dataclass
class Promises:
    """What the lines of killed processes promise."""

    accounts: set[str] = field(default_factory=set)
    characters: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    world_characters: set[str] = field(default_factory=set)
    reports: set[str] = field(default_factory=set)
    count: int = 0

    def read(self, output: bytes) -> int:
        """Take in what one process wrote; a torn last line counts as not written."""
        lines = output.decode().split("\n")[:-1]
        for line in lines:
            kind, name = line.split()
            if kind == "count":
                self.count = max(self.count, int(name))
            else:
                kept: set[str] = getattr(self, "deleted" if kind == "deleted" else f"{kind}s")
                kept.add(name)
        return len(lines)

    def check(self, store: Store) -> None:
        """Fail when a promise is broken, a row is there twice, or a row lacks a part."""
        connection = store.database.connection
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        self._once(self.accounts, [account.name for account in store.login.accounts.every()])
        rows = connection.execute("SELECT id, name, deleted FROM characters").fetchall()
        self._once(self.characters, [row["name"] for row in rows])
        gone = {row["name"] for row in rows if row["deleted"]}
        assert self.deleted <= gone
        for row in rows:
            stored = store.login.characters.get(row["id"])
            assert stored is not None
            kinds = (stored.colors, stored.equipment, stored.appearance)
            assert [len(kind) for kind in kinds] == [6, 9, 5], row["name"]
        owned = store.world.characters.of_account(1)
        self._once(self.world_characters, [row.name for row in owned])
        assert all(len(row.colors) == 6 for row in owned)
        self._once(self.reports, [row["summary"] for row in store.login.reports.bug_reports()])
        owner = store.login.accounts.find("owner")
        assert owner is None or int(owner.password) >= self.count

    @staticmethod
    def _once(promised: set[str], found: list[str]) -> None:
        assert len(found) == len(set(found)), "a row is there twice"
        assert promised <= set(found), f"lost: {promised - set(found)}"


if __name__ == "__main__":
    crash(Path(sys.argv[1]), int(sys.argv[2]))
