"""A world written byte by byte, a client written byte by byte, and the login server between them.

Nothing of our link, structs or opcodes speaks here: what both sides see is
docs/protocol/login.md#world-list, docs/protocol/characters.md, docs/protocol/link.md.
"""

import hashlib
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.login.create_requests import request_546
from tests.support.login.scripted_world import (
    CHAR_CREATE,
    CHAR_UPDATE,
    LS_FATAL_ERROR,
    LS_INFO,
    PLAY_REQUEST,
    PLAY_RESPONSE,
    ScriptedWorld,
    connect_world,
    frame,
    ls_info,
)
from tests.support.patience import patience, within
from tests.support.running.whole_server import Harness, add_world, harness, reactor, sleep, until
from tests.support.sessions.raw_client import RawClient, raw_client, str16

NO_WORLD = {"world.enabled": False}
WORLD_STATUS, WORLD_LIST, CHARACTERS = 6, 8, 10
CREATED, DELETED, PLAY = 12, 17, 19


@asynccontextmanager
async def login_server(folder: Path, speed: float = 1.0) -> AsyncIterator[Harness]:
    """Run a login server without a world of its own that knows two worlds."""
    add_world(folder / "emu.sqlite", "Antonia Bayle", "testlabs", "secret")
    add_world(folder / "emu.sqlite", "Permafrost", "other", "other secret")
    accounts = {"testlabs": "testpass", "second": "pass"}
    async with harness(folder, NO_WORLD, accounts=accounts, speed=speed) as server:
        yield server


@asynccontextmanager
async def link_of(server: Harness, *, register: bool = True) -> AsyncIterator[ScriptedWorld]:
    world = await connect_world(reactor, server.link_port)
    try:
        if register:
            line = "world Antonia Bayle (1) registered"
            before = server.log.text.count(line)
            world.register()
            await until(lambda: server.log.text.count(line) > before, line)
        yield world
    finally:
        await world.hang_up()


@asynccontextmanager
async def player(server: Harness, version: int = 546) -> AsyncIterator[RawClient]:
    """Log a raw client in that has asked for the worlds."""
    async with raw_client(server.login_port) as client:
        await client.log_in(version=version)
        await worlds(client)
        await client.message(CHARACTERS)
        yield client


async def worlds(client: RawClient) -> bytes:
    client.send(b"\x07")
    return await client.message(WORLD_LIST)


def entry(
    *, locked: int = 0, players: int = 0, load: int = 0, name: bytes = b"Antonia Bayle"
) -> bytes:
    """Return the first entry of a world list for 546."""
    ids = struct.pack("<I", 1) + str16(name) + str16(name)
    return ids + struct.pack("<BBBBHBBBI", 1, locked, 0, 1, players, load, 1, 0, 0xFFFFFFFF)


async def asked_to_play(world: ScriptedWorld) -> bytes:
    request = await world.received(PLAY_REQUEST).addTimeout(patience(5), reactor)
    assert len(request) == 41
    account, _, world_id, from_id, to_id = struct.unpack_from("<IIIII", request)
    assert (account, world_id, from_id, to_id) == (1, 1, 0, 0)
    assert request[20:] == b"127.0.0.1".ljust(21, b"\0")
    return request


async def create(client: RawClient, world: ScriptedWorld, char_id: int, name: bytes) -> bytes:
    """Have the world make a character; return the play request that follows for a 2006 client."""
    client.send(b"\x0b" + request_546(name, account=0xDEAD))
    asked = await world.received(CHAR_CREATE).addTimeout(patience(5), reactor)
    assert asked == struct.pack("<H", 546) + request_546(name, account=1)
    world.send(CHAR_CREATE, struct.pack("<IIB", 1, char_id, 1))
    reply = await client.message(CREATED)
    assert reply == struct.pack("<IB", 1, 1) + str16(name)
    await client.message(CHARACTERS)
    return await asked_to_play(world)


def play_request(char_id: int) -> bytes:
    return b"\x12" + struct.pack("<II3x", char_id, 1)


def play_reply(code: int, *, address: bytes = b"", port: int = 0, key: int = 0) -> bytes:
    return struct.pack("<BB", code, len(address)) + address + struct.pack("<HII", port, 1, key)


