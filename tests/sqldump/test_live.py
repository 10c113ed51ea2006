"""A live database, read in place of a dump."""

import gc
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emu.errors import CommandError
from emu.sqldump import Dump, LiveDatabase
from emu.sqldump.live import is_url, parse
from tests.support.database import mariadb
from tests.support.files.eq2emu_players import ANTONIA, LOGIN, mysqldump


@pytest.fixture(scope="module")
def antonia() -> Iterator[str]:
    with mariadb.database(ANTONIA) as url:
        yield url


def reading(url: str, *tables: str, **options: Any) -> list[Any]:
    source = LiveDatabase(url, **options)
    try:
        return list(source.read_rows(tables))
    finally:
        source.close()


@pytest.mark.parametrize(
    ("url", "shown", "password"),
    [
        ("mysql://eq2@host/db", "mysql://eq2@host/db", None),
        ("mariadb://eq2:s%40c@host:3307/db", "mysql://eq2@host:3307/db", "s@c"),
        ("mysql://eq2:@[::1]/db", "mysql://eq2@[::1]/db", ""),
        ("mysql://a%40b@h/db?socket=/run/m.sock", "mysql://a@b@h/db?socket=/run/m.sock", None),
    ],
)
def test_a_url_is_shown_without_its_password(url: str, shown: str, password: str | None) -> None:
    address = parse(url)
    assert (str(address), address.password) == (shown, password)
    assert password is None or password == "" or password not in repr(address)
    assert is_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "mysql://eq2:hidden@host", "mysql://eq2:hidden@host/a/b", "mysql://:hidden@host/db",
        "mysql://eq2:hidden@host:99999/db", "mysql://eq2:hidden@host/db?compress=1",
        "mysql://eq2:hidden@host/db?ca=/nowhere.pem", "mysql://eq2:hid@den@[::1/db",
    ],
)  # fmt: skip
def test_a_wrong_url_is_refused_and_its_password_never_shown(url: str) -> None:
    with pytest.raises(CommandError, match=r"^mysql://\.\.\.@") as raised:
        parse(url)
    assert "hid" not in str(raised.value)


def test_files_are_no_urls() -> None:
    assert not any(map(is_url, ("eq2ls.sql.gz", "/tmp/mysql", "sqlite:emu.sqlite", "http://x/y")))


def test_rows_are_those_of_a_dump(antonia: str, tmp_path: Path) -> None:
    path = tmp_path / "antonia.sql"
    path.write_text(mysqldump(ANTONIA), encoding="utf-8")
    dump, live = Dump(path), LiveDatabase(antonia)
    for _ in range(2):
        wanted = [(row.table, row.named()) for row in dump.read_rows(ANTONIA)]
        assert [(row.table, row.named()) for row in live.read_rows(ANTONIA)] == wanted
    assert live.tables == dump.tables
    assert (live.name, str(live)) == (antonia.rpartition("/")[2], antonia)
    live.close()
    live.close()


def test_rows_are_placed_by_their_id(antonia: str) -> None:
    first, *_ = reading(antonia, "CHARACTERS", "none")
    assert (first.table, first.line, first.place) == ("characters", 0, "id 900")


def test_values_have_the_types_of_a_dump() -> None:
    kinds = {
        "a": ("DECIMAL(6,2)", "12.50", 12.5), "b": ("DECIMAL(6,0)", "12", 12),
        "c": ("BIT(8)", "b'101'", 5), "d": ("DATE", "'2020-02-02'", "2020-02-02"),
        "e": ("BLOB", "x'00ff'", b"\0\xff"), "f": ("TEXT", "_latin1 x'e9'", "é"),
        "g": ("DOUBLE", "1e300", 1e300), "h": ("INT", "NULL", None), "i": ("YEAR", "2004", 2004),
    }  # fmt: skip
    with mariadb.database() as url:
        name = url.rpartition("/")[2]
        columns = ", ".join(f"`{column}` {kind}" for column, (kind, _, _) in kinds.items())
        values = ", ".join(literal for _, literal, _ in kinds.values())
        mariadb.run(
            f"CREATE TABLE {name}.`odd``name` ({columns})",
            f"INSERT INTO {name}.`odd``name` VALUES ({values})",
        )
        (row,) = reading(url, "odd`name")
    assert row.values == tuple(value for _, _, value in kinds.values())


