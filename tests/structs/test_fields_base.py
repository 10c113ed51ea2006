from __future__ import annotations

import pytest

from emu.errors import MalformedMessage, StructValueError
from emu.structs.fields import ELEMENT_LIMIT, Context, bad_value, raw_text, shown


def test_a_complaint_names_struct_and_field() -> None:
    with pytest.raises(StructValueError, match=r"^S 546\.name: is wrong$"):
        bad_value("S 546", "name", "is wrong")


def test_values_in_complaints_are_cut() -> None:
    assert shown("abc") == "'abc'"
    assert len(shown("x" * 1000)) == 60


def test_every_byte_has_its_character() -> None:
    text = bytes(range(256)).decode("latin-1")
    assert raw_text("S", "f", text) == bytes(range(256))


@pytest.mark.parametrize("value", [b"bytes", 5, None, "\u0100"])
def test_text_must_be_text_of_bytes(value: object) -> None:
    with pytest.raises(StructValueError, match=r"S\.f"):
        raw_text("S", "f", value)


def test_elements_of_a_message_are_counted_together() -> None:
    context = Context(frozenset())
    context.begin_elements(ELEMENT_LIMIT - 1, "a", 7)
    context.begin_elements(1, "a", 7)
    with pytest.raises(MalformedMessage):
        context.begin_elements(1, "a", 7)
