"""The tables are the same on each engine, and statements keep to what all engines know."""

import re
from pathlib import Path

import pytest

from emu.store import Store
from tests.support.database.engines import run, store_database

KINDS = {
    "bigint": "INTEGER", "boolean": "INTEGER", "double precision": "REAL", "text": "TEXT",
}  # fmt: skip
SQLITE_ONLY = {"database_mark"}
"""What only the owner of a file needs."""
SERVER_ONLY = {"schema_version"}
"""SQLite keeps its number in the file's header."""

Columns = dict[str, dict[str, tuple[str, bool, bool]]]
"""Table -> column -> kind, whether it may be NULL, whether it is in the primary key."""


def of_sqlite(store: Store) -> Columns:
    run_ = store.sqlite.connection.execute
    tables = run_("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    found: Columns = {}
    for (table,) in tables.fetchall():
        if table in SQLITE_ONLY:
            continue
        rows = run_(f"PRAGMA table_info({table})").fetchall()
        found[table] = {
            row["name"]: (row["type"], not row["notnull"] and not row["pk"], row["pk"] > 0)
            for row in rows
        }
    return found


def of_postgresql(rows: list[tuple[str, str, str, str]], keys: set[tuple[str, str]]) -> Columns:
    found: Columns = {}
    for table, column, kind, nullable in rows:
        if table not in SERVER_ONLY:
            found.setdefault(table, {})[column] = (
                KINDS[kind], nullable == "YES", (table, column) in keys,
            )  # fmt: skip
    return found


def test_all_engines_have_the_same_tables_columns_and_keys(empty_sqlite_store: Store) -> None:
    with store_database() as where:
        columns = run(
            where,
            "SELECT c.table_name, c.column_name, c.data_type, c.is_nullable"
            " FROM information_schema.columns AS c JOIN information_schema.tables AS t"
            " USING (table_schema, table_name)"
            " WHERE table_schema = 'public' AND table_type = 'BASE TABLE'",
        )
        keys = run(
            where,
            "SELECT k.table_name, k.column_name FROM information_schema.key_column_usage AS k"
            " JOIN information_schema.table_constraints USING (constraint_schema, constraint_name)"
            " WHERE constraint_type = 'PRIMARY KEY' AND constraint_schema = 'public'",
        )
        views = run(where, "SELECT viewname FROM pg_views WHERE schemaname = 'public'")
        indexes = run(where, "SELECT indexname FROM pg_indexes WHERE schemaname = 'public'")
    assert of_postgresql(columns, set(keys)) == of_sqlite(empty_sqlite_store)
    found = empty_sqlite_store.sqlite.connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'view'"
    )
    assert {name for (name,) in views} == {name for (name,) in found}
    found = empty_sqlite_store.sqlite.connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
    )
    assert {name for (name,) in indexes} >= {name for (name,) in found}


REFUSED = {
    r"INSERT OR|REPLACE INTO": "use _upsert or _insert_new",
    r"\bdeleted = [01]\b": "use TRUE, FALSE and NOT",
    r"json_each|json_group|NOCASE|GLOB |unixepoch|datetime\(|lastrowid|\biif\(": "SQLite only",
    r"= ANY\(|unnest|ILIKE": "PostgreSQL only",
}


@pytest.mark.parametrize("folder", ["emu/store", "emu/cluster"])
def test_statements_keep_to_what_all_engines_know(folder: str) -> None:
    root = Path(__file__).parents[2]
    wrong = []
    for path in (root / folder).rglob("*.py"):
        if path.name == "eq2emu_rows.py":  # a temporary SQLite file of its own
            continue
        text = path.read_text(encoding="utf-8")
        for pattern, cure in REFUSED.items():
            wrong += [f"{path.name}: {found[0]}: {cure}" for found in re.finditer(pattern, text)]
    assert not wrong
