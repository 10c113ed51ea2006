"""`import-eq2emu` from live databases: the same result as from their dumps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emu.cli import eq2emu
from emu.sqldump.live import parse
from tests.support.database import mariadb
from tests.support.files.eq2emu_players import ANTONIA, LOGIN, mysqldump
from tests.support.running.command_line import CommandLine

IMPORT = ("account", "import-eq2emu")


@pytest.fixture(scope="module")
def urls() -> Iterator[tuple[str, str]]:
    with mariadb.database(LOGIN, engine="MyISAM") as login, mariadb.database(ANTONIA) as world:
        yield login, world


def players(emu: CommandLine) -> Any:
    """Everything that is listed, but moments of the import."""
    return [emu.rows("account", "list"), emu.rows("character", "list"), emu.rows("world", "list")]


@pytest.mark.slow
def test_live_databases_bring_what_their_dumps_bring(
    emu: CommandLine, tmp_path: Path, urls: tuple[str, str]
) -> None:
    login, world = urls
    (tmp_path / "eq2ls.sql").write_text(mysqldump(LOGIN), encoding="utf-8")
    (tmp_path / "eq2emu.sql").write_text(mysqldump(ANTONIA), encoding="utf-8")
    live = emu.good(*IMPORT, login, "--world", f"Antonia={world}", "--format", "csv")
    assert "some tables are not InnoDB (account, login_bannedips, " in live.stderr
    assert "--world Permafrost=FILE" in live.stderr
    imported = players(emu)
    emu.database.unlink()
    words = (str(tmp_path / "eq2ls.sql"), "--world", f"Antonia={tmp_path / 'eq2emu.sql'}")
    dumped = emu.good(*IMPORT, *words, "--format", "csv")
    assert live.stdout == dumped.stdout
    assert imported == players(emu)
    again = emu.good(*IMPORT, login, "--world", f"Antonia={world}", "--dry-run")
    assert "0 rows would be imported" in again.stderr


@pytest.mark.slow
def test_a_world_s_knowledge_and_zones_come_from_a_live_database(
    emu: CommandLine, tmp_path: Path, urls: tuple[str, str]
) -> None:
    login, world = urls
    words = ("world", "import-eq2emu-knowledge", world, "--to", str(tmp_path / "knowledge"))
    assert "2 rows were imported" in emu.good(*words).stderr
    refused = emu.refused("world", "import-eq2emu-knowledge", login, "--to", str(tmp_path / "k"))
    assert refused.startswith(f"{login}: has none of the tables skills, ")


@pytest.mark.slow
def test_opcodes_come_from_a_live_database(emu: CommandLine, urls: tuple[str, str]) -> None:
    row = {"version_range1": 546, "version_range2": 546, "name": "OP_MadeUp", "opcode": 999}
    with mariadb.database({"opcodes": [{"id": 7, **row}, {"id": 8, **row, "opcode": -5}]}) as url:
        result = emu.good("opcodes", "import", url, "--dry-run", "--keep", "all")
    assert "OP_MadeUp" in result.stdout
    assert "left out: id 8: " in result.stderr
    refused = emu.refused("opcodes", "import", urls[0])
    assert refused == f"{urls[0]}: the source has no rows of a table `opcodes`"


@pytest.mark.slow
def test_databases_in_each_other_s_place_are_named(emu: CommandLine, urls: tuple[str, str]) -> None:
    login, world = urls
    refused = emu.refused(*IMPORT, world)
    assert refused.startswith(f"{world}: has no table account, so it is none of a login server")
    assert f"with --world OLD={world}" in refused
    refused = emu.refused(*IMPORT, login, "--world", f"Antonia={login}")
    assert refused.startswith(f"{login}: has no table characters: it is the login server's")
    refused = emu.refused(*IMPORT, login, "--world", f"{world.replace('root', 'root:hidden')}")
    assert refused == "--world: give the world's name before the URL, OLD=URL"


@pytest.mark.slow
def test_a_row_that_is_left_out_is_named_by_its_id(emu: CommandLine) -> None:
    lost = {**LOGIN["login_characters"][0], "account_id": 77}
    with mariadb.database({**LOGIN, "login_characters": [lost]}) as url:
        result = emu.run(*IMPORT, url)
    assert "id 41: row of login_characters left out: its account 77" in result.stderr


@pytest.mark.slow
def test_the_password_comes_from_the_environment_or_the_terminal(
    emu: CommandLine, urls: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    at = parse(urls[0])
    user = f"u{at.database[-12:]}"
    url = f"mysql://{user}@{at.host}:{at.port}/{at.database}"
    mariadb.run(
        f"CREATE USER {user}@'{at.host}' IDENTIFIED BY 'gehëim€'",
        f"GRANT SELECT ON {at.database}.* TO {user}@'{at.host}'",
    )
    try:
        assert "the user or the password is wrong" in emu.refused(*IMPORT, url, "--dry-run")
        monkeypatch.setenv(eq2emu.VARIABLE, "gehëim€")
        emu.good(*IMPORT, url, "--dry-run")
        monkeypatch.delenv(eq2emu.VARIABLE)
        asked: list[str] = []
        monkeypatch.setattr(eq2emu, "asked_secret", lambda who: asked.append(who) or "gehëim€")
        monkeypatch.setattr(eq2emu, "is_terminal", lambda: True)
        emu.good(*IMPORT, url, "--dry-run")
        assert asked == [f"Password of {user} for {at.database} at {at.host}"]
    finally:
        mariadb.run(f"DROP USER {user}@'{at.host}'")


def test_without_the_driver_the_command_to_install_it_is_shown(
    emu: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    refused = emu.refused(*IMPORT, "mysql://eq2:hidden@host/db")
    assert refused.startswith("a live database is read with PyMySQL; install it with: ")
    assert refused.endswith("install 'pymysql<2,>=1.1.1'")
