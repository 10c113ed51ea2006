"""`emu database`, and the commands that work on the configured database, on PostgreSQL."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from emu.cli.database import database
from emu.database import ServerUrl
from emu.store import Store
from tests.support.database.engines import empty_database, run, store_database
from tests.support.running.command_line import CHEAP, CommandLine


@pytest.fixture
def where() -> Iterator[ServerUrl]:
    with store_database() as found:
        yield found


def on_server(folder: Path, where: ServerUrl) -> CommandLine:
    """Return the commands on a server's database."""
    line = CommandLine(folder)
    line.config.write_text(
        f'[database]\nurl = "{where}"\nnode_file = "{folder / "node.sqlite"}"\n[login]\n{CHEAP}',
        encoding="utf-8",
    )
    return line


def test_accounts_and_characters_are_managed_on_a_server(tmp_path: Path, where: ServerUrl) -> None:
    emu = on_server(tmp_path, where)
    added = emu.good("account", "add", "bob", stdin="secret-enough\n")
    assert f"database: {where}" in added.stderr
    assert [row["name"] for row in emu.rows("account", "list")] == ["bob"]
    assert emu.rows("character", "list") == []
    emu.good("account", "disable", "bob")
    assert run(where, "SELECT enabled FROM accounts") == [(False,)]
    assert "the configuration is good" in emu.good("config", "check").output


@pytest.mark.slow
def test_a_copy_goes_there_and_back(emu: CommandLine, tmp_path: Path, where: ServerUrl) -> None:
    emu.good("account", "add", "bob", stdin="secret-enough\n")
    copied = emu.good("database", "copy", "configured", str(where), "--format", "json")
    assert f'url = "{where}"' in copied.stderr
    back = tmp_path / "back.sqlite"
    emu.good("database", "copy", str(where), f"sqlite:{back}")
    with Store.open(emu.database) as first, Store.open(back) as second:
        assert second.login.accounts.every() == first.login.accounts.every()
    assert "give --resume" in emu.refused("database", "copy", "configured", str(where))
    rows = emu.rows("database", "copy", "configured", str(where), "--resume")
    assert {"table": "accounts", "rows": 1, "copied": 0} in rows
    assert "are the same" in emu.refused("database", "copy", "configured", "configured")


def test_a_url_comes_from_a_file_and_never_with_its_password(
    emu: CommandLine, tmp_path: Path, where: ServerUrl
) -> None:
    emu.good("account", "add", "bob", stdin="secret-enough\n")
    secret = tmp_path / "url"
    secret.write_text(str(where).replace("@", ":hidden@", 1), encoding="utf-8")
    copied = emu.good("database", "copy", "configured", f"@{secret}")
    assert "hidden" not in copied.output
    for wrong in (
        "postgresql://emu:hidden@db/emu", "postgresql://emu:hidden@db:x/emu", "@/no/such/hidden",
        "mysql://emu:hidden@db/emu",
    ):  # fmt: skip
        result = emu.run("database", "copy", "configured", wrong)
        assert result.exit_code == 2
        assert "hidden" not in result.output.replace("@/no/such/hidden", "")


def test_tables_are_upgraded_once(tmp_path: Path) -> None:
    with empty_database() as where:
        emu = on_server(tmp_path, where)
        (row,) = [one for one in emu.rows("database", "check") if "tables" in one["what"]]
        assert row["fix"] == "start a server, or emu database upgrade"
        assert "migrations applied" in emu.good("database", "upgrade").output
        assert "already" in emu.good("database", "upgrade").output
        assert {row["level"] for row in emu.rows("database", "check")} == {"ok"}


def test_a_file_is_upgraded_and_checked(emu: CommandLine) -> None:
    emu.good("account", "add", "bob", stdin="secret-enough\n")
    assert "already" in emu.good("database", "upgrade").output
    assert "every page is intact" in emu.good("database", "check").output


def test_a_server_that_cannot_be_reached_is_a_fault(tmp_path: Path, where: ServerUrl) -> None:
    emu = on_server(tmp_path, replace(where, port="1"))
    found = emu.run("database", "check")
    assert found.exit_code == 1
    assert "the database is away" in " ".join(found.output.split())
    assert "the database is away" in emu.refused("account", "list")
    assert "the database is away" in emu.refused("config", "check")


def test_a_database_is_dumped_and_the_way_back_is_shown(tmp_path: Path, where: ServerUrl) -> None:
    if shutil.which("pg_dump") is None:
        pytest.skip("pg_dump is not installed")
    emu = on_server(tmp_path, where)
    copy = tmp_path / "copy.dump"
    assert "bytes dumped from" in emu.good("backup", str(copy)).stderr
    assert copy.read_bytes().startswith(b"PGDMP")
    assert copy.stat().st_mode & 0o077 == 0
    assert "exists already" in emu.refused("backup", str(copy))
    assert f"pg_restore --clean --if-exists --single-transaction --host={where.host}" in (
        emu.refused("restore", str(copy))
    )
    gone = on_server(tmp_path, replace(where, database="no_such_database"))
    assert "was not dumped" in gone.refused("backup", str(tmp_path / "other.dump"))
    assert not (tmp_path / "other.dump").exists()


def test_without_pg_dump_the_error_says_what_to_run(
    tmp_path: Path, where: ServerUrl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    emu = on_server(tmp_path, where)
    assert "pg_dump --format=custom --file=" in emu.refused("backup", str(tmp_path / "x.dump"))


def test_every_command_has_help_with_an_example() -> None:
    for command in (database, *database.commands.values()):
        assert command.help is not None
        assert "Example: emu database " in command.help, command.name
