"""An operator who looks at a running server: `emu status`, `emu top` and `emu doctor`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from emu.cli.watch.status import read
from tests.support.running.documented import examples, words_of
from tests.support.running.emu_process import emu, emu_on_terminal
from tests.support.running.whole_server import HOST, harness

LISTENERS = {"a2s.listen": f"{HOST}:0", "web.listen": f"{HOST}:0", "rcon.password": "x",
         "rcon.listen": f"{HOST}:0"}  # fmt: skip


async def test_status_of_a_server_that_runs(tmp_path: Path) -> None:
    async with harness(tmp_path, LISTENERS) as server:
        client = await server.logged_in()
        (tmp_path / "emu.toml").write_text(f'[database]\nurl = "sqlite:{server.database}"\n')
        (example,) = [line for line in examples() if line.startswith("emu status")]
        shown, complaints, status = await emu(tmp_path, *words_of(example))
        assert (complaints, status) == ("", 0)
        for text in ("1 accepted, 0 refused", "login 1, world 0", "rcon.listen", "a2s.listen"):
            assert text in shown
        said, _, _ = await emu(tmp_path, "--config", "emu.toml", "status", "--json")
        now = read(json.loads(said))
        assert {one.key for one in now.ports} == {
            "login.listen", "world.listen", "console.path", "rcon.listen", "a2s.listen",
            "web.listen",
        }  # fmt: skip
        assert f"{HOST}:{server.login_port}" in {one.address for one in now.ports}
        assert any("login of testlabs" in line for line in now.log)
        assert "command of" not in server.log.text, "to look is no use of a command"
        (example,) = [line for line in examples() if line.startswith("emu top")]
        shown, complaints, status = await emu(tmp_path, *words_of(example), "--every", "0.2")
        assert (complaints, status) == ("", 0)
        assert "login 1 sessions, in " in shown
        await client.close()
    _, complaints, status = await emu(tmp_path, "--config", "emu.toml", "status")
    assert status == 3
    assert "no server can be reached" in complaints


async def test_the_doctor_visits_a_server_that_runs(tmp_path: Path) -> None:
    async with harness(tmp_path, LISTENERS) as server:
        await server.world_registered()
        (tmp_path / "emu.toml").write_text(
            f'[database]\nurl = "sqlite:{server.database}"\n'
            f'[login]\nlisten = "{HOST}:{server.login_port}"\n'
            f'[world]\nlisten = "{HOST}:{server.world_port}"\n'
        )
        said, _, status = await emu(tmp_path, "--config", "emu.toml", "doctor", "--json")
        found = json.loads(said)
        bad = [one for one in found if one["level"] == "fail"]
        assert (bad, status) == ([], 0)
        reported = [one["what"] for one in found]
        assert f"login.listen: UDP {HOST}:{server.login_port} is the running server's" in reported
        assert "running worlds: Norrath" in reported
        assert "a wrong name and password are refused, as they must be" in reported
        said, _, status = await emu(
            tmp_path, "--config", "emu.toml", "doctor", "--login", "testlabs", stdin="testpass\n"
        )
        assert status == 0
        assert "testlabs logs in: worlds Norrath, characters 0" in said


async def test_top_runs_on_a_terminal_and_ends_with_q(tmp_path: Path) -> None:
    pytest.importorskip("textual", reason="the extra `editor` is not installed")
    async with harness(tmp_path) as server:
        (tmp_path / "emu.toml").write_text(f'[database]\nurl = "sqlite:{server.database}"\n')
        shown = await emu_on_terminal(
            tmp_path, "--config", "emu.toml", "top", keys=[("Norrath", "q")]
        )
    assert "sessions" in shown
    assert "Traceback" not in shown
