from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Annotated

import pytest

from emu.binary import (
    BIG,
    F32,
    I16,
    LITTLE,
    U8,
    U16,
    BytesField,
    RecordLayout,
    TextField,
    layout_of,
    text_bytes,
    zero_ended,
)
from emu.errors import MalformedMessage, StructValueError


class Values:
    def __init__(self, number: object, text: str) -> None:
        self.number = number
        self.text = text


LAYOUT = RecordLayout("Sample", LITTLE, number=U16, text=TextField(4))


def test_one_list_of_fields_serves_both_directions() -> None:
    assert LAYOUT.size == 6
    assert LAYOUT.pack_from(Values(0x1234, "ab")) == b"\x34\x12ab\0\0"
    assert list(LAYOUT.unpack_whole(b"\x34\x12ab\0x")) == [0x1234, "ab"]


@pytest.mark.parametrize("values", [Values(65536, ""), Values(-1, ""), Values("x", "")])
def test_numbers_that_do_not_fit_name_the_message(values: Values) -> None:
    with pytest.raises(StructValueError, match=r"^Sample: "):
        LAYOUT.pack_from(values)


def test_text_keeps_space_for_its_zero_byte() -> None:
    assert LAYOUT.pack_from(Values(0, "abc")) == b"\0\0abc\0"
    with pytest.raises(StructValueError, match=r"Sample\.text: 4 bytes do not fit"):
        LAYOUT.pack_from(Values(0, "abcd"))
    with pytest.raises(StructValueError, match=r"Sample\.text: no text"):
        LAYOUT.pack_from(Values(0, "\ud800"))


@pytest.mark.parametrize("size", [0, 5, 7])
def test_any_other_size_is_refused(size: int) -> None:
    with pytest.raises(MalformedMessage, match="wrong size of Sample"):
        LAYOUT.unpack_whole(bytes(size))


@pytest.mark.parametrize("text", ["", "Norrath", "Ælfrīc", "\u20ac"])
def test_text_is_utf_8(text: str) -> None:
    assert text_bytes(text, 255, "x") == text.encode()
    assert zero_ended(text.encode() + b"\0rest") == text


def test_bytes_that_are_no_utf_8_are_latin_1() -> None:
    assert zero_ended("Ælfric".encode("latin-1")) == "Ælfric"


def test_numbers_become_the_nearest_that_fits() -> None:
    layout = RecordLayout("Sample", BIG, small=U8, signed=I16, real=F32)
    assert layout.pack_nearest(256, -40_000, 1.5) == struct.pack(">Bhf", 255, -(1 << 15), 1.5)
    assert layout.pack_nearest(-1, 40_000, 1.5) == struct.pack(">Bhf", 0, (1 << 15) - 1, 1.5)


def test_bytes_are_filled_up_and_never_cut() -> None:
    layout = RecordLayout("Sample", LITTLE, data=BytesField(3))
    assert layout.pack(b"ab") == b"ab\0"
    assert layout.unpack(b"xabc", 1) == [b"abc"]
    with pytest.raises(StructValueError, match=r"^Sample\.data: 4 bytes do not fit, 3 do$"):
        layout.pack(b"abcd")


def test_a_record_that_is_cut_off_is_malformed() -> None:
    with pytest.raises(MalformedMessage, match="wrong size of Sample"):
        LAYOUT.unpack(bytes(8), 3)


@dataclass
class Declared:
    first: U8
    name: Annotated[str, TextField(3)]
    note: str = "no field"


def test_a_class_declares_its_layout_at_its_fields() -> None:
    layout = layout_of(Declared, "Declared", LITTLE)
    assert layout.names == ("first", "name")
    assert layout.pack_from(Declared(1, "ab")) == b"\1ab\0"


def test_a_field_needs_a_type_of_a_record() -> None:
    with pytest.raises(TypeError, match="is not a type of a record's field"):
        RecordLayout("Sample", LITTLE, number="H")
