"""A real client's own bytes against a running server (docs/protocol/transport.md#setup)."""

import struct
from pathlib import Path

from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
from cryptography.hazmat.primitives.ciphers import Cipher

from tests.support.running.whole_server import harness, until
from tests.support.sessions.raw_client import RawClient, raw_client
from tests.support.sessions.reference_wire import RECORDED

SESSION_REQUEST = bytes.fromhex("0001000000025352f60f00000200")
SESSION_RESPONSE = bytes.fromhex("00025352f60f336247020200000000020000000000")
STATISTICS = bytes.fromhex(
    "000752d7" + "00000000" * 5 + "0000000000000002" + "0000000000000001" + "f83c"
)
KEY_REQUEST = b"\x02" + struct.pack("<I", 60) + b"\xff" * 60 + struct.pack("<IB", 1, 1)
ACCEPTED = bytes.fromhex("000000000000000000000000000000000000000000000001ff7cffffff000000ffff0000")
"""docs/protocol/login.md#accepted, the 36 bytes for 546."""


def decrypted(payload: bytes) -> bytes:
    """Decrypt a server's first reliable payload with the key inside the recorded datagram."""
    block = RECORDED[7 : 7 + 68]
    stream = Cipher(ARC4(block[-8:][::-1]), mode=None).decryptor()
    stream.update(bytes(20))
    return stream.update(payload[1:] if payload[0] == 0 else payload)


async def replay(client: RawClient) -> list[bytes]:
    """Send the three recorded datagrams; return the reliable packets that came after them."""
    client.raw(SESSION_REQUEST)
    await until(lambda: client.datagrams, "the session response")
    assert client.datagrams == [SESSION_RESPONSE]
    client.raw(STATISTICS)
    await until(lambda: len(client.packets) >= 2, "statistics and key request")
    statistics, key_request = client.packets[:2]
    assert statistics[:4] == bytes.fromhex("000852d7")
    assert len(statistics) == 40
    assert struct.unpack_from(">QQ", statistics, 8) == (2, 1)
    assert key_request == bytes.fromhex("00090000") + KEY_REQUEST
    client.raw(RECORDED)
    await until(lambda: len(client.packets) >= 4, "Ack and login reply")
    assert len(client.packets) == 4
    return client.packets[2:]


async def test_a_recorded_login_is_acknowledged_and_accepted(tmp_path: Path) -> None:
    async with (
        harness(tmp_path, {"login.crc_seed": 0x33624702}) as server,
        raw_client(server.login_port) as client,
    ):
        ack, reply = await replay(client)
        assert ack == bytes.fromhex("00150000")
        assert reply[:4] == bytes.fromhex("00090001")
        assert decrypted(reply[4:]) == b"\x00\x04" + ACCEPTED
        await server.log.line(r"login of testlabs from 127\.0\.0\.1, client 546")


async def test_all_answers_to_one_datagram_leave_in_one_datagram(tmp_path: Path) -> None:
    async with (
        harness(tmp_path, {"login.crc_seed": 0x33624702}) as server,
        raw_client(server.login_port) as client,
    ):
        await replay(client)
        response, first, *rest = client.datagrams
        assert response == SESSION_RESPONSE
        assert first[:2] == b"\x00\x03", "statistics and key request are one Combined"
        assert len(rest) <= 2, "Ack and login reply: one datagram, two when hashing took a turn"


async def test_a_recorded_login_with_a_wrong_password_on_record_is_denied(tmp_path: Path) -> None:
    accounts = {"testlabs": "another"}
    async with (
        harness(tmp_path, {"login.crc_seed": 0x33624702}, accounts=accounts) as server,
        raw_client(server.login_port) as client,
    ):
        _, reply = await replay(client)
        assert decrypted(reply[4:])[:3] == b"\x00\x04\x01"
        assert len(decrypted(reply[4:])) == 2 + 34
