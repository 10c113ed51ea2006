from pathlib import Path

import pytest

from emu.store import Store
from tests.support.running.command_line import CommandLine


@pytest.fixture
def emu(tmp_path: Path) -> CommandLine:
    made = CommandLine(tmp_path)
    made.good("account", "add", "alice", "--password", "x")
    return made


def test_an_address_is_banned_listed_and_freed(emu: CommandLine) -> None:
    emu.good("account", "address", "ban", "192.0.2.9/24", "--reason", "guessing", "--for", "1h")
    with Store.open(emu.database) as store:
        (ban,) = store.login.bans.every()
        assert ban.until is not None
        assert ban.until - ban.added == pytest.approx(3600)
        assert ban.prefix == "192.0.2.0/24"
    (row,) = emu.rows("account", "address", "list")
    assert (row["prefix"], row["reason"]) == ("192.0.2.0/24", "guessing")
    changed = emu.good("account", "address", "ban", "192.0.2.0/24")
    assert "the ban was changed" in changed.stderr
    assert emu.rows("account", "address", "list")[0]["until"] is None
    emu.good("account", "address", "unban", "192.0.2.0/24")
    assert emu.rows("account", "address", "list") == []


def test_what_is_refused(emu: CommandLine) -> None:
    assert "is not an address" in emu.refused("account", "address", "ban", "example.org")
    assert "10.0 is not banned" in emu.refused("account", "address", "unban", "10.0")
