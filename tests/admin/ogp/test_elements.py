import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.ogp.elements import Numbers91, Numbers94, bit, pull_bits, push_bits
from emu.admin.reader import Reader
from emu.errors import MalformedMessage

NUMBERS = (Numbers91(), Numbers94())
EDGES = [n + d for n in (1, 0x7F, 0xFD, 0xFE, 0xFF, 0x7FFF, 0xFFFE, 0xFFFF) for d in (-1, 0, 1)]
U32 = st.integers(0, 0xFFFFFFFF) | st.sampled_from(EDGES)
I32 = st.integers(-0x80000000, 0x7FFFFFFF) | st.sampled_from([*EDGES, *(-one for one in EDGES)])


def test_bits_are_counted_from_the_lowest_of_each_byte() -> None:
    assert push_bits(0) == b"\0"
    assert push_bits(bit(0, 0) | bit(0, 3)) == b"\x09"
    assert push_bits(bit(1, 0)) == b"\x80\x01"
    assert push_bits(bit(0, 0) | bit(3, 0)) == bytes.fromhex("81808001")


@given(st.integers(0, (1 << 7 * 16) - 1))
def test_a_bit_array_comes_back(bits: int) -> None:
    reader = Reader(push_bits(bits) + b"!")
    assert (pull_bits(reader), reader.rest()) == (bits, b"!")


def test_a_bit_array_without_an_end_is_refused() -> None:
    for data, reason in ((b"\x81", "too short"), (b"\x80" * 4000, "too long")):
        with pytest.raises(MalformedMessage, match=reason):
            pull_bits(Reader(data))


@given(st.sampled_from(NUMBERS), U32)
def test_an_unsigned_number_comes_back(numbers, number: int) -> None:
    assert numbers.pull_uint(Reader(numbers.push_uint(number))) == number


@given(st.sampled_from(NUMBERS), I32)
def test_a_signed_number_comes_back(numbers, number: int) -> None:
    assert numbers.pull_sint(Reader(numbers.push_sint(number))) == number


@pytest.mark.parametrize(
    ("number", "in_91", "in_94"),
    [(0xFD, "fd", "fd"), (0xFE, "fe", "fefe00"), (0xFF, "ffff00", "feff00"),
     (0xFFFE, "fffeff", "fefeff"), (0xFFFF, "ffffffffff0000", "feffff"),
     (1 << 40, "ffffffffffffff", "ffffffffff"), (-5, "00", "00")],
)  # fmt: skip
def test_where_unsigned_numbers_grow(number: int, in_91: str, in_94: str) -> None:
    assert [one.push_uint(number).hex() for one in NUMBERS] == [in_91, in_94]


@pytest.mark.parametrize(
    ("number", "in_91", "in_94"),
    [(-126, "82", "82"), (-127, "81", "8081ff"), (-128, "8080ff", "8080ff"), (127, "7f", "7f"),
     (128, "808000", "808000"), (-32768, "8000800080ffff", "800080"),
     (-(1 << 40), "80008000000080", "8100000080")],
)  # fmt: skip
def test_where_signed_numbers_grow(number: int, in_91: str, in_94: str) -> None:
    assert [one.push_sint(number).hex() for one in NUMBERS] == [in_91, in_94]