async def test_a_world_comes_up_goes_down_locks_and_unlocks_before_a_clients_eyes(
    tmp_path: Path,
) -> None:
    async with login_server(tmp_path) as server, player(server) as client:
        assert await worlds(client) == b"\0"
        async with link_of(server) as world:
            assert await client.message(WORLD_STATUS) == struct.pack("<IBBB", 1, 1, 0, 0)
            assert await worlds(client) == b"\1" + entry()
            world.status(-2, players=12)
            assert await client.message(WORLD_STATUS) == struct.pack("<IBBBB", 1, 1, 1, 0, 0)
            assert await worlds(client) == b"\1" + entry(locked=1, players=12, load=2)
            world.status(1, players=513)
            assert await client.message(WORLD_STATUS) == struct.pack("<IBBBB", 1, 1, 0, 0, 0)
            assert await worlds(client) == b"\1" + entry(players=513)
        assert await client.message(WORLD_STATUS) == struct.pack("<IBBB", 1, 0, 0, 0)
        assert await worlds(client) == b"\0"
        async with link_of(server):
            assert await client.message(WORLD_STATUS) == struct.pack("<IBBB", 1, 1, 0, 0)


async def test_nothing_is_pushed_while_nothing_changes(tmp_path: Path) -> None:
    async with (
        login_server(tmp_path, speed=20) as server,
        link_of(server) as world,
        player(server) as client,
    ):
        for players in range(10):
            world.status(players=players)  # a number of players is in the list, not pushed
            await server.clock.sleep(1)
        assert not [opcode for opcode, _ in client.messages if opcode == WORLD_STATUS]
        assert await worlds(client) == b"\1" + entry(players=9)


async def test_who_has_not_asked_for_the_worlds_is_sent_nothing(tmp_path: Path) -> None:
    async with login_server(tmp_path) as server, raw_client(server.login_port) as client:
        await client.log_in()
        async with link_of(server):
            await sleep(0.35)
        await sleep(0.35)
        assert not [opcode for opcode, _ in client.messages if opcode == WORLD_STATUS]


async def test_both_world_list_layouts_are_up_to_date_at_once(tmp_path: Path) -> None:
    """EQ2Emulator forgets to rebuild other versions' lists; ours cannot go stale."""
    async with login_server(tmp_path) as server, await server.logged_in(version=1208) as new:
        assert await new.worlds() == ()
        other_login = server.logged_in("second", "pass", version=562)
        async with link_of(server) as world, await other_login as other:
            for locked, status in ((False, 1), (True, -2), (False, 1)):
                world.status(status, players=7)
                with within(10.0):
                    while [(one.locked, one.players) for one in await new.worlds()] != [
                        (locked, 7)
                    ]:
                        await sleep(0.01)
                for client in (new, other, new):
                    (seen,) = await client.worlds()
                    assert (seen.id, seen.up) == (1, True)
                    assert (seen.locked, seen.players) == (locked, 7)


async def test_a_character_is_made_played_and_deleted_byte_by_byte(tmp_path: Path) -> None:
    async with login_server(tmp_path) as server, link_of(server) as world, player(server) as client:
        world.answer_play(await create(client, world, 77, b"Aldana"), key=0xCAFE, port=9312)
        granted = play_reply(1, address=b"127.0.0.1", port=9312, key=0xCAFE)
        assert await client.message(PLAY) == granted
        client.send(play_request(77))
        world.answer_play(await asked_to_play(world), key=0xBEEF, port=9312)
        granted = play_reply(1, address=b"127.0.0.1", port=9312, key=0xBEEF)
        assert await client.message(PLAY) == granted
        client.send(b"\x10" + struct.pack("<III", 77, 1, 0) + str16(b"Aldana"))
        # Without the account up to 561: the client reads a name there (client study, section 7.1).
        reply = struct.pack("<BII", 1, 1, 77) + str16(b"Aldana") + struct.pack("<I", 10)
        assert await client.message(DELETED) == reply
        reported = await world.received(CHAR_UPDATE).addTimeout(patience(5), reactor)
        assert reported == struct.pack("<IIBI", 1, 77, 128, 1)
        listed = await client.message(CHARACTERS)
        assert listed[:9] == b"\1" + b"\xff" * 8
        assert listed[9:20] == str16(b"(deleted)")


