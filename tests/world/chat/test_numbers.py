"""The table of channel numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.errors import FileFormatError
from emu.world.chat.numbers import ChannelNumbers, Older, read_numbers


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
