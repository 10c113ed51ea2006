"""`emu client evening` against a whole server, as an operator runs it."""

import json
from pathlib import Path

import pytest

from tests.support.running.emu_process import emu
from tests.support.running.whole_server import HOST, harness


@pytest.mark.slow
async def test_the_diary_as_objects(tmp_path: Path) -> None:
    async with harness(tmp_path, accounts={"aldana": "pass"}) as server:
        await server.world_registered()
        out, err, code = await emu(
            tmp_path, "client", "evening", f"{HOST}:{server.login_port}", "--user", "aldana",
            "--password", "pass", "--character", "Aldana", "--create", "--for", 0.1, "--json",
        )  # fmt: skip
    assert code == 0, err
    *entries, last = map(json.loads, out.splitlines())
    assert (entries[0]["kind"], entries[0]["coins"]) == ("zone", 0)
    assert {one["kind"] for one in entries} >= {"zone", "level"}
    assert not {one["kind"] for one in entries} & {"talk", "line"}
    assert last["level"] == 1
    assert last["counts"]["zone"] == 1
