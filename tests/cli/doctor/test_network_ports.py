"""Ports, some of them really taken."""

from __future__ import annotations

import errno
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from emu.admin.status import OpenPort
from emu.cli.doctor.findings import Finding, Level
from emu.cli.doctor.network import check_ports, judge_buffer, judge_port
from emu.config import Address
from emu.config.ports import ListeningPort
from tests.support.admin.snapshots import Measured
from tests.support.running.configs import small_config
from tests.support.running.names import know_no_invalid_names

PORT = ListeningPort("login.listen", "UDP", Address("127.0.0.1", 9100))


def found(folder: Path, *overrides: str) -> list[Finding]:
    config = small_config(folder, *overrides)
    return [
        one for one in check_ports(config, None, is_hidden=False) if "UDP sockets" not in one.what
    ]


def test_free_ports_are_well_and_are_free_afterwards(tmp_path: Path) -> None:
    for _ in range(2):
        assert {one.level for one in found(tmp_path)} == {Level.OK}


@pytest.mark.parametrize("kind", [socket.SOCK_DGRAM, socket.SOCK_STREAM])
def test_a_port_that_another_program_has_is_found(tmp_path: Path, kind: socket.SocketKind) -> None:
    with socket.socket(type=kind) as taken:
        taken.bind(("127.0.0.1", 0))
        if kind == socket.SOCK_STREAM:
            taken.listen()
        number = taken.getsockname()[1]
        looked_at = found(tmp_path, f"login.listen=127.0.0.1:{number}")
    # The same number of the other protocol may be somebody else's just now.
    protocol = "TCP" if kind == socket.SOCK_STREAM else "UDP"
    (bad,) = [
        one for one in looked_at if one.level is Level.FAIL and f" {protocol} " in f" {one.what} "
    ]
    assert "taken by another program" in bad.what
    assert f"sport = {number}" in bad.fix


def test_an_address_of_another_machine_is_found(tmp_path: Path) -> None:
    bad = [one for one in found(tmp_path, "world.listen=192.0.2.1:0") if one.level is Level.FAIL]
    assert [one.what for one in bad] == ["world.listen: 192.0.2.1 is no address of this machine"]


def test_a_name_without_an_address_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    know_no_invalid_names(monkeypatch)
    bad = [one for one in found(tmp_path, "world.listen=w.invalid:0") if one.level is Level.FAIL]
    assert "cannot be resolved" in bad[0].what


def test_a_port_of_the_running_server_is_its_own() -> None:
    now = Measured().snapshot()
    assert judge_port(PORT, errno.EADDRINUSE, now).level is Level.OK
    elsewhere = replace(now, ports=(OpenPort("login.listen", "TCP", "127.0.0.1:9100", {}),))
    assert judge_port(PORT, errno.EADDRINUSE, elsewhere).level is Level.FAIL
    assert judge_port(PORT, None, elsewhere).level is Level.WARN, "it should be open"
    assert judge_port(PORT, errno.EADDRINUSE, None, is_hidden=True).level is Level.OK


@pytest.mark.parametrize("error", [errno.EACCES, errno.EADDRNOTAVAIL, errno.EINVAL])
def test_whatever_else_keeps_a_port_shut_is_reported(error: int) -> None:
    bad = judge_port(PORT, error, None)
    assert bad.level is Level.FAIL
    assert bad.fix


def test_small_buffers_are_a_warning() -> None:
    assert judge_buffer(212_992).level is Level.WARN
    assert "net.core.rmem_max=4194304" in judge_buffer(212_992).fix
    assert judge_buffer(8_000_000).level is Level.OK
