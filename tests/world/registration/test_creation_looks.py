from __future__ import annotations

import math

import pytest

from emu.model import Color
from emu.world.registration.creation import read_appearance


def test_old_clients_have_colors_in_signed_bytes() -> None:
    looks = read_appearance({"skin_color": [0.5, 1.0, 0.0]}, signed=True)
    assert looks.colors == {"skin_color": Color(125, -6, 0, signed=True)}


def test_newer_clients_have_colors_in_unsigned_bytes() -> None:
    looks = read_appearance({"skin_color": [0.5, 1.0, 0.0]}, signed=False)
    assert looks.colors == {"skin_color": Color(127, 255, 0)}


def test_triples_of_whole_numbers_are_no_colors() -> None:
    assert read_appearance({"unknown": [1, 2, 255]}, signed=False).colors == {}


@pytest.mark.parametrize("signed", [True, False])
def test_sliders_and_sizes_are_hundredths_in_signed_bytes(signed: bool) -> None:
    request = {"eyes2": [0.5, -1.0, 0.25], "soga_chin": [9.0, -9.0, math.nan], "body_size": 0.39}
    looks = read_appearance(request, signed=signed)
    assert looks.colors == {
        "eyes2": Color(50, -100, 25, signed=True),
        "soga_chin": Color(127, -128, 0, signed=True),
    }
    assert looks.appearance == {"body_size": 39}


@pytest.mark.parametrize("strange", [math.inf, -math.inf, math.nan, 1e300, -1e300])
def test_no_float_of_a_client_leaves_a_byte(strange: float) -> None:
    for signed in (True, False):
        color = read_appearance({"pants_color": [strange] * 3}, signed=signed).colors["pants_color"]
        assert -128 <= color.red <= 255


def test_model_files_are_kept_by_field_and_empty_or_other_fields_are_not() -> None:
    request = {"race_file": "ec/pc/human", "wing_file": "", "name": "Aldana", "unknown2": [0] * 26,
               "race": 9}  # fmt: skip
    looks = read_appearance(request, signed=True)
    assert looks.appearance == {"race_file": "ec/pc/human"}
    assert looks.colors == {}


@pytest.mark.parametrize("path", ["\0", "y" * 5000, "a\ud800"])
def test_a_path_that_a_row_cannot_have_is_left_out(path: str) -> None:
    looks = read_appearance({"race_file": path, "hair_file": "hair/elf"}, signed=True)
    assert looks.appearance == {"hair_file": "hair/elf"}
