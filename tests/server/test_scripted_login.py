"""Our world, in a process of its own kind, against a login server written byte by byte.

What must be on the wire is docs/protocol/link.md.
"""

import hashlib
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.login.create_requests import request_546
from tests.support.login.scripted_login import ScriptedLogin, ScriptedLoginServer
from tests.support.patience import patience
from tests.support.running.whole_server import Harness, harness, reactor, until
from tests.support.sessions.raw_client import raw_client

LS_INFO, LS_STATUS = 0x1000, 0x1001
PLAY_RESPONSE, CHAR_UPDATE, CHAR_CREATE, ZONES = 0xAB01, 0x2012, 0x2013, 0x201C
ACCOUNT, IP = 4711, b"8.8.8.8"


@asynccontextmanager
async def world_of(
    folder: Path, *logins: ScriptedLoginServer, speed: float = 1.0, **more: object
) -> AsyncIterator[Harness]:
    """Run a world that registers with the given login servers."""
    servers = ",".join(f"127.0.0.1:{login.number}" for login in logins)
    settings = {
        "login.enabled": False,
        "world.name": "Antonia Bayle",
        "world.account": "testlabs",
        "world.password": "secret",
        "world.login_servers": servers,
        **{f"world.{key}": value for key, value in more.items()},
    }
    async with harness(folder, settings, speed=speed) as server:
        yield server


@asynccontextmanager
async def login_server() -> AsyncIterator[ScriptedLoginServer]:
    login = ScriptedLoginServer(reactor)
    login.start()
    try:
        yield login
    finally:
        await login.stop()


async def came(login: ScriptedLoginServer) -> ScriptedLogin:
    return await login.connection().addTimeout(patience(5), reactor)


async def frame_of(connection: ScriptedLogin, opcode: int) -> bytes:
    return await connection.received(opcode).addTimeout(patience(5), reactor)


def registration(port: int) -> bytes:
    """Return the 832 bytes that this world must say of itself, but for the program's version."""
    digest = hashlib.sha512(b"secret").hexdigest().encode()
    return struct.pack(
        "<201s250s31s256s25s", b"Antonia Bayle", b"127.0.0.1", b"testlabs", digest, b"0.5.0"
    )


async def registered(login: ScriptedLoginServer) -> ScriptedLogin:
    connection = await came(login)
    await frame_of(connection, LS_INFO)
    await frame_of(connection, LS_STATUS)
    return connection


async def made(connection: ScriptedLogin, name: bytes) -> int:
    """Have a character made; return its id."""
    connection.send(CHAR_CREATE, struct.pack("<H", 546) + request_546(name, ACCOUNT))
    account, char_id, code = struct.unpack("<IIB", await frame_of(connection, CHAR_CREATE))
    assert (account, code) == (ACCOUNT, 1)
    return int(char_id)


def read_play(answer: bytes) -> tuple[int, int, int, int, int, bytes, int, int, int]:
    """Return the fields of a UsertoWorldResp of 109 bytes."""
    assert len(answer) == 109
    account, char, world, key, code, address, port, from_id, to_id = struct.unpack(
        "<IIIIB80sIII", answer
    )
    return account, char, world, key, code, address.rstrip(b"\0"), port, from_id, to_id


async def test_the_world_registers_with_832_bytes_and_a_status_of_13(tmp_path: Path) -> None:
    async with login_server() as login, world_of(tmp_path, login) as world:
        connection = await came(login)
        info = await frame_of(connection, LS_INFO)
        assert len(info) == 832
        assert info[:763] == registration(world.world_port)
        assert info[763:827].rstrip(b"\0")
        assert info[827] == 0
        assert struct.unpack_from("<I", info, 828)[0] > 0
        status = await frame_of(connection, LS_STATUS)
        assert status == struct.pack("<iiiB", 1, 0, 0, 50)


async def test_a_locked_world_says_so_from_the_first_status_on(tmp_path: Path) -> None:
    async with login_server() as login, world_of(tmp_path, login, locked=True, max_level=90):
        connection = await came(login)
        await frame_of(connection, LS_INFO)
        assert await frame_of(connection, LS_STATUS) == struct.pack("<iiiB", -2, 0, 0, 90)


async def test_a_play_request_is_answered_with_a_key_only_when_it_is_granted(
    tmp_path: Path,
) -> None:
    async with login_server() as login, world_of(tmp_path, login) as world:
        connection = await registered(login)
        char_id = await made(connection, b"Aldana")
        keys = set()
        for _ in range(3):
            connection.ask_play(ACCOUNT, char_id, from_id=7, ip=IP)
            answer = read_play(await frame_of(connection, PLAY_RESPONSE))
            account, char, world_id, key, code, address, port, _, to_id = answer
            assert (account, char, world_id, code, to_id) == (ACCOUNT, char_id, 1, 1, 7)
            assert (address, port) == (b"127.0.0.1", world.world_port)
            keys.add(key)
        assert 0 not in keys
        assert len(keys) == 3, "each key is another"
        for account, char in ((ACCOUNT, char_id + 1), (ACCOUNT + 1, char_id)):
            connection.ask_play(account, char, ip=IP)
            answer = read_play(await frame_of(connection, PLAY_RESPONSE))
            assert answer[:2] == (account, char)
            assert answer[3:5] == (0, 5), "no key, character not loaded"


