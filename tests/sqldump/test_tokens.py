"""The pieces of a dump, one after the other; whole dumps are tried in `test_reader`."""

from __future__ import annotations

import io

import pytest

from emu.errors import FileFormatError
from emu.sqldump.source import Source
from emu.sqldump.tokens import DumpTokenizer, text_of


def tokens(text: bytes) -> DumpTokenizer:
    return DumpTokenizer(Source(io.BytesIO(text)))


def test_words_and_names_come_without_blanks_comments_and_quotes() -> None:
    found = tokens(b'/* one */ insert -- two\n `a``b` # three\n "c d" e$1')
    assert found.begin()
    assert found.word() == b"INSERT"
    assert [found.name() for _ in range(3)] == ["a`b", "c d", "e$1"]
    assert not found.begin()


def test_bytes_are_taken_only_where_they_stand() -> None:
    found = tokens(b" ( , x")
    assert not found.take(b",")
    assert found.take(b"(")
    found.expect(b",")
    with pytest.raises(FileFormatError, match="expected '\\)'"):
        found.expect(b")")


def test_pieces_of_no_interest_are_gone_past_whole() -> None:
    found = tokens(b"'a,)' (1) rest\nnext")
    assert [found.skip_token() for _ in range(4)] == [b"'", b"(", b"1", b")"]
    found.skip_line()
    assert found.word() == b"NEXT"


def test_values_stand_for_themselves_and_end_with_the_file() -> None:
    found = tokens(b"'it''s' 0x41 b'101' -1.5 NULL _binary 'x' '")
    assert [found.value() for _ in range(6)] == ["it's", b"A", 5, -1.5, None, b"x"]
    with pytest.raises(FileFormatError, match="cut short"):
        found.value()


def test_text_is_utf8_or_else_latin1() -> None:
    assert text_of("\xe4".encode()) == text_of(b"\xe4") == text_of(b"\xe4", latin=True) == "\xe4"
