"""Colors and sliders in both families' coding (docs/protocol/characters.md#looks)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.appearance import slider
from emu.login.character_list import (
    color_bytes,
    color_row,
    color_row_of_bytes,
    signed_triple,
    slider_row,
)
from emu.model import Color

any_float = st.floats(width=32)
unit = st.floats(0, 1)


def test_old_clients_colors_wrap_to_negative_above_half() -> None:
    assert color_row((0.5, 0.508, 1.0), signed=True) == Color(125, 127, -6, signed=True)
    assert color_row((0.0, 0.52, 0.999), signed=True) == Color(0, -126, -7, signed=True)


def test_new_clients_colors_are_truncated_bytes() -> None:
    assert color_row((0.5, 0.999, 1.0), signed=False) == Color(127, 254, 255)


def test_sliders_are_hundredths() -> None:
    assert slider_row((-0.5, 0.999, 1.0)) == Color(-50, 99, 100, signed=True)
    assert slider(-0.019) == -1


def test_each_family_gets_its_own_bytes_back() -> None:
    old = color_row((0.1, 0.6, 1.0), signed=True)
    assert color_bytes(old, old_family=True) == (25, 150, 250)
    assert signed_triple((25, 150, 250)) == [25, -106, -6]
    assert color_bytes(Color(1, 2, 255), old_family=False) == (1, 2, 255)


def test_a_row_of_bytes_is_held_within_a_byte() -> None:
    assert color_row_of_bytes((-1, 255, 300)) == Color(0, 255, 255)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 1e30, -1e30])
def test_impossible_floats_stay_in_range(value: float) -> None:
    for signed in (True, False):
        row = color_row((value, value, value), signed=signed)
        assert color_bytes(row, old_family=signed)[0] in {0, 255}
    assert -128 <= slider(value) <= 127


@given(unit, unit, unit)
def test_the_other_family_sees_the_same_color_within_one_step(r: float, g: float, b: float) -> None:
    for signed in (True, False):
        row = color_row((r, g, b), signed=signed)
        seen = color_bytes(row, old_family=not signed)
        wanted = 255 if signed else 250
        assert all(
            abs(part - value * wanted) <= 2 for part, value in zip(seen, (r, g, b), strict=True)
        )


@given(any_float, any_float, any_float)
def test_any_floats_give_bytes(r: float, g: float, b: float) -> None:
    for signed in (True, False):
        for old_family in (True, False):
            seen = color_bytes(color_row((r, g, b), signed=signed), old_family=old_family)
            assert all(0 <= part <= 255 for part in seen)
            assert all(-128 <= part <= 127 for part in signed_triple(seen))
    assert all(-128 <= part <= 127 for part in (slider_row((r, g, b)).red, slider(g)))
