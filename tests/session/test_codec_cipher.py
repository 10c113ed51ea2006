"""The key exchange's bytes and the RC4 pair."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import MalformedMessage
from emu.session import Role
from emu.session.codec import (
    KEY_REQUEST,
    CipherPair,
    check_key_request,
    key_block_message,
    key_from_block,
    make_key_block,
)

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "session.json").read_text())
STREAM = VECTORS["keystream"]


def test_the_key_is_the_last_eight_bytes_reversed():
    block = bytes(52) + bytes.fromhex(STREAM["block_end"])
    assert key_from_block(block).hex() == STREAM["key"]
    assert key_from_block(key_block_message(block)).hex() == STREAM["key"]


@pytest.mark.parametrize("role", list(Role))
def test_keystreams_after_the_twenty_dropped_bytes(role):
    pair = CipherPair(bytes.fromhex(STREAM["key"]), role)
    from_server, from_client = (
        (pair.encrypt, pair.decrypt) if role is Role.SERVER else (pair.decrypt, pair.encrypt)
    )
    assert from_server(bytes(16)).hex() == STREAM["server_to_client"]
    assert from_client(bytes(16)).hex() == STREAM["client_to_server"]


@given(st.binary(min_size=8, max_size=8).filter(any), st.lists(st.binary(max_size=50)))
def test_each_side_reads_what_the_other_wrote(key, texts):
    client, server = CipherPair(key, Role.CLIENT), CipherPair(key, Role.SERVER)
    for text in texts:
        assert server.decrypt(client.encrypt(text)) == text
        assert client.decrypt(server.encrypt(text)) == text


def test_the_key_request_is_the_peers():
    assert KEY_REQUEST.hex() == VECTORS["key_request"]
    check_key_request(KEY_REQUEST)


@pytest.mark.parametrize("request_", [b"", b"\x02", KEY_REQUEST[:-1], KEY_REQUEST[:-1] + b"\x03"])
def test_a_key_request_that_asks_for_more_than_the_identity_is_refused(request_):
    with pytest.raises(MalformedMessage):
        check_key_request(request_)


@pytest.mark.parametrize("block", [bytes(60), b"\xff" * 52 + bytes(8), b"", b"\x01" * 7])
def test_a_key_of_zeros_or_too_short_is_refused(block):
    with pytest.raises(MalformedMessage, match="zero key"):
        key_from_block(block)


def test_a_key_block_by_chance_never_holds_a_key_of_zeros() -> None:
    drawn = iter([bytes(60), b"\1" * 52 + bytes(8), bytes(52) + b"abcdefgh"])
    block = make_key_block(lambda size: next(drawn))
    assert key_from_block(block) == b"hgfedcba"
