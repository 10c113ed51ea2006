"""The numbers that windows of merchants and trades send."""

from __future__ import annotations

import pytest

from emu.commands import Call, Caller
from emu.world.commands.trade import numbers_of


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ("910005 1", [910005, 1]),
        ("910005", [910005, -1]),
        ("", [-1, -1]),
        ("910005 1 7", [910005, 1]),
        ("x \u0662", [-1, -1]),
        ("-7 99999999999999999999", [-7, 99999999999999999999]),
        ("1 999999999999999999999", [1, -1]),
        ("1e3 --5", [-1, -1]),
    ],
)
def test_what_is_no_number_is_below_0(words: str, numbers: list[int]) -> None:
    call = Call(Caller("Borvik", 0, "game"), {"words": words}, 0.0)
    assert numbers_of(call, 2) == numbers
