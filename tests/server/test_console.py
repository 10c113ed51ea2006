"""An operator at the local socket of a server in a process of its own."""

from __future__ import annotations

import json
import signal
import stat
from pathlib import Path

from tests.server.test_commands import run
from tests.support.running.command_line import CommandLine
from tests.support.running.documented import examples, words_of
from tests.support.running.whole_server import server_process


async def test_commands_of_the_help_on_a_running_server(tmp_path: Path) -> None:
    commands = CommandLine(tmp_path)
    config = ("--config", str(commands.config))
    wanted = [line for line in examples() if line.startswith(("emu admin", "emu world console"))]
    assert len(wanted) >= 2
    async with server_process(tmp_path, words=config) as server:
        await server.ready()
        assert stat.S_IMODE((tmp_path / "emu.sqlite.console").stat().st_mode) == 0o600
        said = await run(tmp_path, *config, "admin", "account", "add", "alice", "s3cret")
        assert said == "added account alice with the id 1\n"
        listed = json.loads(await run(tmp_path, *config, "admin", "--json", "account", "list"))
        assert [row["name"] for row in listed] == ["alice"]
        refused = await run(tmp_path, *config, "admin", "kick", "Aldana", status=1)
        assert refused == "there is no player Aldana in the world\n"
        for line in wanted:
            there = 1 if "kick" in line else 0
            await run(tmp_path, *config, *words_of(line), status=there)
        assert "admin: command of " in server.text
        assert "account add alice ***: added account" in server.text
        assert "s3cret" not in server.text
        assert "the server stops in 1 seconds" in await run(
            tmp_path, *config, "admin", "shutdown", "1"
        )
        assert await server.ended() == 0
        assert "server: stopped" in server.text
        assert not (tmp_path / "emu.sqlite.console").exists()


async def test_a_killed_server_leaves_a_socket_that_the_next_one_takes(tmp_path: Path) -> None:
    config = ("--config", str(CommandLine(tmp_path).config))
    async with server_process(tmp_path, words=config) as first:
        await first.ready()
        first.process.send_signal(signal.SIGKILL)
        await first.ended()
    assert (tmp_path / "emu.sqlite.console").exists()
    await run(tmp_path, *config, "admin", "status", status=1)
    async with server_process(tmp_path, words=config) as second:
        await second.ready()
        assert "hostname: Norrath" in await run(tmp_path, *config, "admin", "status")
