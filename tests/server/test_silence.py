"""Sessions that fall silent, and addresses of the other kind."""

import socket
from pathlib import Path

import pytest

from tests.support.running.clients import connect
from tests.support.running.whole_server import harness, until
from tests.support.sessions.raw_client import raw_client


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


async def test_a_client_that_falls_silent_is_gone_after_45_s(tmp_path: Path) -> None:
    async with harness(tmp_path, speed=50) as server, raw_client(server.login_port) as client:
        await client.log_in()
        assert server.service.server.login is not None
        service, dispatcher = (
            server.service.server.login.service,
            server.service.server.login.dispatcher,
        )
        client.datagramReceived = lambda data, addr: None  # type: ignore[assignment, method-assign]
        begun = server.clock.seconds()
        await until(lambda: not dispatcher.session_count, "the session's end")
        assert 40 <= server.clock.seconds() - begun <= 70
        assert len(service.logged_in) == 0
        client.disconnected = True


async def test_a_client_that_only_keeps_alive_stays(tmp_path: Path) -> None:
    async with harness(tmp_path, speed=30) as server, await server.logged_in() as client:
        await client.worlds()
        await server.clock.sleep(75)
        assert server.service.server.login is not None
        assert len(server.service.server.login.service.logged_in) == 1
        assert len(await client.worlds()) == 1


async def test_who_never_logs_in_is_sent_away_after_a_minute(tmp_path: Path) -> None:
    async with harness(tmp_path, speed=50) as server, raw_client(server.login_port) as client:
        await client.set_up()
        begun = server.clock.seconds()
        while not client.disconnected:
            client.packet(b"\0\6")
            await server.clock.sleep(2.5)
            assert server.clock.seconds() - begun < 90
        assert server.clock.seconds() - begun >= 55


async def test_who_shows_no_key_at_the_world_is_sent_away_after_ten_seconds(
    tmp_path: Path,
) -> None:
    async with harness(tmp_path, speed=20) as server, raw_client(server.world_port) as client:
        await client.set_up()
        begun = server.clock.seconds()
        while not client.disconnected:
            client.packet(b"\0\6")
            await server.clock.sleep(1)
            assert server.clock.seconds() - begun < 20
        assert server.clock.seconds() - begun >= 9
        await server.log.line("was refused: no key was shown in time")


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6 loopback")
async def test_ipv6_clients_log_in_and_are_named_in_the_log(tmp_path: Path) -> None:
    settings = {"login.listen": "[::1]:0", "world.listen": "[::1]:0"}
    async with harness(tmp_path, settings) as server:
        await server.world_registered()
        opened = await connect(server.clock, "::1", server.login_port, "testlabs", "testpass")
        async with opened as client:
            await client.login()
            (world,) = await client.worlds()
            assert (await client.create(world.id, "Aldana")).ok
            assert (await client.play_answer()).address == "::1"
        await server.log.line("login of testlabs from ::1, client 546")
