"""The server's own trace: whoever asked for it can read every session in it afterwards."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from emu.cli.main import root
from tests.support.running.whole_server import Harness, harness, until
from tests.support.sessions.raw_client import by_number, raw_client


async def play_a_while(server: Harness, version: int) -> None:
    """Log in, make a character, go to the world and leave."""
    await server.world_registered()
    async with await server.logged_in(version=version) as client:
        await client.worlds()
        await client.characters()
        assert (await client.create(1, "Aldana")).ok
        answer = await (client.play_answer() if version <= 561 else client.play("Aldana"))
    async with raw_client(answer.port) as visitor:
        await visitor.enter(by_number(answer.account_id, answer.access_code, version))
        await visitor.message(4)


def decode(path: Path, *options: str) -> list[dict[str, Any]]:
    """Run ``emu capture decode --json`` and return its objects."""
    result = CliRunner().invoke(root, ["capture", "decode", "--json", str(path), *options])
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def names_of(messages: list[dict[str, Any]]) -> list[str]:
    return [message["name"] for message in messages if "name" in message]


@pytest.mark.parametrize("version", [546, 1096, 60114])
async def test_a_trace_is_decoded_with_every_login_and_world_message_named(
    tmp_path: Path, version: int
) -> None:
    path = tmp_path / "trace.pcapng"
    async with harness(tmp_path, {"trace.file": path}) as server:
        await play_a_while(server, version)
        await server.log.line("WITH ITS KEYS")
    names = names_of(decode(path))
    for name in (
        "OP_LoginRequestMsg", "OP_LoginReplyMsg", "OP_LsClientAlertlogReplyMsg",
        "OP_AllWSDescRequestMsg", "OP_WorldListMsg",
        "OP_AllCharactersDescReplyMsg", "OP_CreateCharacterRequestMsg",
        "OP_CreateCharacterReplyMsg", "OP_PlayCharacterReplyMsg", "OP_LoginByNumRequestMsg",
    ):  # fmt: skip
        assert name in names, names
    assert None not in names


async def test_fields_are_in_the_trace_too(tmp_path: Path) -> None:
    path = tmp_path / "trace.pcapng"
    async with harness(tmp_path, {"trace.file": path}) as server:
        await play_a_while(server, 546)
    messages = decode(path)
    text = json.dumps(messages)
    assert '"username": "testlabs"' in text
    assert "Norrath" in text
    assert "Aldana" in text


async def test_only_its_owner_may_read_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "trace.pcapng"
    async with harness(tmp_path, {"trace.file": path}):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_second_run_goes_on_in_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "trace.pcapng"
    for accounts in ({"testlabs": "testpass"}, {}):
        async with harness(tmp_path, {"trace.file": path}, accounts=accounts) as server:
            client = await server.logged_in()
            await client.close()
    assert names_of(decode(path)).count("OP_LoginRequestMsg") == 2


async def test_a_trace_ends_at_its_limit_and_the_server_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "trace.pcapng"
    settings = {"trace.file": path, "trace.max_bytes": 10_000}
    async with harness(tmp_path, settings) as server:
        for _ in range(12):
            client = await server.logged_in()
            await client.worlds()
            await client.close()
        await server.log.line("has reached trace.max_bytes; tracing ends")
        client = await server.logged_in()
        await client.close()
    assert path.stat().st_size <= 10_000
    assert "OP_LoginRequestMsg" in names_of(decode(path))


async def test_a_denied_login_is_traced_as_well(tmp_path: Path) -> None:
    path = tmp_path / "trace.pcapng"
    async with (
        harness(tmp_path, {"trace.file": path}, speed=10) as server,
        raw_client(server.login_port) as client,
    ):
        await client.log_in(password=b"wrong")
        await until(lambda: client.disconnected, "the end")
    assert names_of(decode(path))[-1] == "OP_LoginReplyMsg"
