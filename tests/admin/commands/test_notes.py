"""The commands of operators' notes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from emu.admin.commands import notes
from emu.admin.commands.notes import NoteCommandContext
from emu.audit import Change, OperatorNote
from emu.model import Account
from emu.times import Moment
from tests.support.admin.commanding import CommandBench


class Notes:
    """Implements `emu.admin.ports.NoteStore`."""

    def __init__(self) -> None:
        self.rows: list[OperatorNote] = []

    async def add_note(self, note: OperatorNote) -> int:
        self.rows.append(note._replace(id=len(self.rows) + 1))
        return len(self.rows)

    async def of_account(self, account_id: int) -> list[OperatorNote]:
        return [one for one in reversed(self.rows) if one.account_id == account_id]

    async def remove(self, note_id: int) -> OperatorNote | None:
        found = next((one for one in self.rows if one.id == note_id), None)
        if found is not None:
            self.rows.remove(found)
        return found


class Accounts:
    async def find_account(self, name: str) -> Account | None:
        return Account(7, "alice", "hash") if name.lower() == "alice" else None


@pytest.fixture
def bench() -> CommandBench:
    accounts: Any = Accounts()
    clock: Any = SimpleNamespace(moment=lambda: Moment(0.0))
    context = NoteCommandContext(Notes(), accounts, clock)
    return CommandBench(notes.COMMANDS.commands(context))


def test_a_note_is_written_listed_and_removed(bench: CommandBench) -> None:
    assert bench.run("note add ALICE was warned").lines == ("note 1 about account alice is stored",)
    [row] = bench.run("note list alice").data
    assert (row["number"], row["who"], row["text"]) == (1, "root", "was warned")
    assert bench.run("note remove 1").text == "note 1 is removed"
    assert bench.run("note list alice").lines == ("0 notes",)
    assert not bench.run("note remove 1").ok
    assert [(use.subject, use.change) for use in bench.uses[:2]] == [
        ("account ALICE", Change(after="was warned")), ("note 1", Change(before="was warned")),
    ]  # fmt: skip


def test_what_is_no_note_is_refused(bench: CommandBench) -> None:
    assert bench.run("note add nobody hello").text == "there is no account nobody"
    assert bench.run("note add alice " + "x" * 501).text == "a note has 1 to 500 characters"
    assert "needs rank" in bench.run("note list alice", rank=0).text