def test_every_reading_is_of_one_moment_and_nothing_can_be_changed() -> None:
    with mariadb.database({"titles": ANTONIA["titles"]}) as url:
        name = url.rpartition("/")[2]
        source = LiveDatabase(url)
        source.open()
        mariadb.run(f"DELETE FROM {name}.titles")
        assert len(list(source.read_rows(("titles",)))) == 2
        with source._faults(), pytest.raises(Exception, match="READ ONLY transaction"):
            source._connection.cursor().execute("DELETE FROM titles")
        source.close()


def test_tables_that_no_snapshot_fixes_are_named_once() -> None:
    lines: list[str] = []
    with mariadb.database({"titles": ANTONIA["titles"]}, engine="MyISAM") as url:
        source = LiveDatabase(url, warn=lines.append)
        assert [len(list(source.read_rows(("titles",)))) for _ in range(2)] == [2, 2]
        source.close()
    (line,) = lines
    assert line.startswith(f"{url}: some tables are not InnoDB (titles)")


@pytest.mark.slow
def test_a_wrong_database_user_host_and_rights_are_named_with_the_cure(antonia: str) -> None:
    at = parse(antonia)
    user, where = f"u{at.database[-12:]}", f"{at.host}:{at.port}"
    mariadb.run(f"CREATE USER {user}@'{at.host}' IDENTIFIED BY 'hidden word'")
    try:
        for url, reason in {
            antonia + "x": f"the server has no database {at.database}x",
            f"mysql://{user}:wrong@{where}/{at.database}": "the user or the password is wrong",
            f"mysql://{user}:hidden%20word@{where}/{at.database}": "the user has no rights on this"
            f" database: GRANT SELECT ON {at.database}.* TO {user}",
        }.items():
            with pytest.raises(CommandError) as raised:
                reading(url, "titles")
            assert f"/{parse(url).database}: {reason}" in str(raised.value)
            assert "hidden" not in str(raised.value)
        mariadb.run(f"GRANT INSERT ON {at.database}.titles TO {user}@'{at.host}'")
        with pytest.raises(CommandError, match=f"GRANT SELECT ON {at.database}"):
            reading(
                f"mysql://{user}@{where}/{at.database}", "titles", password=lambda _: "hidden word"
            )
    finally:
        mariadb.run(f"DROP USER {user}@'{at.host}'")


def test_a_port_without_a_server_is_named() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with pytest.raises(
            CommandError, match=f"^mysql://u@127.0.0.1:{port}/db: no server answers"
        ):
            reading(f"mysql://u:hidden@127.0.0.1:{port}/db", "titles")


def test_a_password_is_asked_once_when_the_url_has_none() -> None:
    asked: list[str] = []
    source = LiveDatabase(
        "mysql://eq2@127.0.0.1:1/db", password=lambda who: asked.append(who) or ""
    )
    with pytest.raises(CommandError):
        source.open()
    assert asked == ["Password of eq2 for db at 127.0.0.1"]


@pytest.mark.slow
def test_a_reading_that_is_left_halfway_leaves_nothing_open(antonia: str) -> None:
    source = LiveDatabase(antonia)
    rows = source.read_rows(ANTONIA)
    next(rows)
    del rows
    source.close()
    gc.collect()


@pytest.mark.slow
def test_the_driver_is_imported_with_the_first_connection_only() -> None:
    code = "import sys, emu.sqldump, emu.cli.eq2emu; sys.exit('pymysql' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow
def test_both_databases_of_players_can_be_read_at_the_same_time(antonia: str) -> None:
    with mariadb.database(LOGIN) as url:
        login, world = LiveDatabase(url), LiveDatabase(antonia)
        pairs = zip(login.read_rows(("account",)), world.read_rows(("characters",)), strict=True)
        assert [(one.values[1], other.columns[1]) for one, other in pairs] == [
            ("Alice", "account_id"), ("bob", "account_id"), ("Carl", "account_id"),
        ]  # fmt: skip
        login.close()
        world.close()
