"""Cutting payloads and putting them together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import LimitExceeded, MalformedDatagram
from emu.session.channel import Assembler, cut


@given(st.binary(min_size=1, max_size=5000), st.integers(16, 1400))
def test_what_was_cut_comes_together_again(payload, capacity):
    assembler = Assembler(5000)
    chunks = list(cut(payload, capacity))
    for chunk in chunks[:-1]:
        assert assembler.add_chunk(chunk, 5000) is None
        assert assembler.held_bytes
    assert assembler.add_chunk(chunks[-1], 5000) == payload
    assert assembler.held_bytes == 0


def test_every_datagram_but_the_last_is_full():
    # MaxLength 512 leaves 510 bytes without the check: chunks of MaxLength - 10, then - 6.
    chunks = list(cut(bytes(1500), 510))
    assert [len(chunk) for chunk in chunks] == [4 + 502, 506, 492]
    assert chunks[0][:4] == (1500).to_bytes(4, "big")


@pytest.mark.parametrize("chunk", [b"", b"\x00", b"\x00\x00\x00\x04"])
def test_a_first_fragment_without_payload_is_malformed(chunk):
    with pytest.raises(MalformedDatagram, match="first fragment too short"):
        Assembler(10).add_chunk(chunk, 100)


@pytest.mark.parametrize("total", [0, 1, 2])
def test_more_bytes_than_announced_are_malformed(total):
    with pytest.raises(MalformedDatagram, match="fragments longer than announced"):
        Assembler(10).add_chunk(total.to_bytes(4, "big") + b"abc", 100)


def test_the_total_is_bounded_before_anything_is_kept():
    assert Assembler(10).add_chunk((100).to_bytes(4, "big") + b"a", 100) is None
    for total in (101, 2**32 - 1):
        assembler = Assembler(10)
        with pytest.raises(LimitExceeded, match="fragmented message too long"):
            assembler.add_chunk(total.to_bytes(4, "big") + b"a", 100)
        assert assembler.held_bytes == 0


def test_the_number_of_fragments_is_bounded():
    assembler = Assembler(3)
    assembler.add_chunk((100).to_bytes(4, "big") + b"a", 100)
    assembler.add_chunk(b"a", 100)
    assembler.add_chunk(b"a", 100)
    with pytest.raises(LimitExceeded, match="too many fragments"):
        assembler.add_chunk(b"a", 100)


def test_each_run_counts_its_fragments_anew():
    assembler = Assembler(2)
    for _ in range(3):
        assert assembler.add_chunk((2).to_bytes(4, "big") + b"a", 100) is None
        assert assembler.add_chunk(b"b", 100) == b"ab"
