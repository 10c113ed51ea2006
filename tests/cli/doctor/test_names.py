"""Names that look alike: those of earlier programs, which nobody has checked."""

# ruff: noqa: RUF001  # the letters that look alike are the subject

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from emu.cli.doctor.findings import Level
from emu.cli.doctor.names import LOOKS_LIKE, MOST_SHOWN, alike, check_names, skeleton
from emu.store import Store
from emu.times import Moment


@pytest.mark.parametrize(
    "name",
    ["аlice", "aliсe", "ａｌｉｃｅ", "ALICE", "ΑLICE", "АLIСЕ", "alıce"],
)
def test_these_look_like_alice(name: str) -> None:
    assert skeleton(name) == skeleton("alice")


@pytest.mark.parametrize("name", ["alise", "alicé", "алиса", "alice2"])
def test_these_do_not(name: str) -> None:
    assert skeleton(name) != skeleton("alice")


def test_each_letter_of_the_table_stands_for_a_latin_one() -> None:
    assert all(not chr(one).isascii() for one in LOOKS_LIKE)
    assert all(chr(other).isascii() for other in LOOKS_LIKE.values())


def test_names_of_two_worlds_are_not_compared() -> None:
    assert alike([("Here", "Borvik"), ("There", "Bоrvik")]) == []
    assert alike([("Here", "Borvik"), ("Here", "Bоrvik")]) == [["Borvik", "Bоrvik"]]


def accounts(path: Path, *names: str) -> Path:
    with Store.create(path) as store:
        for name in names:
            store.login.accounts.add(name, "", Moment(0.0))
    return path


def test_accounts_that_look_alike_are_named_with_their_letters(tmp_path: Path) -> None:
    path = accounts(tmp_path / "emu.sqlite", "alice", "аlice", "bob")
    (found,) = check_names(path)
    assert found.level is Level.WARN
    assert found.what == (
        "accounts whose names look alike: alice, аlice ('\\u0430lice')"
    )  # fmt: skip


def test_long_lists_are_cut(tmp_path: Path) -> None:
    names = [f"{first}{number}" for number in range(MOST_SHOWN + 2) for first in ("a", "а")]
    found = list(check_names(accounts(tmp_path / "emu.sqlite", *names)))
    assert len(found) == MOST_SHOWN + 1
    assert found[-1].what == "2 more groups of accounts"


def test_a_missing_or_broken_database_has_no_finding(tmp_path: Path) -> None:
    assert list(check_names(tmp_path / "none.sqlite")) == []
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as connection:
        connection.execute("CREATE TABLE customers (id INTEGER)")
    assert list(check_names(tmp_path / "other.sqlite")) == []


def test_different_names_are_well(tmp_path: Path) -> None:
    (found,) = check_names(accounts(tmp_path / "emu.sqlite", "alice", "bob"))
    assert found.level is Level.OK
