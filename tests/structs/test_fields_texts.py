from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import MalformedMessage, StructValueError
from emu.structs.fields import Context, FieldCodec, FixedText, Item, Text

BYTES = st.binary(max_size=40)


def encode(codec: FieldCodec, value: Any) -> bytes:
    chunks: list[bytes] = []
    codec.encode({} if value is None else {"f": value}, chunks, (), Context(frozenset()))
    return b"".join(chunks)


def decode(
    codec: FieldCodec, data: bytes, at: int = 0, *, lenient: bool = False
) -> tuple[Any, int]:
    out: dict[str, Any] = {}
    end = codec.decode(data, at, out, (), Context(frozenset(), len(data), lenient=lenient))
    return out["f"], end


@given(prefix=st.sampled_from([1, 2, 4]), raw=BYTES, before=BYTES, behind=BYTES)
def test_any_bytes_make_the_way_and_back(
    prefix: int, raw: bytes, before: bytes, behind: bytes
) -> None:
    codec = Text("S", "f", prefix)
    written = encode(codec, raw.decode("latin-1"))
    assert written == len(raw).to_bytes(prefix, "little") + raw
    value, end = decode(codec, before + written + behind, len(before))
    assert value.encode("latin-1") == raw
    assert end == len(before) + len(written)


@pytest.mark.parametrize("data", [b"", b"\x05", b"\x05\x00abcd", b"\xff\xff"])
def test_a_string_cut_short_is_malformed_or_empty_for_who_is_lenient(data: bytes) -> None:
    codec = Text("S", "f", 2)
    with pytest.raises(MalformedMessage):
        decode(codec, data)
    assert decode(codec, data, lenient=True) == ("", len(data))


def test_a_string_longer_than_its_prefix_can_say_is_refused() -> None:
    assert len(encode(Text("S", "f", 1), "x" * 255)) == 256
    with pytest.raises(StructValueError, match="longer than 255"):
        encode(Text("S", "f", 1), "x" * 256)


def test_missing_text_is_empty() -> None:
    assert encode(Text("S", "f", 4), None) == bytes(4)
    assert encode(FixedText("S", "f", 3), None) == bytes(3)
    assert encode(Item("S", "f"), None) == b""


def test_characters_are_padded_with_zeros_that_reading_leaves_out() -> None:
    codec = FixedText("S", "f", 5)
    assert encode(codec, "abc") == b"abc\0\0"
    assert decode(codec, b"abc\0\0z") == ("abc", 5)
    assert decode(codec, b"a\0b\0\0") == ("a\0b", 5)
    assert decode(codec, b"abcde") == ("abcde", 5)


def test_characters_have_their_limits() -> None:
    codec = FixedText("S", "f", 5)
    with pytest.raises(StructValueError, match="at most 5"):
        encode(codec, "abcdef")
    with pytest.raises(MalformedMessage):
        decode(codec, b"abcd")
    assert decode(codec, b"abcd", lenient=True) == ("abcd", 4)


@given(raw=BYTES)
def test_an_item_is_all_that_is_left(raw: bytes) -> None:
    codec = Item("S", "f")
    assert encode(codec, raw.decode("latin-1")) == raw
    assert decode(codec, b"zz" + raw, 2) == (raw.decode("latin-1"), 2 + len(raw))
