"""Notes of operators in the database: order, removal, and how many an account has."""

from __future__ import annotations

import pytest

from emu.audit import MOST_NOTES, OperatorNote
from emu.errors import CommandError
from emu.store import Store
from emu.times import Moment


@pytest.fixture
def account_id(empty_store: Store) -> int:
    return empty_store.login.accounts.add("alice", "hash", Moment(1.0)).id


def test_notes_are_read_as_they_were_stored_the_newest_first(
    empty_store: Store, account_id: int
) -> None:
    notes = empty_store.notes
    first = notes.add_note(OperatorNote(account_id, Moment(5.5), "Ann", "spam"))
    second = notes.add_note(OperatorNote(account_id, Moment(6.5), "Bob", "again"))
    assert notes.of_account(account_id) == [
        OperatorNote(account_id, Moment(6.5), "Bob", "again", second),
        OperatorNote(account_id, Moment(5.5), "Ann", "spam", first),
    ]
    removed = notes.remove(first)
    assert removed is not None
    assert removed.text == "spam"
    assert notes.remove(first) is None
    assert [one.id for one in notes.of_account(account_id)] == [second]
    assert notes.of_account(account_id + 1) == []


def test_an_account_has_so_many_notes(empty_store: Store, account_id: int) -> None:
    with empty_store.transaction():
        for number in range(MOST_NOTES):
            empty_store.notes.add_note(OperatorNote(account_id, Moment(5.0), "Ann", str(number)))
    with pytest.raises(CommandError, match="200 notes at most"):
        empty_store.notes.add_note(OperatorNote(account_id, Moment(5.0), "Ann", "more"))
