"""Migrations on a server: all or none, once, and only by `upgrade` where tables are already."""

import threading
from contextlib import closing
from dataclasses import replace

import pytest

from emu.database import Migration, ServerUrl
from emu.database.postgresql import PostgresqlDatabase
from emu.database.postgresql.migrations import Version, migrate, read_version
from emu.errors import StoreError
from emu.store import Store
from emu.store.repository import schemas
from tests.support.database.engines import empty_database, postgresql, run

FIRST = Migration(3, "three", "CREATE TABLE three (a BIGINT); INSERT INTO three VALUES (3);")
SECOND = Migration(4, "four", "ALTER TABLE three ADD COLUMN b BIGINT;")
THIRD = Migration(5, "five", "-- compatible: 4\nALTER TABLE three DROP COLUMN a;")


def upgrade(where: ServerUrl, *steps: Migration) -> list[int]:
    with closing(PostgresqlDatabase(where)) as database, database.explaining():
        return migrate(database.server, where, steps)


def test_a_database_is_made_upgraded_and_checked() -> None:
    with empty_database() as where:
        with pytest.raises(StoreError, match=r"no tables of this program; .*emu database upgrade"):
            PostgresqlDatabase.open(where, [FIRST])
        PostgresqlDatabase.create(where, [FIRST]).close()
        PostgresqlDatabase.create(where, [FIRST]).close()
        with pytest.raises(
            StoreError, match=r"older \(schema 3\).*schema 4\); run `emu database up"
        ):
            PostgresqlDatabase.create(where, [FIRST, SECOND])
        assert upgrade(where, FIRST, SECOND) == [4]
        assert upgrade(where, FIRST, SECOND) == []
        # A release only adds: the older program goes on.
        PostgresqlDatabase.open(where, [FIRST]).close()
        assert upgrade(where, FIRST, SECOND, THIRD) == [5]
        with pytest.raises(StoreError, match=r"newer version.*schema 5, which needs 4; this one k"):
            PostgresqlDatabase.open(where, [FIRST])
        PostgresqlDatabase.open(where, [FIRST, SECOND]).close()


def test_a_migration_that_fails_changes_nothing() -> None:
    wrong = Migration(4, "wrong", "CREATE TABLE four (a BIGINT); INSERT INTO nowhere VALUES (1);")
    with empty_database() as where:
        upgrade(where, FIRST)
        with pytest.raises(StoreError, match="nowhere"):
            upgrade(where, FIRST, wrong)
        with closing(PostgresqlDatabase(where)) as database:
            assert read_version(database.server) == Version(3, 0)
            assert run(where, "SELECT to_regclass('four')") == [(None,)]


def test_nodes_that_start_at_the_same_time_make_the_tables_once() -> None:
    found: list[object] = []

    def start() -> None:
        try:
            PostgresqlDatabase.create(where, [FIRST, SECOND]).close()
            found.append("")
        except StoreError as error:
            found.append(str(error))

    with empty_database() as where:
        threads = [threading.Thread(target=start) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert found == [""] * 4
        assert run(where, "SELECT count(*) FROM three") == [(1,)]


def test_a_database_with_another_encoding_is_refused() -> None:
    with empty_database() as where:
        name = f"{where.database}_latin"
        run(
            postgresql(),
            f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C'"
            " LC_CTYPE 'C'",
        )
        try:
            with pytest.raises(
                StoreError, match="LATIN1; create the database with ENCODING 'UTF8'"
            ):
                Store.create(replace(where, database=name))
        finally:
            run(postgresql(), f"DROP DATABASE {name} WITH (FORCE)")


def test_the_steps_of_the_store_have_numbers_that_both_engines_share() -> None:
    both = schemas()
    assert both.postgresql[-1].number == both.sqlite.newest
    names = {step.name for step in both.sqlite.steps}
    assert {step.name for step in both.postgresql[1:]} <= names
