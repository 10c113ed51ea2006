import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.ssq.query import NOTHING, NULL_HEADER, pull_rows, push_cell, push_row, push_rows
from emu.errors import MalformedMessage

CELLS = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)))
ROWS = st.lists(st.lists(CELLS, max_size=5), max_size=5)


@given(ROWS)
def test_rows_are_read_as_they_were_written(rows: list[list[str]]) -> None:
    assert pull_rows(push_rows(rows)) == rows


@given(st.lists(st.text(st.sampled_from("\\\n\0nab"))))
def test_a_line_feed_stands_at_the_end_of_rows_only(row: list[str]) -> None:
    written = push_row(row)
    assert written.count(b"\n") == 1
    assert pull_rows(written) == [[cell.replace("\0", "") for cell in row]]


def test_cells() -> None:
    assert push_cell("a\nb") == rb"a\nb" + b"\0"
    assert push_cell("c:\\eq2") == rb"c:\\eq2" + b"\0"
    assert push_cell(-3) == b"-3\0"
    assert push_cell("\ud800") == b"?\0"


def test_what_others_write_is_read() -> None:
    assert pull_rows(b"a\\\nb\0\n\0") == [["a\nb"]]
    assert pull_rows(b"\xff\0\n\0") == [["\ufffd"]]
    assert pull_rows(b"a\\\0\n\0") == [["a\\"]]
    assert pull_rows(NOTHING) == [[]]
    assert pull_rows(NULL_HEADER) == [[""]]
    assert pull_rows(b"") == []


@pytest.mark.parametrize("body", [b"a", b"a\0", b"a\0\n", b"a\0\n\0b\0"])
def test_half_a_table_is_refused(body: bytes) -> None:
    with pytest.raises(MalformedMessage):
        pull_rows(body)


@given(st.binary())
def test_garbage_is_read_or_refused(body: bytes) -> None:
    with contextlib.suppress(MalformedMessage):
        pull_rows(body)
