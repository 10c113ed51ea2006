"""Session set-up over real UDP, as clients do it and as they should not.

Sources: docs/protocol/transport.md#datagrams, docs/protocol/transport.md#setup.
"""

import struct
from pathlib import Path

import pytest

from tests.support.running.whole_server import Harness, harness, sleep, until
from tests.support.sessions.raw_client import STATISTICS, RawClient, raw_client, session_request

RESPONSE_SIZE = 21


def read_response(datagram: bytes) -> tuple[int, int, int]:
    """Return session id, check key and MaxLength of a session response."""
    assert len(datagram) == RESPONSE_SIZE
    op, session_id, key, checks, form, unknown_b, max_length, unknown_d = struct.unpack(
        ">HIIBBBII", datagram
    )
    assert (op, checks, form, unknown_b, unknown_d) == (2, 2, 0, 0, 0)
    return session_id, key, max_length


async def log_in_by_hand(client: RawClient) -> None:
    """Log in over a session whose response has come already, and ask for the worlds."""
    await client.log_in()
    client.send(b"\x07")
    assert (await client.message(8))[0] == 1


@pytest.mark.parametrize(
    "tail",
    [b"", b"\0", b"EQ2\0", b"LoginUdp_9\0", b"no end", b"x" * 200],
    ids=len,
)
async def test_requests_of_14_bytes_and_longer_are_answered(tmp_path: Path, tail: bytes) -> None:
    async with harness(tmp_path) as server, raw_client(server.login_port) as client:
        session_id, _, max_length = read_response(await client.request(tail=tail))
        assert (session_id, max_length) == (0x5352F60F, 512)


async def test_a_request_of_13_bytes_is_not_answered(tmp_path: Path) -> None:
    async with harness(tmp_path) as server, raw_client(server.login_port) as client:
        client.raw(session_request(client.session_id)[:-1])
        await sleep(0.05)
        assert client.datagrams == []
        await client.request()


async def test_a_request_that_is_repeated_four_times_has_one_answer(server: Harness) -> None:
    await server.world_registered()
    async with raw_client(server.login_port) as client:
        for _ in range(4):
            await client.request()
        assert len(client.datagrams) == 4
        assert len(set(client.datagrams)) == 1
        assert not client.disconnected
        await log_in_by_hand(client)
        assert server.service.server.login is not None
        assert server.service.server.login.dispatcher.session_count == 1


async def test_a_repeat_that_crossed_the_answer_disturbs_nothing(server: Harness) -> None:
    await server.world_registered()
    async with raw_client(server.login_port) as client:
        await client.set_up()
        for _ in range(3):
            client.raw(session_request(client.session_id))
        await log_in_by_hand(client)


async def test_a_request_with_another_id_from_one_address_takes_over_once_it_is_validated(
    server: Harness,
) -> None:
    await server.world_registered()
    async with raw_client(server.login_port) as client:
        await client.log_in()
        first_key = client.check_key
        client.session_id = 0x11223344
        session_id, key, _ = read_response(await client.request())
        assert session_id == 0x11223344
        assert key != first_key
        restarted = RawClient(server.login_port, 0x11223344)
        restarted.check_key = key
        restarted.transport = client.transport
        client.datagramReceived = restarted.datagramReceived  # type: ignore[method-assign]
        restarted.packet(STATISTICS)
        await until(lambda: restarted.messages, "the new session's key request")
        assert server.service.server.login is not None
        await until(
            lambda: server.service.server.login.dispatcher.session_count == 1,  # type: ignore[union-attr]
            "the old session to go",
        )
        client.disconnected = True  # the old session is over without a word
        restarted.disconnect()


@pytest.mark.parametrize(
    ("asked", "given"), [(0, 64), (5, 64), (64, 64), (512, 512), (1400, 1400), (4294967295, 1400)]
)
async def test_any_max_length_is_answered_with_a_size_that_works(
    server: Harness, asked: int, given: int
) -> None:
    await server.world_registered()
    async with raw_client(server.login_port) as client:
        _, _, max_length = read_response(await client.request(asked))
        assert max_length == given
        client.packet(STATISTICS)
        await until(lambda: client.messages, "the key request")
        assert client.messages[0][1][-1:] == b"\x01"
        await log_in_by_hand(client)
        assert max(len(data) for data in client.datagrams) <= given
