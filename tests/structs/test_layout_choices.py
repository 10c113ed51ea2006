from __future__ import annotations

from typing import Any

import pytest

from emu.errors import MalformedMessage, StructValueError
from emu.structs.fields import Context, FieldCodec, Fixed, PlainRun, Text
from emu.structs.layout import Conditional, RepeatedCodec, TwoTypes


def encode(codec: FieldCodec, values: dict[str, Any], *flags: str) -> bytes:
    chunks: list[bytes] = []
    codec.encode(values, chunks, (), Context(frozenset(flags)))
    return b"".join(chunks)


def decode(codec: FieldCodec, raw: bytes, *flags: str, **before: Any) -> tuple[dict[str, Any], int]:
    end = codec.decode(raw, 0, before, (), Context(frozenset(flags), len(raw)))
    return before, end


def test_a_conditional_part_is_there_both_ways_or_not_at_all() -> None:
    codec = Conditional(
        "S", "n", PlainRun("S", [Fixed("n", "B")]), lambda _here, _scopes, flags: "on" in flags
    )
    assert encode(codec, {"n": 5}, "on") == b"\x05"
    assert encode(codec, {"n": 5}) == b""
    assert decode(codec, b"\x05", "on") == ({"n": 5}, 1)
    assert decode(codec, b"\x05") == ({}, 0)


@pytest.mark.parametrize(("kind", "wire"), [(6, "07"), (7, "07"), (1, "0700"), (None, "0700")])
def test_the_second_type_stands_unless_the_statistic_is_6_or_7(kind: int | None, wire: str) -> None:
    codec = TwoTypes(
        PlainRun("S", [Fixed("n", "B")]),
        PlainRun("S", [Fixed("n", "H")]),
        lambda here, _scopes: here.get("stat_type"),
    )
    raw = bytes.fromhex(wire)
    assert encode(codec, {"stat_type": kind, "n": 7}) == raw
    assert decode(codec, raw, stat_type=kind) == ({"stat_type": kind, "n": 7}, len(raw))


def test_a_repeated_part_is_a_list() -> None:
    codec = RepeatedCodec("S", "t", Text("S", "t", 1), 3, "")
    raw = b"\x01a\x00\x02bc"
    assert encode(codec, {"t": ["a", "", "bc"]}) == raw
    assert decode(codec, raw) == ({"t": ["a", "", "bc"]}, 6)
    assert encode(codec, {}) == bytes(3)


@pytest.mark.parametrize("value", ["abc", ["a"], ["a"] * 4, 5, [1, 2, 3]])
def test_a_repeated_part_wants_just_that_many(value: Any) -> None:
    with pytest.raises(StructValueError, match=r"S\.t"):
        encode(RepeatedCodec("S", "t", Text("S", "t", 1), 3, ""), {"t": value})


def test_a_repeated_part_cut_short() -> None:
    with pytest.raises(MalformedMessage):
        decode(RepeatedCodec("S", "t", Text("S", "t", 1), 3, ""), b"\x01a\x00")
