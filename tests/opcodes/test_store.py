"""Rows in SQLite: every edit is whole, in the history, and can be taken back."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlite_utils
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import CommandError, FileFormatError, StoreError
from emu.opcodes import OpcodeRow, OpcodeStore, VersionRange, shipped_tables
from emu.opcodes import store as store_module
from emu.opcodes.text import shipped_rows
from tests.support.examples import tries
from tests.support.files.opcode_rows import ROWS, shipped_database
from tests.support.patience import within

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_opcodes")]

RANGE = VersionRange(540, 546)


@pytest.fixture
def store(tmp_path: Path, few_opcodes: None) -> Iterator[OpcodeStore]:
    with OpcodeStore(shipped_database(tmp_path), who="alice") as opened:
        yield opened


def number(store: OpcodeStore, name: str = "OP_KeymapLoadMsg", version: int = 546) -> int | None:
    return store.tables().for_version(version).get(name)


def placed(*rows: OpcodeRow) -> list[tuple[str, OpcodeRow]]:
    return [(f"line {index}", row) for index, row in enumerate(rows, 1)]


def test_a_new_database_holds_what_is_shipped(store: OpcodeStore) -> None:
    assert sorted(store.rows()) == sorted(shipped_rows())
    for version in (0, 546, 561, 64753):
        mine, shipped = store.tables().for_version(version), shipped_tables().for_version(version)
        assert dict(mine.numbers) == dict(shipped.numbers)


def test_opening_again_changes_nothing(store: OpcodeStore) -> None:
    store.set(RANGE, "OP_KeymapLoadMsg", 400)
    before, history = store.rows(), store.history(limit=-1)
    with OpcodeStore.ensure(store.path) as again:
        assert (again.rows(), again.history(limit=-1)) == (before, history)


def test_looking_changes_no_file(store: OpcodeStore, tmp_path: Path) -> None:
    store.set(RANGE, "OP_KeymapLoadMsg", 400)
    store.close()
    before = store.path.read_bytes()
    with OpcodeStore.open_to_read(store.path) as looking:
        assert number(looking) == 400
    assert store.path.read_bytes() == before
    other = tmp_path / "other.sqlite"
    with contextlib.closing(sqlite3.connect(other)) as connection, connection:
        connection.execute("CREATE TABLE account (name TEXT)")
    before = other.read_bytes()
    with pytest.raises(StoreError, match="has no opcode tables"):
        OpcodeStore.open_to_read(other)
    assert other.read_bytes() == before


def test_it_stands_beside_other_tables(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE account (name TEXT)")
        connection.execute("INSERT INTO account VALUES ('alice')")
        connection.execute("PRAGMA user_version = 5")
    OpcodeStore.ensure(path).close()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT * FROM account").fetchall() == [("alice",)]
        assert connection.execute("PRAGMA user_version").fetchone() == (5,)


def test_set_says_what_changed_and_who_did_it(store: OpcodeStore) -> None:
    plan = store.set(RANGE, "OP_KeymapLoadMsg", 400, note="tried")
    assert plan.altered == 1
    assert number(store) == 400
    (entry,) = store.history(name="OP_KeymapLoadMsg", limit=1)
    assert (entry.who, entry.action) == ("alice", "set")
    assert entry.old is not None
    assert entry.new is not None
    assert (entry.old.opcode, entry.new.opcode, entry.new.note) == (153, 400, "tried")
    assert store.set(RANGE, "OP_KeymapLoadMsg", 400).changes == []
    assert store.rows(RANGE) == [row for row in store.rows() if row.range == RANGE]


def test_unset_removes_one_row(store: OpcodeStore) -> None:
    store.unset(RANGE, "OP_KeymapLoadMsg")
    assert number(store) is None
    assert number(store, version=561) == 153
    with pytest.raises(CommandError, match="no row OP_KeymapLoadMsg in the range 540-546"):
        store.unset(RANGE, "OP_KeymapLoadMsg")


@pytest.mark.parametrize(
    ("version_range", "name", "opcode"),
    [((546, 540), "OP_A", 1), ((540, 546), "A", 1), ((540, 546), "OP_A", 65536)],
)
def test_what_is_no_row_is_not_written(
    store: OpcodeStore, version_range: tuple[int, int], name: str, opcode: int
) -> None:
    before = store.rows()
    with pytest.raises(CommandError):
        store.set(VersionRange(*version_range), name, opcode)
    assert store.rows() == before


def test_undo_walks_back_and_an_undo_can_be_undone(store: OpcodeStore) -> None:
    for value in (400, 401, 402):
        store.set(RANGE, "OP_KeymapLoadMsg", value)
    seen = []
    for _ in range(3):
        taken = store.undo()
        seen.append((number(store), len(taken)))
    assert seen == [(401, 1), (400, 1), (153, 1)]
    with pytest.raises(CommandError, match="nothing to undo"):
        store.undo()
    (newest,) = store.history(limit=1)
    assert newest.action == "undo"
    store.undo(newest.change)
    assert number(store) == 400
    assert store.undo()[0].action == "set", "the redone change stands again"
    assert number(store) == 153


def test_undo_brings_back_source_note_and_rows(store: OpcodeStore) -> None:
    before = store.rows()
    store.set(RANGE, "OP_KeymapLoadMsg", 400, source="me", note="tried")
    store.unset(RANGE, "OP_KeymapNoneMsg")
    store.set(VersionRange(7, 8), "OP_New", 5)
    for _ in range(3):
        store.undo()
    assert store.rows() == before


def test_a_change_under_a_later_one_is_not_torn_out(store: OpcodeStore) -> None:
    store.set(RANGE, "OP_KeymapLoadMsg", 400)
    first = store.history(limit=1)[0].change
    store.set(RANGE, "OP_KeymapLoadMsg", 401)
    with pytest.raises(CommandError, match="changed again later; undo that first"):
        store.undo(first)
    assert number(store) == 401
    with pytest.raises(CommandError, match="the history has no change 999"):
        store.undo(999)


def test_an_import_is_one_change_and_again_none(store: OpcodeStore) -> None:
    rows = placed(*(OpcodeRow(700, 701, f"OP_N{n}", n) for n in range(2500)))
    reported: list[tuple[int, int]] = []
    plan = store.apply_rows(rows, action="import", progress=lambda *now: reported.append(now))
    assert plan.added == 2500
    assert reported == [(1000, 2500), (2000, 2500), (2500, 2500)]
    assert len(store.history(change=store.history(limit=1)[0].change, limit=-1)) == 2500
    assert store.apply_rows(rows, action="import").changes == []
    assert len(store.undo()) == 2500
    assert store.rows(VersionRange(700, 701)) == []


def test_a_dry_run_writes_nothing(store: OpcodeStore) -> None:
    before = store.history(limit=1)
    assert store.apply_rows(placed(OpcodeRow(1, 2, "OP_A", 3)), action="x", dry_run=True).added == 1
    assert store.history(limit=1) == before


def test_a_file_that_fails_in_the_middle_changes_nothing(store: OpcodeStore) -> None:
    def broken() -> Iterator[tuple[str, OpcodeRow]]:
        yield from placed(OpcodeRow(1, 2, "OP_A", 3))
        raise FileFormatError("cut short")

    before = store.rows()
    with pytest.raises(FileFormatError):
        store.apply_rows(broken(), action="import")
    assert store.rows() == before


def test_an_error_while_writing_changes_nothing(store: OpcodeStore) -> None:
    def failing(_done: int, _total: int) -> None:
        raise RuntimeError("the terminal is gone")

    before = store.rows()
    with pytest.raises(RuntimeError):
        store.apply_rows(placed(OpcodeRow(1, 2, "OP_A", 3)), action="import", progress=failing)
    assert store.rows() == before
    store.set(RANGE, "OP_KeymapLoadMsg", 400)
    assert store.history(limit=1)[0].action == "set"


def test_edits_of_other_tools_are_in_the_history(store: OpcodeStore) -> None:
    """The tables are plain: sqlite-utils edits them, and undo takes its edits back too."""
    before = store.rows()
    other = sqlite_utils.Database(store.path)
    other["opcodes"].insert({"first_version": 9, "last_version": 9, "name": "OP_New", "opcode": 5})
    (row,) = other["opcodes"].rows_where("name = 'OP_KeymapLoadMsg' AND first_version = 540")
    other["opcodes"].update(row["id"], {"opcode": 401})
    other["opcodes"].update(row["id"], {"name": "OP_Other"})
    other["opcodes"].delete_where("name = 'OP_New'")
    other.close()
    entries = store.history(limit=5)
    assert [entry.row.name for entry in reversed(entries)] == [
        "OP_New", "OP_KeymapLoadMsg", "OP_KeymapLoadMsg", "OP_Other", "OP_New",
    ]  # fmt: skip
    assert {(entry.who, entry.action) for entry in entries} == {("SQL", "sql")}
    assert len({entry.change for entry in entries}) == 4
    for _ in range(4):
        store.undo()
    assert store.rows() == before


@pytest.mark.parametrize(
    "values",
    ["(546, 540, 'OP_A', 1)", "(1, 2, 'A', 1)", "(1, 2, 'OP_A', 65536)", "(1, 2, 'OP_A;', 1)"],
)
def test_the_tables_themselves_refuse_nonsense(store: OpcodeStore, values: str) -> None:
    with (
        contextlib.closing(sqlite3.connect(store.path)) as connection,
        pytest.raises(sqlite3.IntegrityError),
    ):
        connection.execute(
            f"INSERT INTO opcodes (first_version, last_version, name, opcode) VALUES {values}"
        )


def test_a_newer_program_brings_its_rows_but_not_over_an_operators(
    store: OpcodeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.set(RANGE, "OP_KeymapLoadMsg", 400)
    store.unset(RANGE, "OP_KeymapNoneMsg")
    keep = [row for row in shipped_rows() if row.name != "OP_KeymapSaveMsg"]
    newer = [
        row._replace(opcode=row.opcode + 1) if row.name.startswith("OP_Keymap") else row
        for row in keep
    ]
    newer.append(OpcodeRow(900, 901, "OP_LoginRequestMsg", 0, "new", ""))
    monkeypatch.setattr(store_module, "shipped_rows", lambda: tuple(newer))
    for _ in range(2):
        with OpcodeStore(store.path) as upgraded:
            found = {row.name: row.opcode for row in upgraded.rows(RANGE)}
            assert found["OP_KeymapLoadMsg"] == 400
            assert "OP_KeymapNoneMsg" not in found
            assert "OP_KeymapSaveMsg" not in found
            assert found["OP_KeymapDataMsg"] == 156
            assert len(upgraded.rows(VersionRange(900, 901))) == 1
    assert store.undo()[0].row.name == "OP_KeymapNoneMsg", "what is shipped is not undone"


@pytest.mark.slow
@tries(25)
@given(ROWS, st.data())
def test_any_edits_are_taken_back_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, rows: list[OpcodeRow], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("db") / "emu.sqlite"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_module, "shipped_rows", lambda: (OpcodeRow(0, 0, "OP_A", 1, "", ""),))
        store = OpcodeStore.ensure(path)
    with store:
        states = [store.rows()]
        for index in range(4):
            chosen = data.draw(st.lists(st.sampled_from(rows), unique=True)) if rows else []
            changed = [row._replace(opcode=(row.opcode + index) % 65536) for row in chosen]
            if store.apply_rows(placed(*changed), action="import").changes:
                states.append(store.rows())
        while len(states) > 1:
            assert store.rows() == states.pop()
            store.undo()
        assert store.rows() == states.pop()


@pytest.mark.slow
def test_43000_rows_are_quick(tmp_path: Path) -> None:
    """Well under the three seconds that an import may take; the limit here is for slow machines."""
    rows = placed(
        *(
            OpcodeRow(first, first, f"OP_Name{n}Msg", n)
            for first in range(100, 180)
            for n in range(540)
        )
    )
    with OpcodeStore.ensure(tmp_path / "emu.sqlite") as store:
        with within(6):
            assert store.apply_rows(rows, action="import").added == 43_200
        assert store.apply_rows(rows, action="import").unchanged == 43_200
