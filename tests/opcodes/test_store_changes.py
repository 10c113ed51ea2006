"""Taking back, doing again, going back to what ships, and edits beside other people's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from emu.errors import CommandError
from emu.opcodes import OpcodeRow, OpcodeStore, VersionRange
from emu.opcodes import store as store_module
from emu.opcodes.text import shipped_rows
from tests.support.files.opcode_rows import shipped_database

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_opcodes")]

RANGE, OTHER = VersionRange(540, 546), VersionRange(560, 561)
NAME = "OP_KeymapLoadMsg"


@pytest.fixture
def store(tmp_path: Path, few_opcodes: None) -> Iterator[OpcodeStore]:
    with OpcodeStore(shipped_database(tmp_path), who="alice") as opened:
        yield opened


def row(store: OpcodeStore, name: str = NAME) -> OpcodeRow | None:
    return {one.name: one for one in store.rows(RANGE)}.get(name)


def number(store: OpcodeStore, name: str = NAME) -> int | None:
    found = row(store, name)
    return None if found is None else found.opcode


def test_undo_cannot_empty_the_shipped_tables(store: OpcodeStore) -> None:
    assert store.history(limit=1)[0].action == "shipped"
    for undo in (store.undo, store.redo):
        with pytest.raises(CommandError, match="shipped tables and cannot be undone"):
            undo(1)
    assert sorted(store.rows()) == sorted(shipped_rows())


def test_redo_does_again_what_undo_took_back(store: OpcodeStore) -> None:
    store.set(RANGE, NAME, 400)
    store.set(RANGE, NAME, 401)
    store.undo()
    store.undo()
    assert number(store) == 153
    assert store.redo()[0].action == "undo"
    assert number(store) == 400
    store.redo()
    assert number(store) == 401
    with pytest.raises(CommandError, match="nothing to redo"):
        store.redo()
    store.undo()
    assert number(store) == 400, "a redone change is undone like any other"
    store.set(RANGE, "OP_KeymapNoneMsg", 500)
    with pytest.raises(CommandError, match="nothing to redo"):
        store.redo()
    with pytest.raises(CommandError, match="is no undo, but set"):
        store.redo(store.history(limit=1)[0].change)


def test_undo_of_one_range_leaves_the_others(store: OpcodeStore) -> None:
    store.set(RANGE, NAME, 400)
    store.set(OTHER, NAME, 401)
    assert store.undo(version_range=RANGE)[0].row.range == RANGE
    assert number(store) == 153
    assert {one.name: one.opcode for one in store.rows(OTHER)}[NAME] == 401
    store.redo(version_range=RANGE)
    assert number(store) == 400
    both = [("", OpcodeRow(*one, NAME, 402, "", "")) for one in (RANGE, OTHER)]
    store.apply_rows(both, action="import")
    change = store.history(limit=1)[0].change
    with pytest.raises(CommandError, match=rf"touched other ranges.*opcodes undo {change}"):
        store.undo(version_range=RANGE)
    store.undo(change)
    assert number(store) == 400


def test_reset_makes_rows_what_is_shipped_and_can_be_undone(store: OpcodeStore) -> None:
    store.set(RANGE, NAME, 400)
    store.unset(RANGE, "OP_KeymapNoneMsg")
    store.set(OTHER, NAME, 401)
    store.set(VersionRange(70000, 70001), "OP_MineMsg", 600)
    before = store.rows()
    assert len(store.reset(RANGE, NAME).changes) == 1
    assert (number(store), number(store, "OP_KeymapNoneMsg")) == (153, None)
    assert [(change.old is None) for change in store.reset(RANGE).changes] == [True]
    plan = store.reset()
    assert (plan.added, plan.altered, plan.removed) == (0, 1, 1)
    assert sorted(store.rows()) == sorted(shipped_rows())
    for _ in range(3):
        store.undo()
    assert store.rows() == before
    with pytest.raises(CommandError, match="such rows"):
        store.reset(VersionRange(1, 2))


def test_what_was_reset_follows_the_program_again(
    store: OpcodeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.set(RANGE, NAME, 400)
    store.set(OTHER, NAME, 401)
    store.reset(RANGE)
    newer = tuple(
        one._replace(opcode=160) if one.name == NAME and one.range in (RANGE, OTHER) else one
        for one in shipped_rows()
    )
    monkeypatch.setattr(store_module, "shipped_rows", lambda: newer)
    with OpcodeStore(store.path) as again:
        assert number(again) == 160
        assert {one.name: one.opcode for one in again.rows(OTHER)}[NAME] == 401


def test_an_edit_writes_only_what_it_changed(store: OpcodeStore) -> None:
    shown = row(store)
    assert shown is not None
    store.set(RANGE, NAME, 400, source="bob's")
    store.amend(shown, shown._replace(note="mine"))
    now = row(store)
    assert now is not None
    assert (now.opcode, now.source, now.note) == (400, "bob's", "mine")
    assert store.amend(now, now).changes == []
    assert (
        len(store.history(limit=-1, name=NAME))
        == len([one for one in shipped_rows() if one.name == NAME]) + 2
    )


def test_an_edit_does_not_overrule_another_user(store: OpcodeStore) -> None:
    shown = row(store)
    assert shown is not None
    store.set(RANGE, NAME, 400)
    with pytest.raises(CommandError, match="another user changed the opcode to 400"):
        store.amend(shown, shown._replace(opcode=401))
    with pytest.raises(CommandError, match="was changed by another user"):
        store.amend(shown, None)
    assert store.amend(shown, shown._replace(opcode=400)).changes == [], "they agree"
    store.unset(RANGE, NAME)
    with pytest.raises(CommandError, match="was removed by another user"):
        store.amend(shown, shown._replace(opcode=401))
    fresh = OpcodeRow(*RANGE, NAME, 402, "", "")
    store.amend(None, fresh)
    with pytest.raises(CommandError, match="exists already with the number 402"):
        store.amend(None, fresh)
    with pytest.raises(CommandError, match="is not an opcode name"):
        store.amend(None, fresh._replace(name="no name"))
    assert number(store) == 402
    store.amend(fresh, None)
    assert number(store) is None
