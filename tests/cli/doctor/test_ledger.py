"""The comparison of coins and entries, with coins that another program has changed."""

import sqlite3
from contextlib import closing
from pathlib import Path

from emu.cli.doctor.database import check_database
from emu.cli.doctor.findings import Level
from emu.cli.doctor.ledger import check_ledger, judge_ledger
from emu.ledger import Audit, BalanceDifference, Owner
from emu.store import Store
from tests.support.world.world_fakes import world_character


def test_coins_that_another_program_changed_are_found(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    with Store.create(path) as store:
        store.world.characters.create(world_character(0, coins=100))
    assert [one.what for one in check_ledger(path)] == ["its entries explain all coins: 100 copper"]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE world_characters SET coins = 93")
    found = [one for one in check_database(path) if one.level is Level.WARN]
    [text] = [one.what for one in found if "entry" in one.what]
    assert text == "1 balance changed without an entry: character 1 -7 copper"


def test_a_finding_names_the_first_of_many_owners() -> None:
    many = tuple(BalanceDifference(Owner.letter(number), 1, 0, 5) for number in range(9))
    finding = judge_ledger(Audit(45, 0, many))
    assert finding.what.startswith("9 balances")
    assert finding.what.count("letter") == 5


def test_a_database_that_cannot_be_read_is_left_to_other_checks(tmp_path: Path) -> None:
    assert [*check_ledger(tmp_path / "none.sqlite")] == []
