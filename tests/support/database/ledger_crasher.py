"""A process that moves coins until it is killed, and the check of what is left.

Run as ``python -m tests.support.database.ledger_crasher WHERE SEED``; WHERE is a file or a server's
URL. A line is written before a request, and another one after its answer. Whoever kills the process
holds the database to the answers, and repeats the last request: it must not count twice.
"""

from __future__ import annotations

import os
import random
import sys
from dataclasses import dataclass, field
from pathlib import Path

from emu.correspondence import NewLetter, Postage, SendResult, Taken
from emu.database import ServerUrl, Where
from emu.ledger import Movement, Owner, OwnerKind, Part, Reason
from emu.store import Store
from emu.times import Moment
from tests.support.world.world_fakes import world_character

START = 1_000_000
POSTAGE = Postage(price=10, lasts=1e9, most=250, most_of_one=250)
NOW = Moment(1_000_000.0)
WAY = Owner(OwnerKind.TRANSPORTER, 51)
CHARACTERS = 3


def prepare(where: Where) -> None:
    """Create the characters, each with `START` copper."""
    with Store.create(where) as store:
        for number in range(CHARACTERS):
            row = world_character(0, number + 1, name=f"Name{number}", coins=START)
            store.world.characters.create(row)


def characters(store: Store) -> list[int]:
    """Return the numbers of the characters."""
    rows = store.database.connection.execute("SELECT id FROM world_characters ORDER BY id")
    return [number for (number,) in rows.fetchall()]


def act(store: Store, request: str, who: list[int]) -> bool:
    """Carry out the request of this identity, which says what it is; return whether it is done."""
    choice = random.Random(request)
    kind, copper = choice.randrange(4), choice.randrange(1, 500)
    one, *others = choice.sample(who, len(who))
    if kind == 0:
        parts = [Part(Owner.character(one), Owner.character(other), copper) for other in others]
        return store.world.ledger.move(Movement(request, Reason.SPLIT, tuple(parts)), NOW).is_done
    if kind == 1:
        part = Part(Owner.character(one), WAY, copper)
        return store.world.ledger.move(Movement(request, Reason.TRAVEL, (part,)), NOW).is_done
    if kind == 2:
        letter = NewLetter(
            sender_id=one, account_id=1, recipient_id=others[0], sender="Name", subject="",
            body="", coins=copper,
        )  # fmt: skip
        return store.world.mail.send(letter, POSTAGE, NOW, request).result is SendResult.SENT
    found = store.world.mail.open(1, one, POSTAGE, NOW).letters
    if not found:
        return False
    taken = store.world.mail.take_coins(1, one, found[-1].id, NOW, request)
    store.world.mail.delete(one, found[-1].id)
    return isinstance(taken, Taken) and taken.copper > 0


def crash(where: Where, seed: int) -> None:
    """Move coins for ever."""
    with Store.open(where) as store:
        who = characters(store)
        for number in range(10**9):
            request = f"{seed}-{number}"
            os.write(1, f"asked {request}\n".encode())
            if act(store, request, who):
                os.write(1, f"done {request}\n".encode())


@dataclass
class Answers:
    """The lines of killed processes."""

    done: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    """The last request of each process since the last check."""

    def read(self, output: bytes) -> None:
        """Take in what one process wrote; a torn last line counts as not written."""
        lines = [line.split() for line in output.decode().split("\n")[:-1]]
        self.done |= {request for kind, request in lines if kind == "done"}
        self.asked += [request for _, request in lines[-1:]]

    def check(self, store: Store) -> None:
        """Fail if a coin is lost or doubled, or if something that was answered is not stored."""
        run = store.database.connection.execute
        for request in self.asked:
            # As after a lost answer: now or before, it is carried out once.
            act(store, request, characters(store))
        self.asked.clear()
        audit = store.world.ledger.audit()
        assert audit.differences == ()
        assert audit.held == audit.by_entries
        spent = run("SELECT coalesce(sum(amount), 0) FROM world_ledger WHERE taker IN (?, ?)",
                    (OwnerKind.TRANSPORTER, OwnerKind.POSTAGE))  # fmt: skip
        assert audit.held + int(spent.fetchone()[0]) == CHARACTERS * START
        rows = run("SELECT DISTINCT request FROM world_ledger").fetchall()
        assert self.done <= {request for (request,) in rows}


if __name__ == "__main__":
    crash(
        ServerUrl.parse(sys.argv[1]) if "://" in sys.argv[1] else Path(sys.argv[1]),
        int(sys.argv[2]),
    )