async def test_a_granted_key_opens_the_world_listener(tmp_path: Path) -> None:
    async with login_server() as login, world_of(tmp_path, login, speed=20) as world:
        connection = await registered(login)
        char_id, other_id = [await made(connection, name) for name in (b"Aldana", b"Borvik")]
        connection.ask_play(ACCOUNT, char_id, ip=IP)
        key = read_play(await frame_of(connection, PLAY_RESPONSE))[3]
        async with raw_client(world.world_port) as client:
            await client.enter(struct.pack("<BIIH5I", 1, ACCOUNT, key, 546, 0, 0, 0, 0, 0))
            await world.log.line("Aldana entered from 127.0.0.1, client 546")
            status = await frame_of(connection, LS_STATUS)  # within 15 s
            assert struct.unpack_from("<ii", status) == (1, 1), "one player more"
            connection.ask_play(ACCOUNT, other_id, ip=IP)
            answer = read_play(await frame_of(connection, PLAY_RESPONSE))
            assert answer[3:5] == (0, 7), "another character of the account is in the world"
            connection.ask_play(ACCOUNT, char_id, ip=IP)
            answer = read_play(await frame_of(connection, PLAY_RESPONSE))
            assert answer[4] == 1, "it may take over its own character"
        await world.log.line("Aldana from 127.0.0.1 left")
        connection.ask_play(ACCOUNT, char_id, ip=IP)
        assert read_play(await frame_of(connection, PLAY_RESPONSE))[4] == 1


@pytest.mark.parametrize(
    ("name", "code"), [(b"Abc", 10), (b"Abcdefghijklmnop", 10), (b"Al dana", 11), (b"Al-ana1", 11)]
)
async def test_names_that_may_not_be_are_refused_with_their_codes(
    tmp_path: Path, name: bytes, code: int
) -> None:
    async with login_server() as login, world_of(tmp_path, login) as world:
        connection = await registered(login)
        connection.send(CHAR_CREATE, struct.pack("<H", 546) + request_546(name, ACCOUNT))
        answer = await frame_of(connection, CHAR_CREATE)
        assert answer == struct.pack("<IIB", ACCOUNT, 0, code)
        assert world.rows("SELECT name FROM world_characters") == []


async def test_names_are_taken_once_and_stay_taken(tmp_path: Path) -> None:
    async with login_server() as login, world_of(tmp_path, login) as world:
        connection = await registered(login)
        char_id = await made(connection, b"Aldana")
        for name in (b"Aldana", b"ALDANA"):
            connection.send(CHAR_CREATE, struct.pack("<H", 546) + request_546(name, ACCOUNT))
            answer = await frame_of(connection, CHAR_CREATE)
            assert struct.unpack("<IIB", answer)[2] == 13
        connection.send(CHAR_UPDATE, struct.pack("<IIBI", ACCOUNT, char_id, 128, 1))
        await until(
            lambda: world.rows("SELECT deleted FROM world_characters") == [(1,)], "the deletion"
        )
        connection.ask_play(ACCOUNT, char_id, ip=IP)
        assert read_play(await frame_of(connection, PLAY_RESPONSE))[4] == 5
        connection.send(CHAR_CREATE, struct.pack("<H", 546) + request_546(b"Aldana", ACCOUNT))
        assert struct.unpack("<IIB", await frame_of(connection, CHAR_CREATE))[2] == 13


async def test_zones_are_reported_in_batches_with_five_bytes_behind(tmp_path: Path) -> None:
    async with login_server() as login, world_of(tmp_path, login):
        connection = await registered(login)
        connection.send(ZONES, struct.pack("<H", 20))
        batch = await frame_of(connection, ZONES)
        (count,) = struct.unpack_from("<H", batch)
        assert 1 <= count <= 20
        at = 2
        for _ in range(count):
            zone_id, name, description = struct.unpack_from("<IBB", batch, at)
            assert zone_id
            assert name
            at += 6 + name + description
        assert batch[at:] == bytes(5)


async def test_the_fall_back_is_taken_when_the_first_refuses(tmp_path: Path) -> None:
    async with (
        login_server() as first,
        login_server() as second,
        world_of(tmp_path, first, second),
    ):
        (await registered(first)).refuse(b"Bad password")
        connection = await came(second)
        assert len(await frame_of(connection, LS_INFO)) == 832
        assert connection.is_connected


async def test_a_lost_login_server_is_found_again(tmp_path: Path) -> None:
    async with login_server() as login, world_of(tmp_path, login) as world:
        await registered(login)
        await login.stop()
        await world.log.line("link to 127.0.0.1 is down")
        login.start()
        again = await login.connection().addTimeout(patience(10), reactor)
        assert len(await frame_of(again, LS_INFO)) == 832
