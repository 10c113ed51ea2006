"""Files that really are wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from emu.cli.doctor.findings import Finding, Level
from emu.cli.doctor.system import (
    check_permissions,
    judge_log_folder,
    judge_owner,
    judge_socket,
    judge_trouble,
)
from emu.store import Store
from tests.support.running.configs import small_config


def troubles(folder: Path, *overrides: str) -> list[Finding]:
    config = small_config(folder, *overrides)
    return [one for one in check_permissions(config, None) if one.level is not Level.OK]


def test_all_is_well_before_and_after_the_first_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert troubles(tmp_path) == []
    Store.create(tmp_path / "emu.sqlite").close()
    assert troubles(tmp_path) == []


def test_a_folder_in_the_place_of_the_database_is_found(tmp_path: Path) -> None:
    (tmp_path / "emu.sqlite").mkdir()
    assert troubles(tmp_path)[0].level is Level.FAIL


def test_a_folder_that_nobody_can_write_to_is_found(tmp_path: Path) -> None:
    (bad, *_) = troubles(tmp_path, "database.url=sqlite:/proc/emu.sqlite")
    assert (bad.level, "chown" in bad.fix) == (Level.FAIL, True)


def test_a_certificate_that_is_none_is_found(tmp_path: Path) -> None:
    (tmp_path / "link.pem").write_text("nothing")
    bad = troubles(
        tmp_path, f"link.certificate={tmp_path / 'link.pem'}", "link.tls_listen=127.0.0.1:0"
    )
    assert any("emu world certificate" in one.fix for one in bad)


def test_a_database_that_everybody_can_read_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store.create(tmp_path / "emu.sqlite").close()
    (tmp_path / "emu.sqlite").chmod(0o644)
    monkeypatch.setattr("emu.config.secrets._is_open", lambda path: path.stat().st_mode & 0o004)
    (bad,) = [one for one in troubles(tmp_path) if "password hashes" in one.what]
    assert bad.level is Level.WARN
    assert bad.fix == f"chmod o= {tmp_path / 'emu.sqlite'}"


def test_another_user_s_database_is_reported(tmp_path: Path) -> None:
    assert judge_owner(tmp_path, 5, 5).level is Level.OK
    other = judge_owner(tmp_path, 987_654, os.geteuid())
    assert (other.level, "user 987654" in other.what) == (Level.WARN, True)


def test_a_socket_s_name_may_be_too_long() -> None:
    assert judge_socket(Path("/run/eq2emu/emu.console")).level is Level.OK
    assert judge_socket(Path("/" + "x" * 110)).level is Level.FAIL


def test_where_a_daemon_cannot_write_its_log_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert judge_log_folder(tmp_path, is_writable=True).level is Level.OK
    monkeypatch.chdir("/proc")
    assert any("twistd.log" in one.what for one in troubles(tmp_path))


def test_what_is_damaged_wants_a_backup() -> None:
    assert "backup" in judge_trouble("database.url: x is damaged or not a SQLite database").fix