@pytest.mark.parametrize("code", [0, 7, 10, 18, 253])
async def test_the_worlds_refusal_reaches_the_client_as_it_is(tmp_path: Path, code: int) -> None:
    async with login_server(tmp_path) as server, link_of(server) as world, player(server) as client:
        world.answer_play(await create(client, world, 77, b"Aldana"), code)
        assert await client.message(PLAY) == play_reply(code)
        client.send(play_request(77))
        world.answer_play(await asked_to_play(world), 1, key=5)
        granted = play_reply(1, address=b"127.0.0.1", port=9312, key=5)
        assert await client.message(PLAY) == granted


async def test_a_world_that_does_not_answer_costs_five_seconds_and_nothing_else(
    tmp_path: Path,
) -> None:
    async with (
        login_server(tmp_path, speed=20) as server,
        link_of(server) as world,
        player(server) as client,
    ):
        begun = server.clock.seconds()
        late = await create(client, world, 77, b"Aldana")
        assert await client.message(PLAY) == play_reply(8)
        assert 4.5 <= server.clock.seconds() - begun <= 8
        world.answer_play(late, key=1)  # nobody waits for it any more
        await sleep(0.02)
        client.send(play_request(77))
        world.answer_play(await asked_to_play(world), key=2)
        granted = play_reply(1, address=b"127.0.0.1", port=9312, key=2)
        assert await client.message(PLAY) == granted
        assert not [opcode for opcode, _ in client.messages if opcode == PLAY]


async def test_an_unanswered_create_ends_after_15_s_and_a_late_answer_is_kept(
    tmp_path: Path,
) -> None:
    async with (
        login_server(tmp_path, speed=40) as server,
        link_of(server) as world,
        player(server) as client,
    ):
        begun = server.clock.seconds()
        client.send(b"\x0b" + request_546(b"Aldana"))
        await world.received(CHAR_CREATE).addTimeout(patience(5), reactor)
        assert await client.message(PLAY) == play_reply(8)
        assert 14 <= server.clock.seconds() - begun <= 20
        world.send(CHAR_CREATE, struct.pack("<IIB", 1, 77, 1))
        await until(
            lambda: server.rows("SELECT name, char_id FROM characters") == [("Aldana", 77)],
            "the row",
        )


@pytest.mark.parametrize("code", [2, 13])
async def test_a_refused_create_leaves_no_row_and_no_later_reply(tmp_path: Path, code: int) -> None:
    async with (
        login_server(tmp_path, speed=40) as server,
        link_of(server) as world,
        player(server) as client,
    ):
        client.send(b"\x0b" + request_546(b"Aldana"))
        await world.received(CHAR_CREATE).addTimeout(patience(5), reactor)
        world.send(CHAR_CREATE, struct.pack("<IIB", 1, 0, code))
        assert await client.message(CREATED) == struct.pack("<IB", 1, code) + str16(b"")
        await server.clock.sleep(20)  # EQ2Emulator would send a play failure now
        assert not [opcode for opcode, _ in client.messages if opcode == PLAY]
        assert server.rows("SELECT name FROM characters") == []


async def test_a_world_that_vanishes_during_play_or_create_is_answered_for(
    tmp_path: Path,
) -> None:
    async with login_server(tmp_path) as server, player(server) as client:
        async with link_of(server) as world:
            await create(client, world, 77, b"Aldana")
        assert await client.message(PLAY) == play_reply(0)
        client.send(play_request(77))
        assert await client.message(PLAY) == play_reply(0)
        async with link_of(server) as world:
            client.send(b"\x0b" + request_546(b"Borvik"))
            await world.received(CHAR_CREATE).addTimeout(patience(5), reactor)
        assert (await client.message(CREATED))[4] == 2
        async with link_of(server) as world:
            client.send(play_request(77))
            world.answer_play(await asked_to_play(world), key=9)
            assert (await client.message(PLAY))[0] == 1


