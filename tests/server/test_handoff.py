"""From a granted play request into the world, once.

Sources: docs/protocol/characters.md#play-reply, docs/protocol/world/entering.md.
"""

import struct
from pathlib import Path

import pytest

from emu.client import PlayAnswer
from tests.support.running.whole_server import Harness, harness, until
from tests.support.sessions.raw_client import RawClient, by_number, login_request, raw_client

LOGIN_REPLY = 4
OLD_REPLY = bytes(23) + b"\1"
REPLY_561 = bytes(23) + b"\1" + struct.pack("<iiiI7xIIII", 0, 0, -959971393, 3, 0, 2, 585, 1597830)
NEWEST_REPLY = bytes(45) + b"\x86" + bytes(39)
REPLIES = {546: OLD_REPLY, 561: REPLY_561, 1096: REPLY_561, 1208: REPLY_561 + bytes(6),
           57080: REPLY_561 + bytes(24), 60114: NEWEST_REPLY, 64753: NEWEST_REPLY}  # fmt: skip


async def granted(server: Harness, version: int = 546, name: str = "Aldana") -> PlayAnswer:
    """Make a character, play it, and leave the login server as a client does."""
    await server.world_registered()
    async with await server.logged_in(version=version) as client:
        await client.worlds()
        if name not in [one.name for one in await client.characters()]:
            assert (await client.create(1, name)).ok
            if version <= 561:
                await client.play_answer()
        answer = await client.play(name)
    assert answer.ok
    assert answer.port == server.world_port
    return answer


async def turned_away(server: Harness, client: RawClient) -> None:
    """Check that a session was ended and that not a word was said."""
    await until(lambda: client.disconnected, "the end of the session")
    assert [opcode for opcode, _ in client.messages] == [2], "the key request and nothing else"
    await server.log.line(r"world: 127\.0\.0\.1 was refused: no such key")


@pytest.mark.parametrize("version", REPLIES)
async def test_a_granted_client_enters_the_world(server: Harness, version: int) -> None:
    answer = await granted(server, version)
    async with raw_client(answer.port) as client:
        await client.enter(by_number(answer.account_id, answer.access_code, version))
        assert await client.message(LOGIN_REPLY) == REPLIES[version]
        line = rf"Aldana entered from 127\.0\.0\.1, client {version}"
        await server.log.line(line)
        played = "SELECT last_played > 0 FROM world_characters"
        await until(lambda: server.rows(played) == [(1,)], "when it was played, stored")
        listed = "SELECT zone_id, zone_name FROM characters"
        where = server.rows("SELECT zone_id FROM world_characters")[0]
        await until(lambda: server.rows(listed)[0][:1] == where, "its zone, in the list")
        assert server.rows(listed)[0][1]
        client.send(b"\xff\x60\xeawhat is this?")
        unknown = r"unknown message 60000 \(no name\) of Aldana from 127\.0\.0\.1"
        await server.log.line(rf"{unknown}, client {version}: 13 bytes: 77 68 61 74")
    await server.log.line(r"Aldana from 127\.0\.0\.1 left")


async def test_a_key_works_once(server: Harness) -> None:
    answer = await granted(server)
    request = by_number(answer.account_id, answer.access_code)
    async with raw_client(answer.port, 1) as client, raw_client(answer.port, 2) as thief:
        await client.enter(request)
        await client.message(LOGIN_REPLY)
        await thief.enter(request)
        await turned_away(server, thief)
        assert not client.disconnected


async def test_wrong_keys_and_accounts_are_turned_away_and_cost_the_owner_nothing(
    server: Harness,
) -> None:
    answer = await granted(server)
    account, key = answer.account_id, answer.access_code
    for guess in ((account, key ^ 1), (account + 1, key), (0, key), (account, 0), (0, 0)):
        async with raw_client(answer.port) as client:
            await client.enter(by_number(*guess))
            await turned_away(server, client)
    async with raw_client(answer.port) as client:
        await client.enter(by_number(account, key))
        assert await client.message(LOGIN_REPLY) == OLD_REPLY


@pytest.mark.parametrize(
    "first",
    [b"\1", by_number(1, 1)[:-1], by_number(1, 1) + b"\0", by_number(1, 1, 20000), b"\1" * 200],
    ids=["empty", "short", "long", "unknown version", "nonsense"],
)
async def test_requests_that_cannot_be_read_are_turned_away(tmp_path: Path, first: bytes) -> None:
    async with harness(tmp_path) as server, raw_client(server.world_port) as client:
        await client.enter(first)
        await until(lambda: client.disconnected, "the end of the session")
        assert [opcode for opcode, _ in client.messages] == [2]
        await server.log.line(r"127\.0\.0\.1 was refused: ")


