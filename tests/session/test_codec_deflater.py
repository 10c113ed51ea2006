"""The deflate stream of a session."""

from __future__ import annotations

import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import LimitExceeded, MalformedMessage, PeerError
from emu.session import SessionConfig
from emu.session.codec import Deflater, Inflater

TEXTS = st.lists(st.one_of(st.binary(max_size=300), st.text(max_size=50).map(str.encode)))
PEER = SessionConfig(deflate_level=9, deflate_memory_level=9, deflate_window_bits=13)


@given(TEXTS, st.sets(st.integers(0, 20)))
def test_the_inflater_reads_every_message_also_across_a_release(texts, releases):
    deflater, inflater = Deflater(SessionConfig()), Inflater(1000)
    for number, text in enumerate(texts):
        if number in releases:
            deflater.compressor = None
        assert inflater.inflate(deflater.deflate(text)) == text


def test_the_settings_of_eq2emulator_give_its_bytes():
    deflater = Deflater(PEER)
    reference = zlib.compressobj(9, zlib.DEFLATED, 13, 9)
    for number in range(50):
        text = random.Random(number).randbytes(40) * (number % 5 + 1)
        expected = reference.compress(text) + reference.flush(zlib.Z_SYNC_FLUSH)
        assert deflater.deflate(text) == expected


def test_the_header_announces_a_window_that_real_clients_can_hold():
    for config in (PEER, SessionConfig()):
        head = Deflater(config).deflate(b"x")
        assert head[0] & 0x0F == 8
        assert (head[0] >> 4) + 8 <= 13
        assert zlib.decompressobj(13).decompress(head) == b"x"


def test_later_messages_profit_from_earlier_ones():
    deflater = Deflater(SessionConfig())
    text = random.Random(0).randbytes(400)
    assert len(deflater.deflate(text)) > 400
    assert len(deflater.deflate(text)) < 40


def test_nothing_is_allocated_before_the_first_use():
    deflater = Deflater(SessionConfig())
    assert deflater.compressor is None
    deflater.deflate(b"x")
    assert deflater.compressor is not None


def test_inflating_stops_one_past_the_limit():
    whole = Deflater(SessionConfig()).deflate(bytes(5000))
    assert Inflater(5000).inflate(whole) == bytes(5000)
    with pytest.raises(LimitExceeded, match="inflated message too long"):
        Inflater(4999).inflate(whole)


def test_a_damaged_stream_is_refused():
    inflater = Inflater(5000)
    with pytest.raises(MalformedMessage, match="damaged compressed message"):
        inflater.inflate(b"no zlib header")
    with pytest.raises(MalformedMessage, match="damaged compressed message"):
        Inflater(5000).inflate(zlib.compress(b"a stream that ends"))


@given(st.lists(st.binary(max_size=60), max_size=5))
def test_garbage_inflates_or_is_refused(pieces):
    inflater = Inflater(1000)
    try:
        for piece in pieces:
            assert len(inflater.inflate(piece)) <= 1000
    except PeerError:
        pass
