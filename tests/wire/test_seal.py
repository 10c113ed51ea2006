"""Sealing and opening datagrams: check, compression, encoding."""

from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import BadChecksum, LimitExceeded, MalformedDatagram, PeerError
from emu.wire import Format, Seal, check_of, check_start
from emu.wire.seal import compress, decode_words, decompress, encode_words

KEY = 0x33624702
FORMATS = (
    Format.NONE,
    Format.COMPRESSED,
    Format.ENCODED,
    Format.COMPRESSED | Format.ENCODED,
)
PACKET = st.builds(
    lambda opcode, body: bytes((0, opcode)) + body,
    st.integers(0, 255),
    st.one_of(st.binary(max_size=300), st.integers(0, 1000).map(bytes)),
)


@given(form=st.sampled_from(FORMATS), packet=PACKET, key=st.integers(0, 2**32 - 1))
def test_an_unsealed_datagram_is_the_packet_again(form, packet, key):
    seal = Seal(key, form)
    datagram = seal.seal(packet)
    assert seal.is_valid(datagram)
    assert datagram[:2] == packet[:2]
    assert len(datagram) <= len(packet) + seal.overhead
    assert seal.unseal(datagram) == packet


def test_plain_seal_adds_the_check_and_nothing_else():
    seal = Seal(KEY)
    assert seal.plain
    assert seal.overhead == 2
    assert seal.seal(b"\x00\x15\x00\x00").hex() == "001500009e7f"
    assert seal.seal(b"\x00\x06").hex() == "00064585"


@given(form=st.sampled_from(FORMATS), packet=PACKET, bit=st.integers(0, 10_000))
def test_one_flipped_bit_is_noticed(form, packet, bit):
    seal = Seal(KEY, form)
    damaged = bytearray(seal.seal(packet))
    damaged[bit // 8 % len(damaged)] ^= 1 << bit % 8
    with pytest.raises(BadChecksum):
        seal.unseal(bytes(damaged))


@pytest.mark.parametrize(
    "datagram", ["0006", "000645", "00060000", "0019", "00190000", "0009001900"]
)
def test_a_missing_or_zero_check_is_not_accepted(datagram):
    with pytest.raises(BadChecksum):
        Seal(KEY).unseal(bytes.fromhex(datagram))


def test_the_check_is_computed_over_the_transformed_bytes():
    datagram = Seal(KEY, Format.COMPRESSED).seal(b"\x00\x09" + bytes(400))
    assert datagram[2] == 0x5A
    assert zlib.decompress(datagram[3:-2]) == bytes(400)
    assert check_of(datagram[:-2], check_start(KEY)) == int.from_bytes(datagram[-2:], "big")


@pytest.mark.parametrize("size", [0, 1, 127, 128])
def test_up_to_the_threshold_nothing_is_compressed(size):
    assert compress(bytes(size), 128) == b"\xa5" + bytes(size)


def test_one_past_the_threshold_is_compressed():
    packed = compress(bytes(129), 128)
    assert packed[0] == 0x5A
    assert len(packed) < 129


def test_what_does_not_shrink_stays_as_it_is():
    noise = bytes((number * 89 + number // 3) & 0xFF for number in range(200))
    assert len(zlib.compress(noise)) >= 200
    assert compress(noise, 128) == b"\xa5" + noise


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "missing compression marker"),
        (b"\x00abc", "missing compression marker"),
        (b"\x5aabc", "damaged compressed datagram"),
        (b"\x5a", "damaged compressed datagram"),
        (b"\x5a" + zlib.compress(b"whole")[:-1], "damaged compressed datagram"),
        (b"\x5a" + zlib.compress(b"whole") + b"more", "damaged compressed datagram"),
    ],
)
def test_bad_compressed_bodies_have_their_reason(data, reason):
    with pytest.raises(MalformedDatagram) as caught:
        decompress(data, 100)
    assert caught.value.reason == reason


def test_inflating_stops_at_the_limit():
    assert decompress(b"\x5a" + zlib.compress(bytes(1000)), 1000) == bytes(1000)
    with pytest.raises(LimitExceeded):
        decompress(b"\x5a" + zlib.compress(bytes(1001)), 1000)
    with pytest.raises(LimitExceeded):
        decompress(b"\x5a" + zlib.compress(bytes(10_000_000)), 1000)


@given(st.binary(max_size=200))
def test_garbage_inflates_or_is_refused(data):
    try:
        plain = decompress(data, 500)
    except PeerError:
        return
    assert len(plain) <= 500


def test_encoding_chains_words_and_ends_with_the_low_byte():
    data = struct.pack("<2I", 0x11111111, 0x22222222) + b"\x01\x02\x03"
    first = KEY ^ 0x11111111
    second = first ^ 0x22222222
    low = second & 0xFF
    assert encode_words(data, KEY) == struct.pack("<2I", first, second) + bytes(
        (1 ^ low, 2 ^ low, 3 ^ low)
    )


def test_encoding_less_than_a_word_uses_the_key():
    assert encode_words(b"\x00\x01", KEY) == bytes((0x02, 0x03))


@given(st.binary(max_size=100), st.integers(0, 2**32 - 1))
def test_decoding_undoes_encoding(data, key):
    assert decode_words(encode_words(data, key), key) == data
