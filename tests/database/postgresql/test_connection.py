"""A connection is made when it is needed, made anew when it was lost, and ended from outside."""

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from emu.database import ServerUrl
from emu.database.postgresql import connection as module
from emu.database.postgresql.connection import ServerConnection
from emu.errors import StoreAway, StoreError
from tests.support.database.engines import postgresql, run


@pytest.fixture
def connection() -> Iterator[ServerConnection]:
    with closing(ServerConnection(postgresql())) as made:
        yield made


def backend(connection: ServerConnection) -> int:
    return int(connection.execute("SELECT pg_backend_pid()").fetchone()[0])


def kill(process: int) -> None:
    run(postgresql(), f"SELECT pg_terminate_backend({process})")
    while run(postgresql(), f"SELECT 1 FROM pg_stat_activity WHERE pid = {process}"):
        time.sleep(0.01)


def test_values_come_back_as_they_were(connection: ServerConnection) -> None:
    sql = "SELECT ?::bigint AS a, ?::text AS b, ?::double precision AS c, ?::boolean AS d, ? AS e"
    for values in (
        (2**63 - 1, "Zoë '%s' \\ ?", -1.5, True, "typed"),
        (-(2**63), "", float("inf"), False, ""),
        (0, None, None, None, None),
    ):
        assert connection.execute(sql, values).fetchone() == values
    assert connection.execute("SELECT :a + :b + :a AS n", {"a": 1, "b": 5}).fetchone()["n"] == 7
    with pytest.raises(OverflowError):
        connection.execute(sql, (2**63, "", 0.0, True, ""))


def test_a_text_with_nul_is_stored_without_it(connection: ServerConnection) -> None:
    assert connection.execute("SELECT ?", ("a\0b",)).fetchone()[0] == "a\ufffdb"


def test_a_connection_that_the_server_ended_is_made_anew(connection: ServerConnection) -> None:
    before = backend(connection)
    kill(before)
    assert connection.execute("SELECT 1").fetchone()[0] == 1
    assert backend(connection) != before


def test_a_connection_that_is_lost_in_a_transaction_is_not_made_anew(
    connection: ServerConnection,
) -> None:
    connection.command("BEGIN")
    connection.is_inside = True
    kill(backend(connection))
    with pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT 1")
    with pytest.raises(StoreAway, match="lost in a group of changes"):
        connection.execute("SELECT 1")
    connection.outside()
    assert connection.execute("SELECT 1").fetchone()[0] == 1


def test_a_waiting_thread_is_freed_from_outside(connection: ServerConnection) -> None:
    found: list[Any] = []
    backend(connection)

    def wait() -> None:
        connection.command("BEGIN")
        connection.is_inside = True
        try:
            connection.execute("SELECT pg_sleep(60)")
        except psycopg.Error as error:
            found.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    while not run(postgresql(), "SELECT 1 FROM pg_stat_activity WHERE query ~ '^SELECT pg_sleep'"):
        time.sleep(0.01)
    connection.shut_down()
    thread.join(30)
    assert not thread.is_alive()
    assert isinstance(found[0], psycopg.OperationalError)
    assert connection.is_cut


def test_a_lost_connection_may_be_shut_down_again(connection: ServerConnection) -> None:
    connection.shut_down()
    backend(connection)
    connection.drop()
    connection.shut_down()
    assert connection.is_cut


@pytest.mark.parametrize("wrong", [{"port": "1"}, {"database": "no_such_database"}])
def test_a_server_that_cannot_be_reached_is_away(wrong: dict[str, str]) -> None:
    where = replace(postgresql(), **wrong, password="secret")
    with closing(ServerConnection(where)) as made, pytest.raises(StoreAway) as caught:
        made.execute("SELECT 1")
    assert str(caught.value).startswith(f"{where}: the database is away (")
    assert "secret" not in str(caught.value)


def test_a_closed_connection_stays_closed(connection: ServerConnection) -> None:
    connection.close()
    with pytest.raises(StoreError, match="is closed"):
        connection.execute("SELECT 1")


def test_a_server_that_is_too_old_is_refused(
    connection: ServerConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LEAST_VERSION", 990000)
    with pytest.raises(StoreError, match=r"PostgreSQL \d+ is too old; use 13 or newer"):
        connection.execute("SELECT 1")


def test_a_statement_whose_columns_changed_is_prepared_anew(connection: ServerConnection) -> None:
    connection.command("CREATE TEMPORARY TABLE things (a BIGINT)")
    connection.execute("INSERT INTO things VALUES (1)")
    for _ in range(8):  # prepared after the fifth time
        assert dict(connection.execute("SELECT * FROM things").fetchone()) == {"a": 1}
    with closing(ServerConnection(connection.where)) as other:
        connection.command("CREATE TABLE IF NOT EXISTS emu_changed (a BIGINT)")
        try:
            connection.execute("INSERT INTO emu_changed VALUES (1)")
            for _ in range(8):
                connection.execute("SELECT * FROM emu_changed").fetchall()
            other.command("ALTER TABLE emu_changed ADD COLUMN b BIGINT DEFAULT 2")
            found = dict(connection.execute("SELECT * FROM emu_changed").fetchone())
        finally:
            other.command("DROP TABLE emu_changed")
    assert found == {"a": 1, "b": 2}


def test_the_url_is_that_of_the_connection() -> None:
    where = ServerUrl("emu", "db", "", "emu")
    assert ServerConnection(where).where == where
