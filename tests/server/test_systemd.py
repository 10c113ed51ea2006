"""A server that systemd has started, and the unit in tools/deploy."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.support.foreign.programs import debian_program
from tests.support.running.whole_server import server_process, until

ROOT = Path(__file__).parent.parent.parent
GUIDE = ROOT / "docs" / "guides" / "operating.md"
UNIT = ROOT / "tools" / "deploy" / "eq2emu.service"


def test_the_guide_names_the_unit_and_shows_no_other() -> None:
    text = GUIDE.read_text()
    assert str(UNIT.relative_to(ROOT)) in text
    assert "[Service]" not in text
    named = set(re.findall(r"(?:systemctl [a-z]+(?: --now)?|journalctl -u) ([a-z0-9]+)", text))
    assert named == {UNIT.stem}


async def test_systemd_is_notified_all_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        monkeypatch.setenv("WATCHDOG_USEC", "200000")
        heard: list[str] = []

        def has(line: str, times: int = 1) -> bool:
            while True:
                try:
                    heard.extend(systemd.recv(4096).decode().split("\n"))
                except BlockingIOError:
                    return heard.count(line) >= times

        async with server_process(tmp_path) as server:
            await server.ready()
            await until(lambda: has("READY=1"), "READY")
            assert "STATUS=0 players in 0 zones, 0 worlds" in heard
            await until(lambda: has("WATCHDOG=1", 3), "signs of life")
            server.process.send_signal(signal.SIGHUP)
            await until(lambda: has("RELOADING=1"), "RELOADING")
            await until(lambda: has("READY=1", 2), "READY again")
            assert "STOPPING=1" not in heard
            server.process.send_signal(signal.SIGTERM)
            assert await server.ended() == -signal.SIGTERM
            assert has("STOPPING=1")


def test_the_unit_waits_for_what_the_server_shows() -> None:
    lines = UNIT.read_text().splitlines()
    for line in ("Type=notify", "ExecReload=/bin/kill -HUP $MAINPID"):
        assert line in lines
    assert any(line.startswith("WatchdogSec=") for line in lines)


def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    analyze = debian_program("systemd-analyze", "systemd")
    text = (
        UNIT.read_text()
        .replace("/opt/eq2emu/bin/twistd", "/bin/true")
        .replace("User=eq2emu", "User=root")
    )
    (tmp_path / "eq2emu.service").write_text(text)
    done = subprocess.run(
        [analyze, "verify", "--man=no", str(tmp_path / "eq2emu.service")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    about_ours = [line for line in done.stderr.splitlines() if "eq2emu.service" in line]
    assert (done.returncode, about_ours) == (0, []), done.stderr
