from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import MalformedMessage, MalformedStruct, StructValueError
from emu.structs.definitions import FieldType, Oversized
from emu.structs.fields import (
    SIZES,
    Context,
    EquipmentItems,
    FieldCodec,
    Fixed,
    MixedRun,
    OversizedInteger,
    PlainRun,
    check_number,
)

PLAIN = PlainRun("S", [Fixed("a", "B"), Fixed("b", "h"), Fixed("c", "f")])
MIXED = MixedRun(
    "S",
    [
        Fixed("one", "B"),
        Fixed("list", "H", 3, listed=True),
        Fixed("color", "B", 3, 3, listed=True),
        Fixed("colors", "B", 6, 3, listed=True),
        Fixed("filled", "H", 2, listed=True, default=0xFFFF),
    ],
)
MIXED_VALUE = {
    "one": 1, "list": [1, 2, 3], "color": [4, 5, 6], "colors": [[1, 2, 3], [4, 5, 6]],
    "filled": [0, 7],
}  # fmt: skip


def encode(codec: FieldCodec, values: Any) -> bytes:
    chunks: list[bytes] = []
    codec.encode(values, chunks, (), Context(frozenset()))
    return b"".join(chunks)


def decode(
    codec: FieldCodec, data: bytes, at: int = 0, *, lenient: bool = False
) -> tuple[Any, int]:
    out: dict[str, Any] = {}
    end = codec.decode(data, at, out, (), Context(frozenset(), len(data), lenient=lenient))
    return out, end


def test_a_run_of_plain_numbers() -> None:
    written = encode(PLAIN, {"a": 7, "b": -2, "c": 1.5})
    assert written == bytes.fromhex("07 feff 0000c03f")
    assert decode(PLAIN, b"zz" + written + b"z", 2) == ({"a": 7, "b": -2, "c": 1.5}, 9)
    assert encode(PLAIN, {}) == bytes(7)


def test_a_run_of_lists_and_colors() -> None:
    written = encode(MIXED, MIXED_VALUE)
    assert written == bytes.fromhex("01 010002000300 040506 010203040506 00000700")
    assert decode(MIXED, written) == (MIXED_VALUE, 20)
    assert encode(MIXED, {key: tuple(v) if isinstance(v, list) else v
                          for key, v in MIXED_VALUE.items()}) == written  # fmt: skip


def test_a_list_that_is_missing_has_its_default() -> None:
    assert encode(MIXED, {}) == bytes(16) + b"\xff" * 4


@pytest.mark.parametrize("run", [PLAIN, MIXED])
def test_a_run_cut_short_is_malformed(run: FieldCodec) -> None:
    whole = encode(run, {})
    for length in range(len(whole)):
        with pytest.raises(MalformedMessage):
            decode(run, whole[:length])


def test_who_is_lenient_reads_zeros_from_the_first_number_that_does_not_fit() -> None:
    short = encode(PLAIN, {"a": 7, "b": 258, "c": 1.5})
    assert decode(PLAIN, short[:6], lenient=True) == ({"a": 7, "b": 258, "c": 0.0}, 6)
    assert decode(PLAIN, short[:2], lenient=True) == ({"a": 7, "b": 0, "c": 0.0}, 2)
    assert decode(PLAIN, b"", lenient=True) == ({"a": 0, "b": 0, "c": 0.0}, 0)
    values, end = decode(MIXED, encode(MIXED, MIXED_VALUE)[:6], lenient=True)
    assert values["list"] == [1, 2, 0]
    assert values["colors"] == [[0, 0, 0], [0, 0, 0]]
    assert end == 6


@pytest.mark.parametrize("letter", ["B", "f"])
def test_a_color_cut_short_is_left_zero(letter: str) -> None:
    colors = MixedRun("S", [Fixed("one", letter, 3, 3, listed=True),
                            Fixed("two", letter, 6, 3, listed=True)])  # fmt: skip
    whole = encode(colors, {"one": [1, 2, 3], "two": [[4, 5, 6], [7, 8, 9]]})
    size = len(whole) // 9
    for length in range(len(whole) + 1):
        values, end = decode(colors, whole[:length], lenient=True)
        there = length // (3 * size)
        assert values["one"] == ([1, 2, 3] if there else [0, 0, 0])
        assert values["two"] == [[4, 5, 6] if there > 1 else [0, 0, 0],
                                 [7, 8, 9] if there > 2 else [0, 0, 0]]  # fmt: skip
        assert end == length


