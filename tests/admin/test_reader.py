import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.reader import Reader, clamped, text_bytes
from emu.binary import F32, I8, I16, LITTLE, RecordLayout
from emu.errors import MalformedMessage

RECORD = RecordLayout("Sample", LITTLE, small=I8, number=I16, real=F32)


def test_numbers_are_little_endian() -> None:
    reader = Reader(bytes.fromhex("0102 0304 fe ffff 0000803f 41"))
    assert (reader.unsigned(2), reader.unsigned(2)) == (0x0201, 0x0403)
    assert reader.record(RECORD) == (-2, -1, 1.0)
    assert not reader.is_done
    assert (reader.rest(), reader.is_done) == (b"A", True)


def test_what_is_not_there_is_one_error() -> None:
    for read in (lambda r: r.take(3), lambda r: r.unsigned(4), lambda r: r.record(RECORD)):
        with pytest.raises(MalformedMessage, match="too short"):
            read(Reader(b"ab"))
    with pytest.raises(MalformedMessage, match="without an end"):
        Reader(b"abc").text()


@pytest.mark.parametrize(
    ("text", "wire"),
    [("Zoë", b"Zo\xc3\xab\0"), ("a\0b", b"ab\0"), ("a\nb\tc\x7f", b"a b c \0"), ("\ud800", b"?\0")],
)
def test_texts_are_one_line_of_utf_8(text: str, wire: bytes) -> None:
    assert text_bytes(text) == wire


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_a_text_comes_back(text: str) -> None:
    reader = Reader(text_bytes(text) + b"!")
    assert (reader.text(), reader.rest()) == (text, b"!")


@given(st.binary())
def test_any_bytes_with_a_nul_are_a_text(data: bytes) -> None:
    assert isinstance(Reader(data + b"\0").text(), str)


def test_numbers_that_do_not_fit_are_the_nearest_that_do() -> None:
    assert [clamped(number, 2) for number in (-1, 65536, 258)] == [b"\0\0", b"\xff\xff", b"\2\1"]
