import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.login.names import MAX_NAME, account_name, new_account_name
from tests.support.login.account_bench import Bench


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


@pytest.mark.parametrize(
    ("text", "name"),
    [("Alice", "Alice"), ("\uff21lice", "Alice"), ("Zo\u00eb7", "Zo\u00eb7"),
     ("\u0410\u043d\u043d\u0430", "\u0410\u043d\u043d\u0430"),
     ("\u5c71\u304b\u30ab", "\u5c71\u304b\u30ab")],
)  # fmt: skip
def test_a_new_account_has_the_plain_form_of_its_name(text: str, name: str) -> None:
    assert new_account_name(text) == name


@pytest.mark.parametrize("text", ["\u0410lice", "Bob\u03bf", "\u5c71a"])
def test_a_new_account_has_letters_of_one_script(text: str) -> None:
    with pytest.raises(ValueError, match="one script"):
        new_account_name(text)
    # An account of that name that exists already can still log in.
    assert account_name(text) == text


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Alice\u034f", "one script"),  # combining grapheme joiner: shows nothing
        ("Alice\ufe0f", "one script"),  # variation selector
        ("Alice\U000e0100", "one script"),
        ("Alice\u180b", "one script"),
        ("Ali\u17b4ce", "one script"),
        ("\u1820\u180b", "cannot be seen"),  # the same selector in a Mongolian name
        ("\u1780\u17b4", "cannot be seen"),
        ("\uac00\u3164", "cannot be seen"),  # Hangul filler
        ("al\u0335ice", "one script"),  # a stroke that no letter has
        ("b\u0966b", "one script"),  # the Devanagari zero looks like an o
        ("b\u0665b", "one script"),
        ("b\u3007b", "one script"),
        ("\u0251lice", "usual form"),  # Latin alpha
        ("\u0261ina", "usual form"),
        ("\ua731am", "usual form"),  # small capital S
    ],
)
def test_no_part_of_a_new_name_is_unseen_or_another_form(text: str, fault: str) -> None:
    """Source: the characters' names and categories in Unicode's own tables."""
    with pytest.raises(ValueError, match=fault):
        new_account_name(text)


@pytest.mark.parametrize(
    "name", ["I\u015f\u0131k", "\u00c6gir", "Stra\u00dfe", "N\u01b0\u1edbc", "\u0e19\u0e49\u0e33",
             "\u0939\u093f\u0928\u0967", "\u0645\u064f\u0663"]
)  # fmt: skip
def test_names_of_languages_are_allowed(name: str) -> None:
    assert new_account_name(unicodedata.normalize("NFD", name)) == unicodedata.normalize(
        "NFKC", name
    )


def test_no_account_is_created_that_looks_like_another() -> None:
    bench = Bench(auto_create=True)
    bench.store.put()
    for name in ("\u0410lice", "\uff21lice"):
        assert bench.login(name, b"secret") == "name not allowed"
    assert list(bench.store.accounts) == ["alice"]
    bench.store.put(name="\u0410lice")
    assert bench.login("\u0410lice") == "admitted"


@pytest.mark.parametrize("name", ["gina", "Gina_2.x-y@home", "\u0939\u093f\u0928"])
def test_a_new_name_has_letters_digits_and_some_punctuation(name: str) -> None:
    assert new_account_name(name) == name


@pytest.mark.parametrize("name", ["gi na!", "gi na", "gina!", "a'b", 'a"b', "a/b", "a;b", "$a"])
def test_a_new_name_has_nothing_else(name: str) -> None:
    with pytest.raises(ValueError, match=r"letters, digits and \. _ - @ only"):
        new_account_name(name)
    # An account that has such a name keeps it.
    assert account_name(name) == name
