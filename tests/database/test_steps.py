"""Migrations are files that are numbered without a gap."""

from pathlib import Path

import pytest

from emu.database import Migration, read_steps


def test_a_gap_in_the_numbers_is_refused(tmp_path: Path) -> None:
    (tmp_path / "0002-late.sql").write_text("SELECT 1;", encoding="utf-8")
    with pytest.raises(ValueError, match="starts with 0001-"):
        read_steps(tmp_path)
    assert [step.number for step in read_steps(tmp_path, 2)] == [2]


def test_a_name_of_another_form_is_refused(tmp_path: Path) -> None:
    (tmp_path / "first.sql").write_text("SELECT 1;", encoding="utf-8")
    with pytest.raises(ValueError, match=r"first\.sql: expected a name"):
        read_steps(tmp_path)


def test_a_migration_says_which_programs_can_go_on() -> None:
    assert Migration(2, "adds", "CREATE TABLE a (b BIGINT);").compatible == 0
    assert Migration(3, "removes", "-- compatible: 2\nDROP TABLE a;").compatible == 2
