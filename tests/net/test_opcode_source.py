import sqlite3
from pathlib import Path

import pytest
from twisted.internet.task import Clock

from emu.errors import StoreError
from emu.net.opcode_source import OpcodeSource
from emu.opcodes import OpcodeStore, VersionRange


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "emu.sqlite"
    OpcodeStore.ensure(path).close()
    return path


def test_an_edit_is_noticed_within_two_seconds_and_a_broken_one_refused(database: Path) -> None:
    clock = Clock()
    source = OpcodeSource(database, clock)
    source.start()
    before = source.tables()
    assert before.for_version(546).number("OP_KeymapLoadMsg") == 153
    with OpcodeStore(database, who="test") as store:
        store.set(VersionRange(540, 546), "OP_KeymapLoadMsg", 159)
    clock.advance(2)
    assert source.tables().for_version(546).number("OP_KeymapLoadMsg") == 159
    assert before.for_version(546).number("OP_KeymapLoadMsg") == 153
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute("UPDATE opcodes SET last_version = 10 WHERE first_version = 540")
    connection.commit()
    connection.close()
    clock.advance(2)
    assert source.tables().for_version(546).number("OP_LoginReplyMsg") == 4
    source.stop()


def test_a_database_without_tables_gets_the_shipped_ones(tmp_path: Path) -> None:
    source = OpcodeSource(tmp_path / "new.sqlite", Clock())
    assert source.tables().for_version(561).number("OP_LoginReplyMsg") == 4
    source.stop()


def test_tables_that_cannot_be_used_are_one_clear_line(database: Path) -> None:
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute("UPDATE opcodes SET last_version = 10 WHERE first_version = 540")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="opcode tables cannot be used"):
        OpcodeSource(database, Clock())
