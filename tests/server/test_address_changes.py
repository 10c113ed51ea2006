"""Clients whose address changes in the middle of a session (docs/protocol/transport.md#moves)."""

from __future__ import annotations

from pathlib import Path

import pytest
from twisted.internet.threads import deferToThread

from tests.server.test_handoff import LOGIN_REPLY, granted
from tests.support.running.command_line import CommandLine
from tests.support.running.whole_server import Harness, harness, sleep, until
from tests.support.sessions.raw_client import by_number, raw_client

ELSEWHERE = "127.0.0.2"
BANNED = "127.0.0.3"
UNKNOWN = b"\xff\x60\xeawhat is this?"
"""A message that the world writes into its log."""


@pytest.mark.parametrize("host", ["127.0.0.1", ELSEWHERE])
async def test_a_login_goes_on_from_another_address(server: Harness, host: str) -> None:
    async with raw_client(server.login_port) as client:
        await client.log_in()
        await client.rebind(host)
        client.send(b"\x07")
        assert await client.message(8)
        await server.log.line(rf"login: client 127\.0\.0\.1 testlabs is at {host} port \d+ now")
        assert server.service.server.login is not None
        assert server.service.server.login.dispatcher.endpoint.moves == 1
        assert server.service.server.login.dispatcher.session_count == 1


async def test_a_player_plays_on_from_another_address(server: Harness) -> None:
    answer = await granted(server)
    async with raw_client(answer.port) as client:
        await client.enter(by_number(answer.account_id, answer.access_code))
        await client.message(LOGIN_REPLY)
        assert server.service.server.world is not None
        (player,) = server.service.server.world.parts.world.players
        for host in (ELSEWHERE, "127.0.0.1", ELSEWHERE):
            await client.rebind(host)
            client.send(UNKNOWN)
            await until(lambda: player.client.address == host, f"the address {host}")  # noqa: B023
        await server.log.line(r"unknown message 60000 .* of Aldana from 127\.0\.0\.2")
        await server.log.line(r"Aldana is at 127\.0\.0\.2 port \d+ now, before at 127\.0\.0\.1")


async def test_a_player_cannot_go_on_from_a_banned_address(tmp_path: Path) -> None:
    async with harness(tmp_path, {"world.review_seconds": 60.0}) as server:
        answer = await granted(server)
        await deferToThread(CommandLine(tmp_path).good, "account", "address", "ban", BANNED)
        async with raw_client(answer.port) as client:
            await client.enter(by_number(answer.account_id, answer.access_code))
            await client.message(LOGIN_REPLY)
            await sleep(1.1)  # bans of addresses are read again once a second
            await client.rebind(BANNED)
            client.send(UNKNOWN)
            await until(lambda: client.disconnected, "the end of the session")
