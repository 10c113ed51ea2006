"""Codes of an appearance (docs/protocol/characters.md#looks)."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.appearance import SLIDER_FIELDS, color_components, signed_byte, slider


@pytest.mark.parametrize(
    ("value", "signed", "expected"),
    [(0.5, True, 125), (0.508, True, 127), (0.512, True, -128), (1.0, True, -6),
     (0.78, True, 195 - 256), (195 / 250, True, 195 - 256), (0.2, True, 50),
     (0.5, False, 127), (1.0, False, 255), (0.0, False, 0)],
)  # fmt: skip
def test_colors_are_coded_as_each_family_of_clients_expects(
    value: float, signed: bool, expected: int
) -> None:
    assert color_components([value] * 3, signed=signed) == (expected,) * 3


def test_sliders_are_hundredths_cut_towards_zero() -> None:
    assert [slider(value) for value in (0.1, -0.999, 1.27, 5.0, -5.0)] == [10, -99, 127, 127, -128]


def single(value: float) -> float:
    """What a float of 32 bits makes of a value."""
    (rounded,) = struct.unpack("<f", struct.pack("<f", value))
    return float(rounded)


@pytest.mark.parametrize(("signed", "most"), [(True, 250), (False, 255)])
def test_every_color_of_a_client_comes_back_whole(signed: bool, most: int) -> None:
    for number in range(most + 1):
        value = single(number / most)
        assert color_components([value] * 3, signed=signed)[0] & 0xFF == number


def test_a_product_is_rounded_to_32_bits_before_it_is_cut() -> None:
    assert [slider(value) for value in (0.53, single(0.57), single(0.07))] == [53, 57, 7]
    assert slider(single(0.53)) == 52, "52.999996 in 32 bits"


def test_signed_bytes() -> None:
    assert [signed_byte(byte) for byte in (0, 127, 128, 255)] == [0, 127, -128, -1]


@given(st.floats(), st.booleans())
def test_any_float_of_a_client_fits_its_byte(value: float, signed: bool) -> None:
    low, high = (-128, 127) if signed else (0, 255)
    assert all(low <= part <= high for part in color_components([value] * 3, signed=signed))
    assert -128 <= slider(value) <= 127
    if math.isnan(value):
        assert slider(value) == 0


def test_every_slider_of_the_request_has_a_field_and_its_alternate() -> None:
    assert SLIDER_FIELDS["eyes2"] == "eye_type"
    assert SLIDER_FIELDS["soga_nose"] == "soga_nose_type"
    assert len(set(SLIDER_FIELDS.values())) == 14
