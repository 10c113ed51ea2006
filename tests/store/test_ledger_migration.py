"""What characters and letters had before the ledger: each amount becomes an entry."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emu.database import Where
from emu.database.engines import upgrade_database
from emu.ledger import Movement, Owner, OwnerKind, Part, Reason
from emu.store import Store
from emu.store.repository import schemas
from emu.times import Moment
from tests.support.database.released import CHARACTER, database_before

LETTER = (
    "INSERT INTO world_mail (id, recipient_id, sender_account, sender, subject, body, coins, sent,"
    " expires) VALUES (?, 1, 1, 'Name', '', '', ?, 0.0, 1e12)"
)


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Where]:
    """A database of the release before, with coins in every kind of row."""
    with database_before("-ledger", request.param, tmp_path, fill) as where:
        yield where


def fill(connection: Any) -> None:
    for row in ((1, "A", "a", 70, False), (2, "B", "b", 0, False), (3, "C", "c", 5, True)):
        connection.execute(CHARACTER, row)
    for letter in ((1, 20), (2, 0)):
        connection.execute(LETTER, letter)


def test_all_coins_have_an_entry_after_the_upgrade(place: Where) -> None:
    upgrade_database(place, schemas())
    with Store.open(place) as store:
        ledger, one, letter = store.world.ledger, Owner.character(1), Owner.letter(1)
        audit = ledger.audit()
        assert (audit.held, audit.by_entries, audit.differences) == (95, 95, ())
        [entry] = ledger.of_owner(one, 9)
        assert (entry.reason, entry.giver, entry.change(one), entry.left(one)) == (
            Reason.BEFORE, OwnerKind.BEFORE, 70, 70,
        )  # fmt: skip
        parts = (Part(one, Owner.character(2), 30), Part(letter, one, 20))
        assert ledger.move(Movement("a", Reason.SPLIT, parts), Moment(1.0)).is_done
        audit = ledger.audit()
        assert (audit.held, audit.by_entries, audit.differences) == (95, 95, ())
