"""Import of the rows of an EQ2Emulator login database."""

import io
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing

import pytest

from emu.errors import CommandError, FileFormatError
from emu.login.names import account_name
from emu.model import Account
from emu.sqldump import InsertRow, read_inserts
from emu.store import Store
from emu.store import eq2emu as running
from emu.store.eq2emu import import_dump
from emu.times import Moment
from emu.worlds import RegisteredWorld
from tests.support.files.eq2emu_dumps import HASH, OTHER, counts, take

DUMP = f"""
CREATE TABLE `account` (
  `id` int(11) unsigned NOT NULL AUTO_INCREMENT,
  `name` varchar(32) DEFAULT NULL,
  `passwd` varchar(128) NOT NULL,
  `ip_address` varchar(64) DEFAULT NULL,
  `last_client_version` int(10) unsigned NOT NULL DEFAULT 0,
  `created_date` int(10) unsigned NOT NULL DEFAULT 0,
  `account_enabled` tinyint(1) NOT NULL DEFAULT 1,
  `hack_count` int(10) unsigned NOT NULL DEFAULT 0,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB;
INSERT INTO `account` VALUES
 (7,'Alice','{HASH.upper()}','192.0.2.7',546,1000000000,1,0),
 (9,'Zo\u00eb','{OTHER}',NULL,0,0,0,3);
CREATE TABLE `login_worldservers` (
  `id` int, `name` varchar(255), `account` varchar(64), `password` varchar(255),
  `description` varchar(255), `disabled` tinyint, `created_date` datetime, `hide_serverlist` int
);
INSERT INTO `login_worldservers` VALUES
 (3,'Antonia','anto','{OTHER}','old','0','2001-09-09 01:46:40',0),
 (4,'Closed','closed','{HASH}','',1,NULL,0);
INSERT INTO `login_bannedips` (`ip`) VALUES ('10.0.'),('192.0.2.1');
INSERT INTO `login_config` (`config_name`, `config_value`)
 VALUES ('max_characters_per_account','7');
INSERT INTO `login_worldstats` (`id`) VALUES (1);
"""


def account_row(number: int, name: str, password: str = HASH) -> str:
    return f"INSERT INTO account (id, name, passwd) VALUES ({number}, '{name}', '{password}');\n"


def test_everything_is_taken_over_with_its_ids(empty_store: Store) -> None:
    report = take(empty_store, DUMP)
    assert counts(report) == {
        "account": (2, 2, 0, 0),
        "login_worldservers": (2, 2, 0, 0),
        "login_bannedips": (2, 2, 0, 0),
        "login_config": (1, 1, 0, 0),
    }
    assert (report.added, report.present, report.left_out) == (7, 0, 0)
    assert report.notes == []
    assert report.settings == {"max_characters_per_account": "7"}
    assert empty_store.login.accounts.every() == [
        Account(7, "Alice", HASH, created=1e9, last_address="192.0.2.7", last_client_version=546),
        Account(9, "Zoë", OTHER, enabled=False),
    ]
    worlds = empty_store.login.worlds.reports()
    assert [item.world for item in worlds] == [
        RegisteredWorld(3, "Antonia", "anto", OTHER, "old"),
        RegisteredWorld(4, "Closed", "closed", HASH, enabled=False),
    ]
    assert worlds[0].created == 1e9
    assert [ban.prefix for ban in empty_store.login.bans.every()] == ["10.0", "192.0.2.1"]
    stored = empty_store.database.connection.execute("SELECT * FROM settings").fetchall()
    assert [tuple(row) for row in stored] == [("login_config", "max_characters_per_account", "7")]


def test_a_second_time_changes_nothing(empty_store: Store) -> None:
    take(empty_store, DUMP)
    empty_store.login.accounts.set_password(7, "upgraded meanwhile")
    before = empty_store.login.accounts.every()
    report = take(empty_store, DUMP)
    assert {tally.added for tally in report.tables.values()} == {0}
    assert report.present == 7
    assert empty_store.login.accounts.every() == before


def test_a_trial_reports_the_same_and_stores_nothing(empty_store: Store) -> None:
    assert counts(take(empty_store, DUMP, dry_run=True)) == counts(take(empty_store, DUMP))
    take(empty_store, account_row(50, "Bob"), dry_run=True)
    assert empty_store.login.accounts.find("Bob") is None


def test_an_id_conflict_stops_everything(store: Store) -> None:
    dump = account_row(50, "Bob") + account_row(1, "Carol")
    with pytest.raises(
        CommandError, match="account 1 is 'Alice' in the store, 'Carol' in the dump"
    ):
        take(store, dump)
    assert [account.name for account in store.login.accounts.every()] == ["Alice"]


def test_conflicting_ids_are_renumbered_on_request(store: Store) -> None:
    report = take(store, account_row(50, "Bob") + account_row(1, "Carol"), renumber=True)
    assert report.notes == ["account 'Carol' gets a new id, 1 is 'Alice' in the store"]
    alice, bob, carol = store.login.accounts.every()
    assert [alice.id, bob.id, bob.name, carol.name] == [1, 50, "Bob", "Carol"]
    assert carol.id > 50


def test_the_same_name_under_another_id_is_reported(store: Store) -> None:
    report = take(store, account_row(30, "ALICE"))
    assert report.notes == ["account 'ALICE' has the id 1 in the store and 30 in the dump"]


