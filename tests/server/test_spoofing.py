"""What somebody sends in another's name, over real UDP, disturbs no session and draws no flood."""

import struct
from pathlib import Path

import pytest

from tests.support.running.whole_server import Harness, harness, sleep, until
from tests.support.sessions.raw_client import STATISTICS, RawClient, raw_client, session_request
from tests.support.sessions.reference_wire import check_of

OTHER = 0x0BADF00D


def sealed(packet: bytes, key: int | None) -> bytes:
    assert key is not None
    return packet + check_of(packet, key)


FORGERIES = {
    "a session request with another id": lambda c: session_request(OTHER),
    "a session response": lambda c: struct.pack(
        ">HIIBBBII", 2, c.session_id, c.check_key ^ 1, 2, 0, 0, 512, 0
    ),
    "a session response with another id": lambda c: struct.pack(
        ">HIIBBBII", 2, OTHER, 0, 2, 0, 0, 512, 0
    ),
    "out of session": lambda c: b"\0\x1d",
    "out of session with a check": lambda c: sealed(b"\0\x1d", c.check_key),
    "a disconnect of another session": lambda c: sealed(
        struct.pack(">HIH", 5, OTHER, 6), c.check_key
    ),
    "a disconnect with a wrong check": lambda c: sealed(
        struct.pack(">HIH", 5, c.session_id, 6), c.check_key ^ 0x10000
    ),
    "a disconnect with the check of zeros": lambda c: struct.pack(">HIHH", 5, c.session_id, 6, 0),
    "a disconnect without a check": lambda c: struct.pack(">HIH", 5, c.session_id, 6),
    "EQ2Emulator's hole: 00 19 where the check is not looked at": lambda c: struct.pack(
        ">HHHIH", 9, 0x0019, 5, c.session_id, 6
    ),
}


async def still_serves(server: Harness, client: RawClient) -> None:
    """Have the session do something."""
    client.messages.clear()
    client.send(b"\x07")
    await client.message(8)
    await client.message(10)
    assert not client.disconnected
    assert server.service.server.login is not None
    assert len(server.service.server.login.service.logged_in) == 1


@pytest.mark.parametrize("name", FORGERIES)
async def test_a_forgery_from_a_live_sessions_address_does_not_disturb_it(
    server: Harness, name: str
) -> None:
    await server.world_registered()
    async with raw_client(server.login_port) as client:
        await client.log_in()
        for _ in range(8):
            client.raw(FORGERIES[name](client))
        await sleep(0.02)
        await still_serves(server, client)


async def test_all_forgeries_together_leave_the_session_as_it_is(server: Harness) -> None:
    await server.world_registered()
    async with raw_client(server.login_port) as client:
        await client.log_in()
        for _ in range(20):
            for forge in FORGERIES.values():
                client.raw(forge(client))
        await sleep(0.05)
        await still_serves(server, client)


async def test_a_silent_source_gets_an_answer_for_each_request_and_no_session(
    tmp_path: Path,
) -> None:
    async with harness(tmp_path, speed=20) as server, raw_client(server.login_port) as peer:
        request = session_request(peer.session_id)
        for _ in range(3):
            peer.raw(request)
        await until(lambda: len(peer.datagrams) == 3, "an answer")
        assert server.service.server.login is not None
        assert server.service.server.login.dispatcher.session_count == 0
        await server.clock.sleep(10)
        assert sum(map(len, peer.datagrams)) <= 3 * 3 * len(request)
        peer.check_key = None


async def test_a_source_that_guesses_the_check_gets_no_more_than_it_paid_for(
    tmp_path: Path,
) -> None:
    seed = {"login.crc_seed": 0x33624702}  # under which none of the guesses is right
    async with (
        harness(tmp_path, seed, speed=20) as server,
        raw_client(server.login_port) as peer,
    ):
        sent = 0
        for guess in range(200):
            for data in (session_request(guess), STATISTICS + struct.pack(">H", guess)):
                peer.raw(data)
                sent += len(data)
        await server.clock.sleep(12)
        assert sum(map(len, peer.datagrams)) <= 3 * sent
        assert server.service.server.login is not None
        assert server.service.server.login.dispatcher.session_count == 0
