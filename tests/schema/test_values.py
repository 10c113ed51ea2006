from enum import StrEnum

import pytest

from emu.schema import (
    Boolean,
    DecimalNumber,
    EnumMember,
    Form,
    ItemsForm,
    OrNone,
    PlaceholderText,
    TextBytes,
    TextLine,
    WholeNumber,
    Words,
    limits_of,
)


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


@pytest.mark.parametrize("value", [True, "on", "Yes", "TRUE"])
def test_true(value: object) -> None:
    assert Boolean(from_text=True)(value) is True


@pytest.mark.parametrize("value", [1, 0, "2", None, "truth"])
def test_what_is_no_boolean(value: object) -> None:
    with pytest.raises(ValueError, match="true or false"):
        Boolean(from_text=True)(value)


def test_numbers_are_accepted_at_their_limits_and_not_beyond() -> None:
    read = WholeNumber(1, 5, from_text=True)
    assert [read(1), read("0x5")] == [1, 5]
    for wrong in (0, 6, True, 1.5, "six", None):
        with pytest.raises(ValueError, match="from 1 to 5"):
            read(wrong)
    assert DecimalNumber(0, 1, from_text=True)("0.5") == 0.5
    for wrong in (2, "nan", True, "x", None):
        with pytest.raises(ValueError, match="from 0 to 1"):
            DecimalNumber(0, 1, from_text=True)(wrong)


@pytest.mark.parametrize("value", [10**400, -(10**400), 1e39, float("nan"), True, "1"])
def test_a_number_that_clients_cannot_be_sent_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="must be a number"):
        DecimalNumber()(value)


@pytest.mark.parametrize(
    "reader", [Boolean(), WholeNumber(0, 5), DecimalNumber(0, 5), ItemsForm(WholeNumber(0, 5))]
)
def test_text_stands_for_a_value_only_where_that_is_said(reader) -> None:
    with pytest.raises(ValueError, match="must be"):
        reader("1")


def test_text_is_one_line_of_bounded_length() -> None:
    read = TextLine(2, 4)
    assert read("abcd") == "abcd"
    for wrong in ("a", "abcde", "a\nb", 12):
        with pytest.raises(ValueError, match="2 to 4"):
            read(wrong)
    assert TextBytes(4)("a\nbc") == "a\nbc"
    with pytest.raises(ValueError, match="up to 4 bytes"):
        TextBytes(4)("\N{LATIN SMALL LETTER E WITH ACUTE}" * 3)


def test_words_and_members_of_an_enum() -> None:
    assert Words(("a", "b"))("b") == "b"
    assert EnumMember(Size)("large") is Size.LARGE
    for reader in (Words(("a", "b")), EnumMember(Size)):
        with pytest.raises(ValueError, match='must be one of "'):
            reader("c")


def test_lists_and_what_may_be_left_out() -> None:
    read = ItemsForm(WholeNumber(0, 9, from_text=True), 3, from_text=True)
    assert (read("1, 2"), read(""), read([3])) == ((1, 2), (), (3,))
    with pytest.raises(ValueError, match="at most 3"):
        read([1, 2, 3, 4])
    with pytest.raises(ValueError, match="must be a list"):
        read(5)
    assert OrNone(WholeNumber(0, 9))("") is None
    assert OrNone(WholeNumber(0, 9))(4) == 4


def test_every_reader_states_its_limits() -> None:
    assert limits_of(ItemsForm(TextLine(1, 5), 3)) == "at most 3 items, each 1 to 5 characters"
    assert limits_of(OrNone(Form(str, "host:port"))) == "host:port, or empty"
    assert limits_of(EnumMember(Size)) == '"small", "large"'
    assert (limits_of(DecimalNumber()), limits_of(DecimalNumber(0, 0.5)), limits_of(str)) == (
        "",
        "0 to 0.5",
        "",
    )


def test_a_text_has_only_the_placeholders_that_are_known() -> None:
    read = PlaceholderText(TextBytes(25), ("name", "zone"))
    assert read("Hi {name} {} {not one") == "Hi {name} {} {not one"
    assert read.limits == "up to 25 bytes, with {name}, {zone}"
    with pytest.raises(ValueError, match=r"unknown placeholder \{nam\}; did you mean name\?"):
        read("Hi {nam}")
    with pytest.raises(ValueError, match="up to 25 bytes"):
        read("Hi {name}" * 3)
