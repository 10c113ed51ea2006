"""`emu account import-eq2emu`: what operators see."""

import gzip
from pathlib import Path

from emu.login.passwords import eq2emulator_hash, is_phc
from tests.support.running.command_line import CommandLine, stored_password

DUMP = f"""
CREATE TABLE `account` (
  `id` int(11) unsigned NOT NULL AUTO_INCREMENT,
  `name` varchar(32) NOT NULL,
  `passwd` varchar(128) NOT NULL,
  `created_date` int(10) unsigned NOT NULL
);
INSERT INTO `account` VALUES (7,'Alice','{eq2emulator_hash(b"secret")}',1000000000);
CREATE TABLE `login_config` (`config_name` varchar(64), `config_value` varchar(64));
INSERT INTO `login_config` VALUES ('max_characters_per_account','12');
"""


def test_a_dump_is_tried_taken_over_and_taken_over_again(emu: CommandLine, tmp_path: Path) -> None:
    dump = tmp_path / "login.sql.gz"
    dump.write_bytes(gzip.compress(DUMP.encode()))
    words = ("account", "import-eq2emu", str(dump))

    tried = emu.good(*words, "--dry-run")
    assert "nothing was changed" in tried.stderr
    assert not emu.database.exists()

    first = emu.good(*words, "--format", "csv")
    assert "account,1,1,0,0" in first.stdout.splitlines()
    assert "set [login] max_characters in the configuration" in first.stderr
    assert emu.rows("account", "list")[0]["id"] == 7
    assert stored_password(emu, "alice") == eq2emulator_hash(b"secret")
    again = emu.good(*words, "--format", "csv")
    assert "account,1,0,1,0" in again.stdout.splitlines()

    emu.good("account", "password", "alice", "--password", "new")
    emu.good(*words)
    assert is_phc(stored_password(emu, "alice"))


def test_a_dump_that_is_none_changes_nothing(emu: CommandLine, tmp_path: Path) -> None:
    dump = tmp_path / "torn.sql"
    dump.write_text(DUMP + "INSERT INTO `account` VALUES (8,'Bob'", encoding="utf-8")
    emu.good("account", "add", "carol", "--password", "x")
    assert "line" in emu.refused("account", "import-eq2emu", str(dump))
    assert [row["name"] for row in emu.rows("account", "list")] == ["carol"]


def test_rows_that_were_left_out_make_the_status_1_and_the_last_lines_say_so(
    emu: CommandLine, tmp_path: Path
) -> None:
    dump = tmp_path / "login.sql"
    lost = "INSERT INTO login_characters (id, name, account_id) VALUES (1, 'Aldana', 8);\n"
    dump.write_text(DUMP + lost, encoding="utf-8")
    for option, would in (("--dry-run", "would be"), ("--json", "were")):
        result = emu.run("account", "import-eq2emu", str(dump), option)
        assert str(result.exception) == "the import is incomplete: 1 rows skipped"
        assert f"2 rows {would} imported, 0 exist already, 1 {would} skipped" in result.stderr
        assert "row of login_characters left out: its account 8" in result.stderr
    assert [row["id"] for row in emu.rows("account", "list")] == [7]
