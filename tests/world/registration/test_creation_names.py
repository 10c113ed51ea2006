from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.world.registration.creation import NameRules

RULES = NameRules(["bad", "Qeynos", ""])


@pytest.mark.parametrize("name", ["Aldana", "abcd", "ABCDEFGHIJKLMNO"])
def test_names_that_may_be_used(name: str) -> None:
    assert RULES.reason_against(name) is None


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("", 10),
        ("abc", 10),
        ("ABCDEFGHIJKLMNOP", 10),
        ("Ald4na", 11),
        ("Al dana", 11),
        ("Ald\xe4na", 11),
        ("Aldana\0", 11),
        ("Aldan\u0251", 11),
        ("Sinbad", 12),
        ("QEYNOSian", 12),
        ("b4d", 10),
        ("bad!", 11),
    ],
)
def test_names_that_may_not_and_why(name: str, code: int) -> None:
    assert RULES.reason_against(name) == code


@given(st.text(max_size=20))
def test_only_four_to_fifteen_letters_pass(name: str) -> None:
    letters = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    good = 4 <= len(name) <= 15 and set(name) <= letters
    assert (NameRules().reason_against(name) is None) == good
