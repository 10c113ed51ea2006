"""The table of channel numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.dialects.dialect import ChannelNumbers, Older, read_numbers
from emu.errors import FileFormatError


def test_a_number_in_no_step_becomes_the_other() -> None:
    numbers = ChannelNumbers({"odd": 44}, [Older(374, 561, [[0, 43, -1]], 2)])
    assert numbers.number("odd", 546) == 2
    assert numbers.number("odd", 562) == 44
    with pytest.raises(KeyError):
        numbers.number("even", 546)


@pytest.mark.parametrize("text", ["", "x = 1", "[channels]\n[colors]\n[[older]]\nx = 1", "="])
def test_a_damaged_table_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "chat.toml"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=r"chat\.toml"):
        read_numbers(path)


@pytest.mark.parametrize(
    ("version", "number", "name"), [(546, 26, "tell"), (1208, 28, "tell"), (546, 250, "250")]
)
def test_a_number_is_called_by_its_name(version: int, number: int, name: str) -> None:
    assert read_numbers().name(number, version) == name
