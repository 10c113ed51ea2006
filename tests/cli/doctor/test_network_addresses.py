"""What players are advertised, for one mistake after the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.cli.doctor.findings import Finding, Level
from emu.cli.doctor.network import check_addresses
from tests.support.running.configs import small_config
from tests.support.running.names import know_no_invalid_names

OPEN = "login.listen=0.0.0.0:9100"


@pytest.fixture(autouse=True)
def no_name_server(monkeypatch: pytest.MonkeyPatch) -> None:
    know_no_invalid_names(monkeypatch)


def troubles(folder: Path, *overrides: str) -> list[Finding]:
    config = small_config(folder, *overrides)
    return [one for one in check_addresses(config) if one.level is not Level.OK]


@pytest.mark.parametrize(
    "overrides",
    [
        [],
        [OPEN, "world.listen=0.0.0.0:9001", "world.advertise=203.0.113.7",
         "world.internal_address=192.168.1.20"],
        [OPEN, "world.listen=0.0.0.0:9001", "world.advertise=203.0.113.7"],
        ["login.listen=[::]:9100", "world.listen=[::]:9001", "world.advertise=2001:db8::7"],
        ["login.listen=[::]:9100", "world.listen=[::]:9001", "world.advertise=203.0.113.7"],
        [OPEN, "world.enabled=no"],
    ],
)  # fmt: skip
def test_good_ones(tmp_path: Path, overrides: list[str]) -> None:
    assert [one for one in troubles(tmp_path, *overrides) if one.level is Level.FAIL] == []


@pytest.mark.parametrize(
    ("overrides", "level", "what"),
    [
        ([OPEN], Level.FAIL, "world.listen: other machines can log in"),
        ([OPEN, "world.listen=0.0.0.0:9001"], Level.FAIL, "which only this machine can"),
        ([OPEN, "world.listen=0.0.0.0:9001", "world.advertise=127.0.0.1"], Level.FAIL,
         "which only this machine can reach"),
        ([OPEN, "world.listen=0.0.0.0:9001", "world.advertise=0.0.0.0"], Level.FAIL,
         "no address that a client can connect to"),
        ([OPEN, "world.listen=0.0.0.0:9001", "world.advertise=192.168.1.20"], Level.WARN,
         "good in the LAN only"),
        ([OPEN, "world.listen=0.0.0.0:9001", "world.advertise=100.64.3.4"], Level.FAIL,
         "shares among its customers"),
        ([OPEN, "world.listen=0.0.0.0:9001", "world.advertise=eq.invalid"], Level.WARN,
         "cannot be resolved"),
        ([OPEN, "world.listen=0.0.0.0:9001", "world.advertise=203.0.113.7",
          "world.internal_address=198.51.100.1"], Level.WARN, "is not a private address"),
        ([OPEN, "world.listen=0.0.0.0:9001", "world.advertise=2001:db8::7"], Level.FAIL,
         "listens only on 0.0.0.0"),
    ],
)  # fmt: skip
def test_mistakes(tmp_path: Path, overrides: list[str], level: Level, what: str) -> None:
    found = troubles(tmp_path, *overrides)
    assert any(one.level is level and what in one.what and one.fix for one in found), found
