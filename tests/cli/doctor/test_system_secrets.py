"""Passwords that are easily guessed, and listeners without a password."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.cli.doctor.findings import Level
from emu.cli.doctor.system import check_secrets, judge_password
from emu.store import Store
from tests.support.running.configs import small_config
from tests.support.running.whole_server import add_account

GOOD = "Gx7pQ2mLw9ZtRb4k"
OPEN = "login.listen=0.0.0.0:9100"


@pytest.mark.parametrize(
    "overrides",
    [
        [],
        [f"rcon.password={GOOD}"],
        ["rcon.password=shorter"],
        ["web.listen=127.0.0.1:0", "login.auto_create_accounts=yes"],
        [OPEN, "world.listen=0.0.0.0:9001"],
    ],
)
def test_good_enough(tmp_path: Path, overrides: list[str]) -> None:
    (found,) = check_secrets(small_config(tmp_path, *overrides))
    assert found.level is Level.OK


@pytest.mark.parametrize(
    ("overrides", "level", "what"),
    [
        (["rcon.password=changeme"], Level.WARN, "everybody tries first"),
        (["rcon.password=aaaaaaaaaaaaaaa"], Level.WARN, "everybody tries first"),
        (["rcon.password=changeme", "rcon.listen=0.0.0.0:0"], Level.FAIL, "everybody tries"),
        (["rcon.password=x7pQ2m", "rcon.listen=0.0.0.0:0"], Level.FAIL, "has 6 letters"),
        ([f"rcon.password={GOOD}", "rcon.listen=0.0.0.0:0"], Level.WARN, "unencrypted"),
        (["ssq.enabled=yes", "ssq.password=secret"], Level.WARN, "ssq.password"),
        (["web.listen=0.0.0.0:8080"], Level.FAIL, "needs no password"),
        ([OPEN, "login.auto_create_accounts=yes"], Level.WARN, "creates an account"),
        ([OPEN, "login.crc_seed=7"], Level.WARN, "crc_seed"),
        ([OPEN, "link.unregistered_worlds=yes"], Level.WARN, "any world may register"),
        (["login.enabled=no", "world.login_servers=192.0.2.1:9100", "world.account=a",
          "world.password=abc"], Level.FAIL, "world.password has 3 letters"),
        (["ggmp.policy=open", "ggmp.listen=0.0.0.0:0"], Level.WARN, "without a token"),
    ],
)  # fmt: skip
def test_mistakes(tmp_path: Path, overrides: list[str], level: Level, what: str) -> None:
    found = list(check_secrets(small_config(tmp_path, *overrides)))
    assert any(one.level is level and what in one.what for one in found), found
    assert not any("changeme" in one.what for one in found), "it is not shown"


def test_users_of_a_file_are_looked_at_each(tmp_path: Path) -> None:
    (tmp_path / "users").write_text(f"anna administrator {GOOD}\nbob guide password\n")
    setting = f"rcon.users_file={tmp_path / 'users'}"
    (found,) = check_secrets(small_config(tmp_path, setting))
    assert found.what.startswith("the rcon password of bob")
    (tmp_path / "users").write_text("anna king x\n")
    (found,) = check_secrets(small_config(tmp_path, setting))
    assert (found.level, "king" in found.what) == (Level.FAIL, True)


def test_a_long_one_is_good_anywhere() -> None:
    assert judge_password("a", GOOD, "0.0.0.0") is None


@pytest.mark.slow
def test_the_account_of_the_guides_is_found_where_others_can_log_in(tmp_path: Path) -> None:
    public = small_config(tmp_path, OPEN, "world.listen=0.0.0.0:9001")
    assert {one.level for one in check_secrets(public)} == {Level.OK}
    add_account(public.database.path, "testlabs", "testpass")
    (found,) = check_secrets(public)
    assert (found.level, "password of the guides" in found.what) == (Level.FAIL, True)
    assert {one.level for one in check_secrets(small_config(tmp_path))} == {Level.OK}
    with Store.open(public.database.path) as store:
        account = store.login.accounts.find("testlabs")
        assert account is not None
        store.login.accounts.set_password(account.id, "another")
    assert {one.level for one in check_secrets(public)} == {Level.OK}