def test_a_run_cut_short_says_where_and_leaves_what_it_read() -> None:
    out: dict[str, Any] = {}
    whole = encode(MIXED, MIXED_VALUE)
    with pytest.raises(MalformedStruct) as caught:
        MIXED.decode(whole[:9], 0, out, (), Context(frozenset(), 9))
    assert (caught.value.field, caught.value.offset) == ("color", 7)
    assert out == {"one": 1, "list": [1, 2, 3]}


@pytest.mark.parametrize(
    ("run", "values", "field"),
    [
        (PLAIN, {"a": 256}, r"S\.a"), (PLAIN, {"a": -1}, r"S\.a"), (PLAIN, {"b": 40000}, r"S\.b"),
        (PLAIN, {"a": "1"}, r"S\.a"), (PLAIN, {"a": 1.5}, r"S\.a"), (PLAIN, {"c": 1e300}, r"S\.c"),
        (PLAIN, {"a": None}, r"S\.a"), (PLAIN, {"a": [1]}, r"S\.a"),
        (MIXED, {"one": [1]}, r"S\.one"), (MIXED, {"list": 5}, r"S\.list"),
        (MIXED, {"list": [1, 2]}, r"S\.list"), (MIXED, {"list": [1, 2, 70000]}, r"S\.list"),
        (MIXED, {"list": "abc"}, r"S\.list"), (MIXED, {"list": [[1], 2, 3]}, r"S\.list"),
        (MIXED, {"color": [1, 2, 3, 4]}, r"S\.color"), (MIXED, {"colors": [1, 2]}, r"S\.colors"),
        (MIXED, {"colors": [[1, 2, 3]]}, r"S\.colors"),
        (MIXED, {"colors": [[1, 2], [1, 2, 3, 4]]}, r"S\.colors"),
        (MIXED, {"filled": {"a": 1}}, r"S\.filled"),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_refused_by_name(
    run: FieldCodec, values: Any, field: str
) -> None:
    with pytest.raises(StructValueError, match=field):
        encode(run, values)


@given(data=st.data(), letter=st.sampled_from(sorted(SIZES)))
def test_all_numbers_of_a_type_make_the_way_and_back(data: st.DataObject, letter: str) -> None:
    raw = data.draw(st.binary(min_size=SIZES[letter], max_size=SIZES[letter]))
    run = PlainRun("S", [Fixed("n", letter)])
    values, _ = decode(run, raw)
    again = encode(run, values)
    if values["n"] == values["n"]:  # a NaN may change its payload
        assert again == raw
    check_number("S", "n", letter, values["n"])


def test_equipment_is_a_model_and_two_colors() -> None:
    one, two = EquipmentItems("S", "e", 1), EquipmentItems("S", "e", 2)
    item = {"type": 258, "color": [1, 2, 3], "highlight": [4, 5, 6]}
    raw = bytes.fromhex("0201 010203 040506")
    assert encode(one, {"e": item}) == raw
    assert decode(one, raw) == ({"e": item}, 8)
    assert encode(two, {"e": [item, {"type": 1}]}) == raw + bytes.fromhex("0100 000000 000000")
    assert decode(two, raw + raw) == ({"e": [item, item]}, 16)
    assert encode(two, {}) == bytes(16)


@pytest.mark.parametrize(
    "value",
    [5, "item", [], [{}], {"type": -1}, {"type": 1, "color": [1, 2]}, {"color": [1, 2, 256]},
     {"colour": [1, 2, 3]}, {"type": 1, "color": [1, 2, 3], "highlight": [1, 2, 3], "x": 1},
     {"color": "red"}, {"color": [1, 2, 3, 4], "highlight": [1, 2]}],
)  # fmt: skip
def test_what_is_no_equipment_is_refused(value: Any) -> None:
    with pytest.raises(StructValueError, match=r"S\.e"):
        encode(EquipmentItems("S", "e", 1), {"e": value})
    with pytest.raises(StructValueError, match=r"S\.e"):
        encode(EquipmentItems("S", "e", 2), {"e": value})


def test_equipment_cut_short() -> None:
    codec = EquipmentItems("S", "e", 2)
    with pytest.raises(MalformedMessage):
        decode(codec, bytes(15))
    values, end = decode(codec, b"\x02\x01\x09", lenient=True)
    nothing = {"type": 0, "color": [0, 0, 0], "highlight": [0, 0, 0]}
    assert values["e"] == [nothing, nothing]
    assert end == 3
    values, end = decode(codec, bytes.fromhex("0201 090807 060504 0302"), lenient=True)
    first = {"type": 258, "color": [9, 8, 7], "highlight": [6, 5, 4]}
    assert values["e"] == [first, nothing]
    assert end == 10


OVERSIZED_FORMS = [
    # docs/protocol/structs.md#oversized: threshold, marker, value, bytes
    (FieldType.INT16, 255, 255, 0, "00"), (FieldType.INT16, 255, 255, 254, "fe"),
    (FieldType.INT16, 255, 255, 255, "ffff00"), (FieldType.INT16, 255, 255, 65535, "ffffff"),
    (FieldType.INT16, 100, 200, 99, "63"), (FieldType.INT16, 100, 200, 100, "c86400"),
    (FieldType.INT16, 255, 9, 9, "090900"),
    (FieldType.SINT16, 127, 127, -126, "82"), (FieldType.SINT16, 127, 127, 126, "7e"),
    (FieldType.SINT16, 127, 127, 127, "7f7f00"), (FieldType.SINT16, 127, 127, -127, "7f81ff"),
    (FieldType.SINT16, 255, 255, -1, "ffffff"), (FieldType.SINT16, 255, 255, 200, "ffc800"),
    (FieldType.INT32, 255, 255, 254, "fe00"), (FieldType.INT32, 255, 255, 255, "ffff000000"),
    (FieldType.INT32, 255, 255, 0x01020304, "ff04030201"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "threshold", "marker", "value", "wire"), OVERSIZED_FORMS)
def test_oversized_integers_are_short_below_their_threshold(
    kind: FieldType, threshold: int, marker: int, value: int, wire: str
) -> None:
    codec = OversizedInteger("S", "n", kind, Oversized(threshold, marker))
    assert encode(codec, {"n": value}) == bytes.fromhex(wire)
    assert decode(codec, bytes.fromhex(wire)) == ({"n": value}, len(bytes.fromhex(wire)))


RANGES = {FieldType.INT16: (0, 65535), FieldType.SINT16: (-32768, 32767),
          FieldType.INT32: (0, 2**32 - 1)}  # fmt: skip


@given(
    data=st.data(),
    kind=st.sampled_from(sorted(RANGES, key=lambda kind: kind.value)),
    threshold=st.integers(1, 255),
    marker=st.integers(0, 255),
)
def test_oversized_integers_read_back_whatever_threshold_and_marker(
    data: st.DataObject, kind: FieldType, threshold: int, marker: int
) -> None:
    low, high = RANGES[kind]
    value = data.draw(st.integers(low, high) | st.integers(max(low, -260), 260))
    codec = OversizedInteger("S", "n", kind, Oversized(threshold, marker))
    written = encode(codec, {"n": value})
    assert decode(codec, written) == ({"n": value}, len(written))


@pytest.mark.parametrize("value", [-1, 65536, "5", None, 1.5, [1]])
def test_an_oversized_integer_must_fit(value: Any) -> None:
    codec = OversizedInteger("S", "n", FieldType.INT16, Oversized(255, 255))
    with pytest.raises(StructValueError, match=r"S\.n"):
        encode(codec, {"n": value})


@pytest.mark.parametrize("wire", ["", "ff", "ff01"])
def test_an_oversized_integer_cut_short(wire: str) -> None:
    codec = OversizedInteger("S", "n", FieldType.INT16, Oversized(255, 255))
    with pytest.raises(MalformedMessage):
        decode(codec, bytes.fromhex(wire))
    assert decode(codec, bytes.fromhex(wire), lenient=True) == ({"n": 0}, len(wire) // 2)


def test_sizes_are_those_of_the_letters() -> None:
    assert all(SIZES[letter] == struct.calcsize("<" + letter) for letter in SIZES)


# docs/protocol/structs.md#oversized: with ShortByte, one signed byte or the marker and 4 bytes.
@pytest.mark.parametrize(
    ("kind", "value", "wire"),
    [
        (FieldType.SINT32, 3, "03"), (FieldType.SINT32, -126, "82"),
        (FieldType.SINT32, 127, "7f 7f000000"), (FieldType.SINT32, -127, "7f 81ffffff"),
        (FieldType.FLOAT, 3, "03"), (FieldType.FLOAT, 1.5, "7f 0000c03f"),
        (FieldType.FLOAT, 200.0, "7f 00004843"),
    ],
)  # fmt: skip
def test_numbers_of_four_bytes_may_have_a_short_byte(
    kind: FieldType, value: float, wire: str
) -> None:
    codec = OversizedInteger("S", "n", kind, Oversized(127, 127, any_type=True))
    chunks: list[bytes] = []
    codec.encode({"n": value}, chunks, (), Context(frozenset()))
    data = b"".join(chunks)
    assert data == bytes.fromhex(wire)
    out: dict[str, Any] = {}
    assert codec.decode(data, 0, out, (), Context(frozenset(), len(data))) == len(data)
    assert out == {"n": value}