def test_rows_that_cannot_be_used_are_left_out_with_a_reason(store: Store) -> None:
    dump = (
        account_row(30, "x" * 32)
        + account_row(31, "")
        + "INSERT INTO account (id, name) VALUES ('many', 'Bob');\n"
        + "INSERT INTO login_worldservers (id, name, account) VALUES (9, 'Far', '');\n"
        + "INSERT INTO login_worldservers (id, name, account) VALUES (9, 'NORRATH', 'far');\n"
        + "INSERT INTO login_bannedips (ip) VALUES ('everybody');\n"
        + "INSERT INTO login_config (config_name, config_value) VALUES ('a', '1'), ('a', '2');\n"
        + "INSERT INTO login_config VALUES ('b', '2');\n"
    )
    report = take(store, dump)
    skipped = {name: skipped for name, (_, _, _, skipped) in counts(report).items()}
    assert skipped == {
        "account": 3, "login_worldservers": 2, "login_bannedips": 1, "login_config": 1,
    }  # fmt: skip
    assert report.left_out == 7
    reasons = (
        "31 bytes", "empty", "id is no number: 'many'", "no account to register",
        "has the name 'NORRATH'", "is not an address", "a occurs twice", "not named",
    )  # fmt: skip
    for words in reasons:
        assert any(words in note for note in report.notes), words
    assert len(store.login.accounts.every()) == 1
    assert report.settings == {"a": "1"}


def test_a_password_that_is_no_hash_never_matches(store: Store) -> None:
    report = take(store, account_row(30, "Bob", "plain"))
    bob = store.login.accounts.find("Bob")
    assert bob is not None
    assert bob.password == ""
    assert report.notes == ["no usable password; set one with: emu account password 'Bob'"]


def test_a_file_that_breaks_off_stores_nothing(store: Store) -> None:
    with pytest.raises(FileFormatError):
        take(store, account_row(30, "Bob") + "INSERT INTO account (id, name) VALUES (31, 'Ca")
    assert [account.name for account in store.login.accounts.every()] == ["Alice"]


def test_progress_is_reported_for_the_trial_and_the_import(
    empty_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "PORTION", 2)
    reported: list[tuple[str, int]] = []
    dump = "".join(account_row(n, f"user{n}") for n in range(1, 4))
    take(empty_store, dump, progress=lambda doing, rows: reported.append((doing, rows)))
    assert reported == [("trying", 2), ("trying", 3), ("storing", 2), ("storing", 3)]


@pytest.mark.slow
def test_bans_are_not_read_again_for_each_row(empty_sqlite_store: Store) -> None:
    statements: list[str] = []
    rows = ",".join(f"('10.{n >> 8}.{n & 255}.1')" for n in range(300))
    empty_sqlite_store.sqlite.connection.set_trace_callback(statements.append)
    report = take(empty_sqlite_store, f"INSERT INTO login_bannedips (ip) VALUES {rows};")
    empty_sqlite_store.sqlite.connection.set_trace_callback(None)
    assert report.tables["login_bannedips"].added == 300
    assert [one for one in statements if "ORDER BY prefix" in one] == []


def test_a_running_server_can_write_between_two_portions(
    empty_sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "PORTION", 2)
    monkeypatch.setattr(running, "LONGEST_HOLD", 0.0)
    written: list[int] = []

    def somebody_else_writes(_: float) -> None:
        with closing(sqlite3.connect(empty_sqlite_store.path, timeout=0.0)) as other, other:
            other.execute("UPDATE accounts SET last_login = 5")
            written.append(other.execute("SELECT count(*) FROM accounts").fetchone()[0])

    monkeypatch.setattr(running.time, "sleep", somebody_else_writes)  # type: ignore[attr-defined]
    take(empty_sqlite_store, "".join(account_row(n, f"user{n}") for n in range(1, 6)))
    assert written == [2, 4, 5]
    assert len(empty_sqlite_store.login.accounts.every()) == 5


def test_other_writers_do_not_wait_for_the_trial_of_an_import(empty_sqlite_store: Store) -> None:
    dump = account_row(1, "Bob") + account_row(2, "Carol")

    def rows(tables: Collection[str]) -> Iterator[InsertRow]:
        yield from read_inserts(io.BytesIO(dump.encode()), tables)
        with closing(sqlite3.connect(empty_sqlite_store.path, timeout=0.0)) as other, other:
            other.execute("INSERT OR IGNORE INTO settings VALUES ('x', 'y', 'z')")

    import_dump(empty_sqlite_store, rows, clean_name=account_name, moment=Moment(1.0), dry_run=True)
    assert empty_sqlite_store.login.accounts.every() == []


@pytest.mark.parametrize("number", ["1e999999", "-1", "4294967296", "'1x'", "0x41", "_binary 'x'"])
def test_a_number_beyond_all_bounds_leaves_its_row_out(empty_store: Store, number: str) -> None:
    dump = f"INSERT INTO account (id, name, passwd) VALUES ({number}, 'Bob', '{HASH}');"
    report = take(empty_store, dump)
    assert report.tables["account"].skipped == 1
    assert "line 1: row of account left out: id is" in report.notes[0]


@pytest.mark.parametrize("moment", ["1e999999", "-5", "'0000-00-00 00:00:00'", "'never'", "0x41"])
def test_a_moment_that_is_none_is_not_kept(empty_store: Store, moment: str) -> None:
    columns = "(id, name, passwd, created_date)"
    take(empty_store, f"INSERT INTO account {columns} VALUES (3, 'Bob', '{HASH}', {moment});")
    (bob,) = empty_store.login.accounts.every()
    assert bob.created == 0.0
