import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.login.accounts import MAX_NAME, account_name


def test_a_name_is_trimmed_and_composed() -> None:
    assert account_name("  Zoe\u0308 ") == "Zoë"
    assert account_name("Two Words") == "Two Words"


def test_the_longest_name_and_one_byte_more() -> None:
    assert account_name("x" * 31) == "x" * 31
    assert account_name("ö" * 15 + "x") == "ö" * 15 + "x"
    for name in ("x" * 32, "ö" * 16):
        with pytest.raises(ValueError, match="longer than 31 bytes"):
            account_name(name)


@pytest.mark.parametrize("name", ["", "   ", "\u2003"])
def test_an_empty_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="empty"):
        account_name(name)


@pytest.mark.parametrize(
    "name", ["a\0b", "a\nb", "a\x7fb", "a\u200bb", "a\u202eb", "a\ud800b", "a\u2028b", "a\ue000"]
)
def test_what_cannot_be_seen_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be seen"):
        account_name(name)


@given(st.text(max_size=40))
def test_any_text_is_a_clean_name_or_refused(text: str) -> None:
    try:
        name = account_name(text)
    except ValueError:
        return
    assert 1 <= len(name.encode()) <= MAX_NAME
    assert name == name.strip()
    assert unicodedata.is_normalized("NFC", name)
    assert account_name(name) == name
