"""A watcher gives new tables once per sound edit, whoever made it, and keeps the old ones else."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from emu.errors import StoreError
from emu.net.opcode_source import OpcodeWatcher
from emu.opcodes import OpcodeStore, VersionRange, shipped_tables
from tests.support.files.opcode_rows import shipped_database

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_opcodes")]

RANGE = VersionRange(540, 546)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[OpcodeStore]:
    with OpcodeStore(shipped_database(tmp_path)) as opened:
        yield opened


@pytest.fixture
def watcher(store: OpcodeStore) -> Iterator[OpcodeWatcher]:
    watching = OpcodeWatcher(store.path)
    assert watching.poll() is not None
    yield watching
    watching.close()


def by_hand(path: Path, *statements: str) -> None:
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def test_the_first_poll_gives_the_tables_and_the_second_nothing(store: OpcodeStore) -> None:
    watcher = OpcodeWatcher(store.path)
    tables = watcher.poll()
    assert tables is not None
    assert tables is watcher.tables
    assert tables.for_version(546).number("OP_LsClientAlertlogReplyMsg") == 216
    assert watcher.poll() is None
    watcher.close()


def test_an_edit_is_seen_once(store: OpcodeStore, watcher: OpcodeWatcher) -> None:
    store.set(RANGE, "OP_KeymapLoadMsg", 900)
    tables = watcher.poll()
    assert tables is not None
    assert tables.for_version(546).number("OP_KeymapLoadMsg") == 900
    assert watcher.poll() is None


def test_a_snapshot_in_use_does_not_change(store: OpcodeStore, watcher: OpcodeWatcher) -> None:
    before = watcher.tables
    assert before is not None
    store.set(RANGE, "OP_KeymapLoadMsg", 900)
    assert watcher.poll() is not before
    assert before.for_version(546).number("OP_KeymapLoadMsg") == 153


def test_an_edit_made_with_another_tool_is_seen(store: OpcodeStore, watcher: OpcodeWatcher) -> None:
    by_hand(store.path, "UPDATE opcodes SET opcode = 901 WHERE name = 'OP_KeymapLoadMsg'")
    tables = watcher.poll()
    assert tables is not None
    assert tables.for_version(561).number("OP_KeymapLoadMsg") == 901


def test_writes_to_other_tables_cost_no_reload(store: OpcodeStore, watcher: OpcodeWatcher) -> None:
    by_hand(store.path, "CREATE TABLE account (name TEXT)")
    watcher.poll()  # the schema is another; looking once more is right
    by_hand(store.path, "INSERT INTO account VALUES ('alice')")
    assert watcher.poll() is None
    assert watcher.problem is None


def test_an_edit_is_seen_when_a_tool_dropped_the_triggers(
    store: OpcodeStore, watcher: OpcodeWatcher
) -> None:
    by_hand(
        store.path,
        *(f"DROP TRIGGER opcodes_{one}" for one in ("inserted", "updated", "deleted", "moved")),
    )
    assert watcher.poll() is not None
    by_hand(store.path, "UPDATE opcodes SET opcode = 902 WHERE name = 'OP_KeymapLoadMsg'")
    assert watcher.poll() is not None
    assert watcher.poll() is None


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("DELETE FROM opcodes WHERE first_version = 0", "no range covers version 0 and 1"),
        ("DELETE FROM opcodes", "no range covers version 0 and 1"),
        (
            "UPDATE opcodes SET opcode=7 WHERE name = 'OP_LoginRequestMsg' AND last_version=546",
            "OP_LoginRequestMsg is 7, but it is 0 in every client version",
        ),
        (
            "UPDATE opcodes SET opcode=216 WHERE name = 'OP_KeymapLoadMsg' AND last_version=546",
            "540-546 216 is the number of OP_KeymapLoadMsg and OP_LsClientAlertlogReplyMsg",
        ),
        ("DROP TABLE opcodes", "no such table: opcodes"),
    ],
)
def test_a_broken_edit_is_refused_with_its_reason(
    store: OpcodeStore, watcher: OpcodeWatcher, statement: str, reason: str
) -> None:
    in_use = watcher.tables
    by_hand(store.path, statement)
    assert watcher.poll() is None
    assert watcher.problem is not None
    assert reason in watcher.problem
    assert "\n" not in watcher.problem
    assert watcher.tables is in_use


def test_a_repair_ends_the_problem(store: OpcodeStore, watcher: OpcodeWatcher) -> None:
    store.set(RANGE, "OP_LoginRequestMsg", 7)
    assert watcher.poll() is None
    assert watcher.poll() is None
    assert watcher.problem is not None
    store.undo()
    assert watcher.poll() is not None
    assert watcher.problem is None


@pytest.mark.parametrize(
    ("assignment", "column", "kind"),
    [
        ("opcode = 'many'", "opcode", "text, not a whole number"),
        ("opcode = 7.5", "opcode", "a fraction, not a whole number"),
        ("note = x'00ff'", "note", "bytes, not text"),
        ("note = cast(x'66ff66' AS TEXT)", "note", "bytes, not text"),
        ("source = x'41'", "source", "bytes, not text"),
        ("name = x'4f505f41'", "name", "bytes, not text"),
        ("last_version = x'41'", "last_version", "bytes, not a whole number"),
    ],
)
def test_values_of_wrong_types_are_reported_with_row_and_column_and_watching_goes_on(
    store: OpcodeStore, watcher: OpcodeWatcher, assignment: str, column: str, kind: str
) -> None:
    in_use = watcher.tables
    by_hand(
        store.path,
        "PRAGMA ignore_check_constraints = ON",
        f"UPDATE opcodes SET {assignment} WHERE name = 'OP_KeymapLoadMsg' AND last_version = 546",
    )
    assert watcher.poll() is None
    problem = str(watcher.problem)
    with closing(sqlite3.connect(store.path)) as connection:
        (number,) = connection.execute(
            f"SELECT id FROM opcodes WHERE typeof({column}) IN ('blob', 'real')"
            f" OR typeof({column}) = 'text' AND cast({column} AS BLOB) IN (x'6d616e79', x'66ff66')"
        ).fetchone()
    assert f"row {number} " in problem
    assert f"column {column} holds {kind}" in problem
    assert "\n" not in problem
    assert watcher.tables is in_use
    with pytest.raises(StoreError, match=f"row {number} .* column {column} holds"):
        store.rows()
    statements: list[str] = []
    assert watcher._database is not None
    watcher._database.connection.set_trace_callback(statements.append)
    assert watcher.poll() is None  # the same rows are not read again for every poll
    assert not any("FROM opcodes" in one for one in statements)
    by_hand(store.path, f"DELETE FROM opcodes WHERE id = {number}")
    assert watcher.poll() is not None
    assert watcher.problem is None


def test_a_missing_or_locked_file_is_a_problem_and_no_error(
    store: OpcodeStore, watcher: OpcodeWatcher, tmp_path: Path
) -> None:
    gone = OpcodeWatcher(tmp_path / "none.sqlite")
    assert gone.poll() is None
    assert "there is no such database" in str(gone.problem)
    assert not (tmp_path / "none.sqlite").exists()
    (tmp_path / "text.sqlite").write_text("not a database at all, just some text" * 40)
    text = OpcodeWatcher(tmp_path / "text.sqlite")
    assert text.poll() is None
    assert "not a SQLite database" in str(text.problem)


def test_a_file_put_in_its_place_is_read(
    store: OpcodeStore, watcher: OpcodeWatcher, tmp_path: Path
) -> None:
    other = tmp_path / "backup.sqlite"
    with OpcodeStore.ensure(other) as backup:
        backup.set(RANGE, "OP_KeymapLoadMsg", 903)
    store.close()
    other.replace(store.path)
    for suffix in ("-wal", "-shm"):
        Path(f"{store.path}{suffix}").unlink(missing_ok=True)
    tables = watcher.poll()
    assert tables is not None
    assert tables.for_version(546).number("OP_KeymapLoadMsg") == 903


def test_rows_that_nobody_edited_are_those_of_the_program(
    store: OpcodeStore, watcher: OpcodeWatcher
) -> None:
    """They are checked and in memory already; reading them again would cost each start."""
    assert watcher.tables is shipped_tables()
    store.set(RANGE, "OP_KeymapLoadMsg", 900)
    edited = watcher.poll()
    assert edited is not None
    assert edited is not shipped_tables()
    store.undo()
    assert watcher.poll() is shipped_tables()