async def test_a_login_server_client_at_the_world_listener_gets_nothing(tmp_path: Path) -> None:
    async with harness(tmp_path, speed=20) as server, raw_client(server.world_port) as client:
        await client.enter(login_request(b"testlabs", b"testpass"))
        await until(lambda: client.disconnected, "the end of the session")
        assert [opcode for opcode, _ in client.messages] == [2]
        assert "testpass" not in server.log.text


async def test_a_key_is_good_for_a_minute(server: Harness) -> None:
    answer = await granted(server)
    server.clock.skip(61.0)
    async with raw_client(answer.port) as client:
        await client.enter(by_number(answer.account_id, answer.access_code))
        await turned_away(server, client)


async def test_a_new_key_makes_the_one_before_useless(server: Harness) -> None:
    first = await granted(server)
    second = await granted(server)
    assert first.access_code != second.access_code
    async with raw_client(first.port) as client:
        await client.enter(by_number(first.account_id, first.access_code))
        await turned_away(server, client)
    async with raw_client(second.port) as client:
        await client.enter(by_number(second.account_id, second.access_code))
        await client.message(LOGIN_REPLY)


async def test_a_deleted_characters_key_opens_nothing(server: Harness) -> None:
    answer = await granted(server, 1208)
    async with await server.logged_in(version=1208) as login:
        await login.worlds()
        await login.characters()
        assert (await login.delete("Aldana")).ok
    await until(
        lambda: server.rows("SELECT deleted FROM world_characters") == [(1,)], "the deletion"
    )
    async with raw_client(answer.port) as client:
        await client.enter(by_number(answer.account_id, answer.access_code, 1208))
        await turned_away(server, client)


async def test_a_world_that_was_locked_meanwhile_says_no_at_zone_entry(server: Harness) -> None:
    answer = await granted(server)
    assert server.service.server.world is not None
    server.service.server.world.parts.admission.locked = True
    async with raw_client(answer.port) as client:
        await client.enter(by_number(answer.account_id, answer.access_code))
        assert (await client.message(LOGIN_REPLY))[0] > 1
        await until(lambda: client.disconnected, "the end of the session")
    await server.log.line(r"127\.0\.0\.1 was refused: the world is locked")


async def test_who_plays_another_character_is_refused_a_key_until_that_leaves(
    server: Harness,
) -> None:
    await granted(server, name="Borvik")
    answer = await granted(server)
    async with raw_client(answer.port) as client:
        await client.enter(by_number(answer.account_id, answer.access_code))
        await client.message(LOGIN_REPLY)
        async with await server.logged_in() as login:
            await login.worlds()
            await login.characters()
            refused = await login.play("Borvik")
            assert (refused.code, refused.access_code) == (7, 0)
    await server.log.line(r"Aldana from 127\.0\.0\.1 left")
    again = await granted(server, name="Borvik")
    assert again.ok


async def test_who_plays_a_character_takes_it_over_and_the_session_before_is_notified(
    server: Harness,
) -> None:
    answer = await granted(server)
    async with raw_client(answer.port, 1) as client:
        await client.enter(by_number(answer.account_id, answer.access_code))
        await client.message(LOGIN_REPLY)
        again = await granted(server)
        async with raw_client(answer.port, 2) as second:
            await second.enter(by_number(again.account_id, again.access_code))
            assert await second.message(LOGIN_REPLY) == OLD_REPLY
            await until(lambda: client.disconnected, "the end of the session before")
            assert not second.disconnected


async def test_account_in_use_does_not_outlive_the_session_that_caused_it(server: Harness) -> None:
    await granted(server, name="Borvik")
    answer = await granted(server)
    async with raw_client(answer.port) as client:
        await client.enter(by_number(answer.account_id, answer.access_code))
        await client.message(LOGIN_REPLY)
        client.disconnected = True  # it goes without a word
    async with await server.logged_in() as login:
        await login.worlds()
        await login.characters()
        assert (await login.play("Borvik")).code == 7
    server.clock.skip(46)
    await server.log.line(r"Aldana from 127\.0\.0\.1 left", seconds=20)
    assert (await granted(server, name="Borvik")).ok
