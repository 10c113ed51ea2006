"""Messages between processes: every value comes back, and no bytes do harm."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import LocalProtocolError, MalformedMessage
from emu.processes.messages import LARGEST, decode, encode, printable, to_note, to_plain

VALUES = st.one_of(
    st.text(), st.integers(), st.floats(allow_nan=False), st.booleans(), st.binary(), st.none()
)


@given(st.dictionaries(st.text(), VALUES))
def test_every_note_comes_back(note: dict[str, object]) -> None:
    data = encode(["note", to_plain(note)])  # type: ignore[arg-type]
    assert data.isascii()
    assert b"\0" not in data
    kind, plain = decode(data)
    assert (kind, to_note(plain)) == ("note", note)


def test_numbers_that_are_none_come_back_too() -> None:
    message = decode(encode(["x", {"n": math.nan, "i": math.inf}]))
    assert math.isnan(message[1]["n"])
    assert message[1]["i"] == math.inf


@given(st.binary(max_size=300))
def test_garbage_raises_one_error_and_nothing_else(data: bytes) -> None:
    try:
        assert isinstance(decode(data)[0], str)
    except MalformedMessage:
        return


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{}", b"[]", b"[1]", b'["x"', b"\xff", b"[" * 100_000, b'["x",' + b"9" * 9999 + b"]",
        b'["x","\\ud83d"]', b'["\\uDE00x"]', b'["x",{"\\uD83D\\u0041":1}]',
    ],
)  # fmt: skip
def test_bytes_that_are_no_message(data: bytes) -> None:
    with pytest.raises(MalformedMessage):
        decode(data)


def test_a_message_is_as_large_as_it_may_be_and_no_larger() -> None:
    assert len(encode(["x" * (LARGEST - 4)])) == LARGEST
    with pytest.raises(LocalProtocolError, match="too large"):
        encode(["x" * (LARGEST - 3)])


@pytest.mark.parametrize("plain", [None, [], {"a": []}, {"a": {"base64": "&"}}, {"a": {"b": 1}}])
def test_what_is_no_note(plain: object) -> None:
    with pytest.raises(MalformedMessage):
        to_note(plain)


def test_a_text_of_another_process_is_made_printable() -> None:
    assert printable("a\x1b[31mb\n" + "c" * 300) == "a[31mb" + "c" * 192
