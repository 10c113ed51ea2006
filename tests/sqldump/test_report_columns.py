from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.sqldump.report import first, fraction, moment, number, text, visible

VALUES = st.one_of(st.none(), st.integers(), st.floats(), st.text(), st.binary())


@pytest.mark.parametrize(
    ("value", "seconds"),
    [(None, 0.0), (1_000_000_000, 1e9), ("1000000000", 1e9), ("2001-09-09 01:46:40", 1e9),
     ("0000-00-00 00:00:00", 0.0), ("yesterday", 0.0), (-5, 0.0)],
)  # fmt: skip
def test_moments(value: object, seconds: float) -> None:
    assert moment({"at": value}, "at") == seconds


def test_texts_and_numbers() -> None:
    columns = {"name": b"Zo\xc3\xab", "empty": None, "level": "12"}
    assert text(columns, "name") == visible(columns, "name", 4) == "Zoë"
    assert text(columns, "empty") == text(columns, "missing") == ""
    assert first(columns, "missing", "name") == "Zoë"
    assert number(columns, "level") == 12
    assert number(columns, "missing", 7) == 7
    assert fraction(columns, "level") == 12.0
    with pytest.raises(ValueError, match="too long"):
        visible(columns, "name", 3)
    with pytest.raises(ValueError, match="out of range: 12"):
        number(columns, "level", most=11)


@given(VALUES)
def test_whatever_a_dump_holds_is_read_or_refused(value: object) -> None:
    columns = {"it": value}
    text(columns, "it")
    for read in (number, fraction):
        with suppress(ValueError):
            read(columns, "it")
