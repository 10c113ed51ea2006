from __future__ import annotations

from typing import Any

import pytest

from emu.errors import MalformedMessage, StructValueError
from emu.structs.fields import Context, FieldCodec, Fixed, PlainRun, Text
from emu.structs.layout import Conditional, RepeatedCodec, TwoTypes


def encode(part: FieldCodec, values: dict[str, Any], *flags: str) -> bytes:
    parts: list[bytes] = []
    part.encode(values, parts, (), Context(frozenset(flags)))
    return b"".join(parts)


def decode(part: FieldCodec, raw: bytes, *flags: str, **before: Any) -> tuple[dict[str, Any], int]:
    end = part.decode(raw, 0, before, (), Context(frozenset(flags), len(raw)))
    return before, end


def test_a_conditional_part_is_there_both_ways_or_not_at_all() -> None:
    part = Conditional(
        "S", "n", PlainRun("S", [Fixed("n", "B")]), lambda _here, _scopes, flags: "on" in flags
    )
    assert encode(part, {"n": 5}, "on") == b"\x05"
    assert encode(part, {"n": 5}) == b""
    assert decode(part, b"\x05", "on") == ({"n": 5}, 1)
    assert decode(part, b"\x05") == ({}, 0)


@pytest.mark.parametrize(("kind", "wire"), [(6, "07"), (7, "07"), (1, "0700"), (None, "0700")])
def test_the_second_type_stands_unless_the_statistic_is_6_or_7(kind: int | None, wire: str) -> None:
    part = TwoTypes(
        PlainRun("S", [Fixed("n", "B")]),
        PlainRun("S", [Fixed("n", "H")]),
        lambda here, _scopes: here.get("stat_type"),
    )
    raw = bytes.fromhex(wire)
    assert encode(part, {"stat_type": kind, "n": 7}) == raw
    assert decode(part, raw, stat_type=kind) == ({"stat_type": kind, "n": 7}, len(raw))


def test_a_repeated_part_is_a_list() -> None:
    part = RepeatedCodec("S", "t", Text("S", "t", 1), 3, "")
    raw = b"\x01a\x00\x02bc"
    assert encode(part, {"t": ["a", "", "bc"]}) == raw
    assert decode(part, raw) == ({"t": ["a", "", "bc"]}, 6)
    assert encode(part, {}) == bytes(3)


@pytest.mark.parametrize("value", ["abc", ["a"], ["a"] * 4, 5, [1, 2, 3]])
def test_a_repeated_part_wants_just_that_many(value: Any) -> None:
    with pytest.raises(StructValueError, match=r"S\.t"):
        encode(RepeatedCodec("S", "t", Text("S", "t", 1), 3, ""), {"t": value})


def test_a_repeated_part_cut_short() -> None:
    with pytest.raises(MalformedMessage):
        decode(RepeatedCodec("S", "t", Text("S", "t", 1), 3, ""), b"\x01a\x00")
