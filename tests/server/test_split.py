"""Login server and world apart: two servers with a database each, joined by the link."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from emu.net.link.tls import certificate_fingerprint, make_certificate
from tests.support.running.whole_server import HOST, Harness, add_world, harness, until
from tests.support.sessions.raw_client import by_number, raw_client

ACCOUNT = {"world.account": "anto", "world.password": "link secret", "world.name": "Antonia Bayle"}


def make_folder(folder: Path) -> None:
    folder.mkdir(exist_ok=True)


@asynccontextmanager
async def login_server(folder: Path, **settings: object) -> AsyncIterator[Harness]:
    make_folder(folder)
    add_world(folder / "emu.sqlite", "Antonia Bayle", "anto", "link secret")
    more = {key.replace("__", "."): value for key, value in settings.items()}
    async with harness(folder, {"world.enabled": False, **more}) as server:
        yield server


@asynccontextmanager
async def world_server(
    folder: Path, port: int, speed: float = 1.0, **settings: object
) -> AsyncIterator[Harness]:
    make_folder(folder)
    more = {key.replace("__", "."): value for key, value in settings.items()}
    base = {"login.enabled": False, "world.login_servers": f"{HOST}:{port}", **ACCOUNT}
    async with harness(folder, {**base, **more}, accounts={}, speed=speed) as server:
        yield server


async def play(login: Harness, world: Harness) -> None:
    """Make a character, play it, and enter the world."""
    async with await login.logged_in() as client:
        (listed,) = await client.worlds()
        assert listed.name == "Antonia Bayle"
        assert (await client.create(listed.id, "Aldana")).ok
        answer = await client.play_answer()
    assert answer.port == world.world_port
    async with raw_client(answer.port) as visitor:
        await visitor.enter(by_number(answer.account_id, answer.access_code))
        await visitor.message(4)
    assert world.rows("SELECT name FROM world_characters") == [("Aldana",)]
    assert login.rows("SELECT name FROM characters") == [("Aldana",)]
    assert login.rows("SELECT name FROM world_characters") == []


async def test_a_player_goes_from_one_to_the_other(tmp_path: Path) -> None:
    async with (
        login_server(tmp_path / "login") as login,
        world_server(tmp_path / "world", login.link_port) as world,
    ):
        await login.log.line(r"world Antonia Bayle \(1\) registered")
        await play(login, world)


async def test_the_same_over_tls_with_a_pinned_certificate(tmp_path: Path) -> None:
    pem = make_certificate("login", datetime.now(UTC))
    (tmp_path / "link.pem").write_bytes(pem)
    tls = {"link__certificate": tmp_path / "link.pem", "link__tls_listen": f"{HOST}:0"}
    async with login_server(tmp_path / "login", **tls) as login:
        port = login.log.port("link", "worlds on TLS")
        pinned = {"world__login_tls_fingerprints": certificate_fingerprint(pem)}
        async with world_server(tmp_path / "world", port, **pinned) as world:
            await login.log.line(r"world Antonia Bayle \(1\) registered")
            await play(login, world)


async def test_another_certificate_is_not_talked_to(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    (tmp_path / "link.pem").write_bytes(make_certificate("login", now))
    tls = {"link__certificate": tmp_path / "link.pem", "link__tls_listen": f"{HOST}:0"}
    async with login_server(tmp_path / "login", **tls) as login:
        port = login.log.port("link", "worlds on TLS")
        print_ = certificate_fingerprint(make_certificate("login", now))
        pinned = {"world__login_tls_fingerprints": print_}
        async with world_server(tmp_path / "world", port, **pinned) as world:
            await world.log.line(r"the certificate of 127\.0\.0\.1\S* is not the pinned one")
            assert "registered" not in login.log.text


@pytest.mark.parametrize("order", ["login first", "world first"])
async def test_a_world_that_comes_and_goes_keeps_its_characters(tmp_path: Path, order: str) -> None:
    async with login_server(tmp_path / "login") as login:
        async with world_server(tmp_path / "world", login.link_port) as world:
            await login.log.line(r"world Antonia Bayle \(1\) registered")
            await play(login, world)
        client = await login.logged_in()
        if order == "login first":
            assert await client.worlds() == ()
            assert await client.characters() == ()
        async with world_server(tmp_path / "world", login.link_port) as world:
            line = r"world Antonia Bayle (1) registered"
            await until(lambda: login.log.text.count(line) == 2, "the world's return")
            assert len(await client.worlds()) == 1
            await until(lambda: client.core.characters, "the character list")
            answer = await client.play("Aldana")
            assert answer.port == world.world_port
            await client.close()


async def test_a_login_server_that_is_away_is_reported_once(tmp_path: Path) -> None:
    with closing(socket.socket()) as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
        async with world_server(tmp_path / "world", port, speed=20) as world:
            line = rf"cannot reach login server 127.0.0.1:{port} (Connection was refused"
            await until(lambda: line in world.log.text, line)
            await world.clock.sleep(10)
            assert world.service.server.world is not None
            assert world.service.server.world.link is not None
            assert world.service.server.world.link.counters["cannot connect"] >= 3
            assert world.log.text.count("cannot reach") == 1
