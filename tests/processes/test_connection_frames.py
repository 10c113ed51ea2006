"""Frames between processes: every value comes back, and no bytes do harm."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import LimitExceeded, LocalProtocolError, MalformedMessage, PeerError
from emu.processes.connection import LARGEST, FrameReader, encode_frame, to_note, to_plain

VALUES = st.one_of(
    st.text(), st.integers(), st.floats(allow_nan=False), st.booleans(), st.binary(), st.none()
)


@given(st.dictionaries(st.text(), VALUES), st.integers(1, 40))
def test_every_note_comes_back_however_it_is_cut(note: dict[str, object], size: int) -> None:
    reader = FrameReader(LARGEST)
    data = encode_frame(["note", "topic", to_plain(note)]) * 2
    got = []
    for at in range(0, len(data), size):
        got += list(reader.receive(data[at : at + size]))
    assert [frame[:2] for frame in got] == [["note", "topic"]] * 2
    assert [to_note(frame[2]) for frame in got] == [note, note]


def test_numbers_that_are_none_come_back_too() -> None:
    (frame,) = FrameReader(100).receive(encode_frame(["x", {"n": math.nan, "i": math.inf}]))
    assert math.isnan(frame[1]["n"])
    assert frame[1]["i"] == math.inf


@given(st.binary(max_size=300))
def test_garbage_raises_what_ends_a_connection_and_nothing_else(data: bytes) -> None:
    reader = FrameReader(200)
    try:
        for frame in reader.receive(data):
            assert isinstance(frame[0], str)
    except PeerError:
        return
    assert len(reader._buffer) <= 204 + len(data)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"[]",
        b"[1]",
        b'["x"',
        b"\xff",
        b"[" * 100_000,
        b'["x",' + b"9" * 9999 + b"]",
        b'["x","\\ud83d"]',
        b'["\\uDE00x"]',
        b'["x",{"\\uD83D\\u0041":1}]',
    ],
)
def test_bodies_that_are_no_frames(body: bytes) -> None:
    with pytest.raises(MalformedMessage):
        list(FrameReader(LARGEST).receive(len(body).to_bytes(4, "big") + body))


def test_a_frame_is_as_large_as_it_may_be_and_no_larger() -> None:
    reader = FrameReader(100)
    body = b'["' + b"x" * 96 + b'"]'
    assert list(reader.receive(b"\0\0\0\x64" + body)) == [["x" * 96]]
    with pytest.raises(LimitExceeded):
        list(reader.receive(b"\0\0\0\x65"))
    with pytest.raises(LocalProtocolError, match="too large"):
        encode_frame(["x" * LARGEST])


@pytest.mark.parametrize("plain", [None, [], {"a": []}, {"a": {"base64": "&"}}, {"a": {"b": 1}}])
def test_what_is_no_note(plain: object) -> None:
    with pytest.raises(MalformedMessage):
        to_note(plain)
