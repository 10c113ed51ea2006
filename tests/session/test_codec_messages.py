"""Application messages: header of each direction, compression, cipher, escape byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import LocalProtocolError, MalformedMessage, PeerError
from emu.session import Role, SessionConfig, StreamType
from emu.session.codec import CipherPair, MessageCodec, opcode_bytes, split_opcode

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "session.json").read_text())
KEY = bytes.fromhex("0807060504030201")
EQ2 = SessionConfig()
MESSAGES = st.lists(st.tuples(st.integers(0, 0xFFFF), st.binary(max_size=400)))


def codecs(config=EQ2, key=KEY):
    return MessageCodec(config, Role.CLIENT, key), MessageCodec(config, Role.SERVER, key)


def unescaped(message):
    if message[0]:
        return message
    assert message[1] == 0
    return message[1:]


@given(MESSAGES)
def test_both_directions_carry_messages_in_order(messages):
    client, server = codecs()
    for message in messages:
        to_server = client.encode(*message)
        assert server.decode(to_server if to_server[0] else to_server[1:]) == message
        to_client = server.encode(*message)
        assert client.decode(to_client if to_client[0] else to_client[1:]) == message


@pytest.mark.parametrize(
    ("opcode", "width", "coded"),
    [
        (0, 2, "00"),
        (254, 2, "fe"),
        (255, 2, "ffff00"),
        (355, 2, "ff6301"),
        (65535, 2, "ffffff"),
        (0, 1, "00"),
        (255, 1, "ff"),
    ],
)
def test_opcodes_on_the_wire(opcode, width, coded):
    assert opcode_bytes(opcode, width).hex() == coded
    assert split_opcode(bytes.fromhex(coded) + b"body", width) == (opcode, b"body")


@pytest.mark.parametrize(("opcode", "width"), [(-1, 1), (256, 1), (-1, 2), (65536, 2)])
def test_an_opcode_that_does_not_fit_is_our_own_error(opcode, width):
    with pytest.raises(LocalProtocolError):
        opcode_bytes(opcode, width)


@pytest.mark.parametrize("message", [b"", b"\xff", b"\xff\x01"])
def test_a_message_without_a_whole_opcode_is_malformed(message):
    with pytest.raises(MalformedMessage, match="message without opcode"):
        split_opcode(message, 2)


def plain_of(codec_role, cipher_text):
    other = Role.CLIENT if codec_role is Role.SERVER else Role.SERVER
    return CipherPair(KEY, other).decrypt(unescaped(cipher_text))


def test_a_server_writes_a_flag_before_the_opcode_and_a_client_does_not():
    client, server = codecs()
    assert plain_of(Role.SERVER, server.encode(4, b"body")) == b"\x00\x04body"
    assert plain_of(Role.CLIENT, client.encode(4, b"body")) == b"\x04body"


@pytest.mark.parametrize(("size", "flag"), [(124, 0), (125, 1)])
def test_messages_above_128_bytes_are_compressed(size, flag):
    _, server = codecs()  # sequence 2 + flag 1 + opcode 1 + body
    assert plain_of(Role.SERVER, server.encode(4, bytes(size)))[0] == flag


def test_a_client_never_compresses():
    client, _ = codecs()
    assert plain_of(Role.CLIENT, client.encode(4, bytes(1000))) == b"\x04" + bytes(1000)


def test_about_one_message_in_256_begins_with_an_escape_byte():
    client, server = codecs()
    escaped = 0
    for number in range(5000):
        message = client.encode(number % 250, b"body")
        if message[0] == 0:
            escaped += 1
            assert message[1] == 0
            assert len(message) == 6
        assert server.decode(unescaped(message)) == (number % 250, b"body")
    assert 8 <= escaped <= 36


def test_the_real_login_request_decrypts():
    server = MessageCodec(EQ2, Role.SERVER, bytes.fromhex(VECTORS["login_key"]))
    message = bytes.fromhex(VECTORS["login"])[-37:-2]
    opcode, body = server.decode(message)
    assert opcode == VECTORS["login_opcode"]
    assert body.hex() == VECTORS["login_body"]


def test_an_unknown_flag_is_malformed_and_does_not_break_the_stream():
    client, _ = codecs()
    forger = CipherPair(KEY, Role.SERVER)
    with pytest.raises(MalformedMessage, match="unknown message flag"):
        client.decode(forger.encrypt(b"\x02\x04body"))
    assert not client.broken
    assert client.decode(forger.encrypt(b"\x00\x04body")) == (4, b"body")


def test_a_damaged_compressed_message_breaks_the_stream():
    client, _ = codecs()
    with pytest.raises(PeerError):
        client.decode(CipherPair(KEY, Role.SERVER).encrypt(b"\x01garbage"))
    assert client.broken


@pytest.mark.parametrize("kind", list(StreamType))
def test_every_stream_type_carries_the_opcodes_of_its_width(kind):
    client, server = codecs(SessionConfig(stream_type=kind))
    largest = 255 if kind.opcode_width == 1 else 65535
    for opcode in (0, 1, 254, largest):
        assert server.decode(unescaped(client.encode(opcode, b"b"))) == (opcode, b"b")
        assert client.decode(unescaped(server.encode(opcode, b"b"))) == (opcode, b"b")
    with pytest.raises(LocalProtocolError):
        client.encode(largest + 1, b"")
