"""`emu client play` and `shell` against a whole server, as an operator runs them."""

import json
import shlex
from pathlib import Path

import pytest

from tests.support.running.documented import code_lines
from tests.support.running.emu_process import emu, emu_on_open_pipe
from tests.support.running.whole_server import HOST, Harness, harness

pytestmark = pytest.mark.slow
WHO = ("--user", "testlabs", "--password", "testpass", "--character", "Testa")


def at(server: Harness) -> str:
    return f"{HOST}:{server.login_port}"


async def test_play_enters_runs_its_lines_and_leaves(tmp_path: Path) -> None:
    async with harness(tmp_path) as server:
        await server.world_registered()
        out, err, code = await emu(
            tmp_path, "client", "play", at(server), *WHO, "--create", "--version", 561,
            "--do", "say hello", "--do", "where", "--do", "move 1.56 244", "--do", "wait 0.6",
            "--do", "where", "--do", "who", "--for", 1, "--quiet",
        )  # fmt: skip
        assert (err, code) == ("", 0)
        lines = out.splitlines()
        assert lines[0].startswith("Testa enters Isle of Refuge")
        for line in ("[say] Testa: hello", "1 player", "  Testa, level 1, Isle of Refuge"):
            assert line in lines
        begun, arrived = (line for line in lines if line.startswith("Isle of Refuge: "))
        assert begun != arrived
        assert arrived.startswith("Isle of Refuge: 1.56, ")
        assert lines[-1] == "the session is over: you left the world"
        await server.log.line("Testa from 127.0.0.1 left")


async def test_the_readmes_one_more_command_stands_in_the_shipped_zone(tmp_path: Path) -> None:
    (line,) = [one for one in code_lines() if " client play " in one]
    words = shlex.split(line)[1:]
    async with harness(tmp_path) as server:  # its account is the one that `make run` makes
        await server.world_registered()
        words[words.index("127.0.0.1:9100")] = at(server)
        words[words.index("--for") + 1] = "2"
        out, err, code = await emu(tmp_path, *words)
    assert (err, code) == ("", 0)
    assert "Aldana enters Isle of Refuge" in out
    assert "[say] Aldana: hello" in out
    assert "Brannoc Tidewatch (level 20)" in out  # what is around, as documented
    assert "units to go" in out


async def test_play_as_json_is_an_object_a_line(tmp_path: Path) -> None:
    async with harness(tmp_path) as server:
        await server.world_registered()
        out, _, code = await emu(
            tmp_path, "client", "play", at(server), *WHO, "--create", "--for", 0, "--json",
            "--do", "help",
        )  # fmt: skip
        records = [json.loads(line) for line in out.splitlines()]
        assert code == 0
        assert records[0]["event"] == "ZoneToLoad"
        assert {"event": "Stood"} in records
        assert any("around" in one.get("answer", "") for one in records)


async def test_a_character_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    async with harness(tmp_path) as server:
        await server.world_registered()
        out, err, code = await emu(tmp_path, "client", "play", at(server), *WHO, "--json")
        assert code == 1
        assert err.count("\n") == 1
        assert "the account has no character Testa" in err
        assert json.loads(out)["error"] in err


async def test_the_shell_reads_a_script_from_a_pipe(tmp_path: Path) -> None:
    script = "say hello\n\nfly high\nraw 4711 0102\nmove 1.56 244\nwait 0.5\nwhere\nsit\nquit\n"
    async with harness(tmp_path) as server:
        await server.world_registered()
        out, err, code = await emu(
            tmp_path, "client", "shell", at(server), *WHO, "--create", stdin=script
        )
        assert (err, code) == ("", 0)
        for line in (
            "[say] Testa: hello", "sent 4711 with 2 bytes",
            "! unknown command fly; help lists the commands",
            "the session is over: you left the world",
        ):  # fmt: skip
            assert line in out.splitlines()
        assert "Isle of Refuge: 1.56, -7.97, 244.00, heading 180.0" in out
        await server.log.line(r"unknown message 4711 .* of Testa")


async def test_the_shell_does_not_wait_for_lines_when_the_session_is_over(tmp_path: Path) -> None:
    """The pipe stays open; the script's last word is the end all the same."""
    async with harness(tmp_path) as server:
        await server.world_registered()
        out, code = await emu_on_open_pipe(
            tmp_path, "client", "shell", at(server), *WHO, "--create", stdin="say hello\nquit\n"
        )
        assert code == 0, out
        assert out.splitlines()[-1] == "the session is over: you left the world"
