"""A whole server whose system clock stands before 1970."""

from pathlib import Path

import pytest

from emu.net.machine import Machine
from tests.support.running.emu_process import emu
from tests.support.running.whole_server import HOST, harness

SCRIPT = "say Hello there\nwait 0.3\nquit\n"


@pytest.mark.slow
async def test_players_come_in_and_speak_before_1970(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Machine, "moment", staticmethod(lambda: -1_000_000.0))
    trace = tmp_path / "trace.pcapng"
    settings = {"trace.file": trace, "web.listen": f"{HOST}:0"}
    async with harness(tmp_path, settings) as server:
        at = f"{HOST}:{server.login_port}"
        player = ("--user", "testlabs", "--password", "testpass", "--character", "Aldana")
        for _ in range(2):
            said, complaint, status = await emu(
                tmp_path, "client", "shell", at, *player, "--create", stdin=SCRIPT
            )
            assert status == 0, complaint
            assert "Hello there" in said
        assert "muted" not in server.log.text
        assert "Traceback" not in server.log.text
        ((played, created),) = server.rows("SELECT last_played, created FROM world_characters")
        assert played == created == -1_000_000.0
