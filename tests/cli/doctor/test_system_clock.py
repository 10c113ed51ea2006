"""Clocks that stand wrong, jump, or were set back."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path

from emu.cli.doctor.findings import Level
from emu.cli.doctor.system import (
    WRITTEN,
    check_clock,
    judge_date,
    judge_pace,
    judge_stored,
    newest_login,
)
from emu.store import Store

NOON = WRITTEN + 1_000_000.0


def test_a_clock_that_runs_is_well(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    with closing(Store.create(path)) as store:
        store.login.accounts.add("bob", "", NOON)
    passed = [0.0]

    def pause(seconds: float) -> None:
        passed[0] += seconds

    found = list(check_clock(path, lambda: NOON + passed[0], lambda: 7.0 + passed[0], pause))
    assert {one.level for one in found} == {Level.OK}
    assert passed == [0.2]


def test_a_machine_without_a_battery_begins_in_1970() -> None:
    assert judge_date(60.0).level is Level.FAIL
    assert judge_date(NOON).level is Level.OK


def test_a_step_while_it_was_looked_at_is_found() -> None:
    dates, steady = count(NOON, 3600.0), count(5.0, 0.2)
    found = list(
        check_clock(Path("/none"), lambda: next(dates), lambda: next(steady), lambda _s: None)
    )
    assert [one.level for one in found] == [Level.OK, Level.WARN]
    assert judge_pace(0.21, 0.2).level is Level.OK


def test_a_login_in_the_future_means_that_the_clock_was_set_back(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    with closing(Store.create(path)) as store:
        store.login.accounts.add("bob", "", NOON)
    assert newest_login(path) is None
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE accounts SET last_login = ?", (NOON + 86_400,))
    assert newest_login(path) == NOON + 86_400
    assert judge_stored(NOON + 86_400, NOON).level is Level.FAIL
    assert judge_stored(NOON, NOON).level is Level.OK


def test_a_database_that_cannot_be_read_is_others_business(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"no database" * 100)
    assert newest_login(tmp_path / "x") is None
    assert newest_login(tmp_path / "none") is None
