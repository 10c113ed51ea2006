"""`emu client swarm` against a whole server: its report has exactly the promised keys."""

import json
from pathlib import Path

import pytest

from emu.cli.client.swarm import habits
from tests.support.running.emu_process import emu
from tests.support.running.whole_server import HOST, harness

KEYS = [
    "clients", "logins_ok", "logins_failed", "lost", "login_ms_p50", "login_ms_p99",
    "entering_ms_p50", "entering_ms_p99", "rtt_ms_p50", "rtt_ms_p99", "sight_ms_p50",
    "sight_ms_p99", "packets_per_s", "bytes_per_s", "messages", "blows", "kills", "deaths",
]  # fmt: skip
OPEN = {"login.auto_create_accounts": True}


@pytest.mark.slow
async def test_a_swarm_of_two_versions(tmp_path: Path) -> None:
    async with harness(tmp_path, OPEN) as server:
        await server.world_registered()
        out, err, code = await emu(
            tmp_path, "client", "swarm", 6, f"{HOST}:{server.login_port}", "--for", 2,
            "--password", "x", "--version", 546, "--version", 561, "--json",
        )  # fmt: skip
        assert code == 0, err
        report = json.loads(out.splitlines()[-1])
        assert list(report) == KEYS
        assert (report["clients"], report["logins_ok"], report["logins_failed"]) == (6, 6, 0)
        assert report["lost"] == 0
        assert all(report[name] > 0 for name in KEYS[4:-3])
        assert [report[name] for name in KEYS[-3:]] == [0, 0, 0]
        assert report["login_ms_p50"] <= report["login_ms_p99"]
        versions = server.rows("SELECT DISTINCT client_version FROM world_characters")
        assert sorted(versions) == [(546,), (561,)]


@pytest.mark.slow
async def test_a_swarm_that_may_not_come_in_says_why(tmp_path: Path) -> None:
    async with harness(tmp_path) as server:
        await server.world_registered()
        out, err, code = await emu(
            tmp_path, "client", "swarm", 2, f"{HOST}:{server.login_port}", "--for", 1,
            "--password", "x", "--json",
        )  # fmt: skip
        assert code == 1
        assert "do the accounts swarm00000 and so on exist" in err
        assert "2 clients did not enter" in err
        assert "login denied" in err
        report = json.loads(out.splitlines()[0])
        assert (report["logins_failed"], report["sight_ms_p50"]) == (2, None)


def test_who_is_still_neither_walks_nor_talks() -> None:
    still = habits(20.0, still=True)
    assert (still.radius, still.talk) == (0.0, 0.0)
    assert habits(7.0, still=False).radius == 7.0
    assert [habits(7.0, still=False, fights=fights).fights for fights in (True, False)] == [
        True, False,
    ]  # fmt: skip


@pytest.mark.slow
async def test_a_swarm_that_fights_counts_its_blows(tmp_path: Path) -> None:
    async with harness(tmp_path, OPEN) as server:
        await server.world_registered()
        out, err, code = await emu(
            tmp_path, "client", "swarm", 2, f"{HOST}:{server.login_port}", "--for", 15,
            "--password", "x", "--fight", "--radius", 60, "--json",
        )  # fmt: skip
        assert code == 0, err
        assert json.loads(out.splitlines()[-1])["blows"] > 0