async def test_a_client_that_leaves_in_the_middle_leaves_nothing_stuck(tmp_path: Path) -> None:
    async with login_server(tmp_path, speed=10) as server, link_of(server) as world:
        async with player(server) as client:
            request = await create(client, world, 77, b"Aldana")
        world.answer_play(request, key=1)
        async with player(server) as client:
            client.send(play_request(77))
            world.answer_play(await asked_to_play(world), key=2)
            granted = play_reply(1, address=b"127.0.0.1", port=9312, key=2)
            assert await client.message(PLAY) == granted
            client.send(b"\x0b" + request_546(b"Borvik"))
            await world.received(CHAR_CREATE).addTimeout(patience(5), reactor)
        world.send(CHAR_CREATE, struct.pack("<IIB", 1, 78, 1))  # no client waits for it
        await until(lambda: len(server.rows("SELECT id FROM characters")) == 2, "the row")
        async with raw_client(server.login_port) as client:
            await client.log_in()
            await worlds(client)
            assert (await client.message(CHARACTERS))[0] == 2


async def test_characters_of_a_world_that_is_away_are_not_listed(tmp_path: Path) -> None:
    async with login_server(tmp_path) as server, player(server) as client:
        async with link_of(server) as world:
            world.answer_play(await create(client, world, 77, b"Aldana"))
            await client.message(PLAY)
        await server.log.line(r"world Antonia Bayle \(1\) at 127.0.0.1 is gone")
        await worlds(client)
        assert (await client.message(CHARACTERS))[0] == 0
        async with link_of(server):
            await worlds(client)
            assert (await client.message(CHARACTERS))[0] == 1


REFUSALS = {
    "wrong password": (frame(LS_INFO, ls_info(password=b"wrong")), b"Bad password"),
    "no password": (
        frame(LS_INFO, ls_info()[:482] + bytes(256) + ls_info()[738:]), b"Bad password",
    ),
    "only the beginning of the hash": (
        frame(
            LS_INFO,
            ls_info()[:482]
            + hashlib.sha512(b"secret").hexdigest()[:64].encode().ljust(256, b"\0")
            + ls_info()[738:],
        ),
        b"Bad password",
    ),
    "unknown account": (frame(LS_INFO, ls_info(b"nobody")), b"Bad password"),
    "protocol version": (frame(LS_INFO, ls_info(protocol=b"0.4.9")), b"Incorrect version"),
    "a byte too few": (frame(LS_INFO, ls_info()[:-1]), b"Incorrect version"),
    "a byte too many": (frame(LS_INFO, ls_info() + b"\0"), b"Incorrect version"),
    "something before LSInfo": (
        frame(PLAY_RESPONSE, bytes(109)), b"This connection has not authenticated.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
async def test_worlds_are_refused_with_the_peers_words(tmp_path: Path, name: str) -> None:
    data, text = REFUSALS[name]
    async with login_server(tmp_path) as server, link_of(server) as good:
        async with link_of(server, register=False) as world:
            world.write(data)
            assert await world.refusal() == text
        assert good.is_connected
        async with player(server) as client:
            assert (await worlds(client))[0] == 1


async def test_a_ghost_gives_way_to_the_world_that_comes_again(tmp_path: Path) -> None:
    async with login_server(tmp_path) as server, player(server) as client, link_of(server) as ghost:
        await client.message(WORLD_STATUS)
        async with link_of(server, register=False) as again:
            again.register()
            assert await ghost.received(LS_FATAL_ERROR).addTimeout(patience(5), reactor) == (
                b"Ghost Kick!\0"
            )
            await ghost.ended()
            again.status(-2)
            await until(
                lambda: (WORLD_STATUS, struct.pack("<IBBBB", 1, 1, 1, 0, 0)) in client.messages,
                "the new link's status",
            )
            assert await worlds(client) == b"\1" + entry(locked=1, load=2)


async def test_two_worlds_do_not_answer_for_each_other(tmp_path: Path) -> None:
    async with (
        login_server(tmp_path, speed=20) as server,
        link_of(server) as world,
        link_of(server, register=False) as other,
    ):
        other.register(b"other", b"other secret")
        await server.log.line(r"world Permafrost \(2\) registered")
        async with player(server) as client:
            request = await create(client, world, 77, b"Aldana")
            other.answer_play(request, key=666)  # as world 1
            forged = request[:8] + struct.pack("<I", 2) + request[12:]
            other.answer_play(forged, key=667)  # as itself
            assert await client.message(PLAY) == play_reply(8)
