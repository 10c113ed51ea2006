from __future__ import annotations

import struct

import pytest

from emu.errors import MalformedMessage, StructValueError
from emu.link.codec import FixedLayout, from_bytes, to_bytes
from emu.link.messages import LSStatus


class Values:
    def __init__(self, number: object, text: str) -> None:
        self.number = number
        self.text = text


LAYOUT = FixedLayout("Sample", number="H", text="4s")


def test_one_list_of_fields_serves_both_directions() -> None:
    assert LAYOUT.size == 6
    assert LAYOUT.encode(Values(0x1234, "ab")) == b"\x34\x12ab\0\0"
    assert list(LAYOUT.decode(b"\x34\x12ab\0x")) == [0x1234, "ab"]


@pytest.mark.parametrize("values", [Values(65536, ""), Values(-1, ""), Values("x", "")])
def test_numbers_that_do_not_fit_name_the_message(values: Values) -> None:
    with pytest.raises(StructValueError, match=r"^Sample: "):
        LAYOUT.encode(values)


def test_text_keeps_room_for_its_zero_byte() -> None:
    assert LAYOUT.encode(Values(0, "abc")) == b"\0\0abc\0"
    with pytest.raises(StructValueError, match=r"Sample\.text: 4 bytes do not fit"):
        LAYOUT.encode(Values(0, "abcd"))
    with pytest.raises(StructValueError, match=r"Sample\.text: no text"):
        LAYOUT.encode(Values(0, "\ud800"))


@pytest.mark.parametrize("size", [0, 5, 7])
def test_any_other_size_is_refused(size: int) -> None:
    with pytest.raises(MalformedMessage, match="wrong size of Sample"):
        LAYOUT.decode(bytes(size))


@pytest.mark.parametrize("text", ["", "Norrath", "Ælfrīc", "\u20ac"])
def test_text_is_utf_8(text: str) -> None:
    assert to_bytes(text, 255, "x") == text.encode()
    assert from_bytes(text.encode() + b"\0rest") == text


def test_bytes_that_are_no_utf_8_are_latin_1() -> None:
    assert from_bytes("Ælfric".encode("latin-1")) == "Ælfric"


def test_a_message_s_fields_are_its_layout_in_the_order_they_are_stated() -> None:
    assert LSStatus.LAYOUT.size == 13
    assert LSStatus(-2, 5, zones=3, max_level=90).encode() == struct.pack("<iiiB", -2, 5, 3, 90)
    assert LSStatus.decode(struct.pack("<iiiB", 1, 2, 3, 4)) == LSStatus(1, 2, 3, 4)
    with pytest.raises(StructValueError, match=r"^LSStatus: "):
        LSStatus(2**31).encode()
