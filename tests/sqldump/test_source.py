"""Plain and packed bytes come out in bounded pieces, with their lines counted."""

from __future__ import annotations

import gzip
import io
import re
import zlib

import pytest

from emu.errors import FileFormatError
from emu.sqldump import source as sqldump_source
from emu.sqldump.source import Source


def read_all(source: Source) -> bytes:
    out = b""
    while source.peek(1):
        out += source.buffer[source.pos :]
        source.pos = len(source.buffer)
    return out


def test_gzip_and_plain_give_the_same_bytes() -> None:
    data = b"".join(b"%d\n" % number for number in range(50_000))
    assert read_all(Source(io.BytesIO(data))) == data
    assert read_all(Source(io.BytesIO(gzip.compress(data)))) == data
    assert read_all(Source(io.BytesIO(gzip.compress(data) + bytes(512)))) == data


def test_lines_are_counted_as_they_are_passed() -> None:
    source = Source(io.BytesIO(b"one\ntwo\nthree"))
    assert source.peek(13) == b"one\ntwo\nthree"
    assert source.line == 1
    source.pos = 9
    assert source.line == 3
    assert source.consumed == 9
    assert str(source.error("wrong")) == "line 3: wrong"


def test_a_byte_order_mark_is_no_content() -> None:
    assert read_all(Source(io.BytesIO(b"\xef\xbb\xbfUSE x;"))) == b"USE x;"
    assert read_all(Source(io.BytesIO(gzip.compress(b"\xef\xbb\xbfUSE x;")))) == b"USE x;"


def test_utf16_is_named() -> None:
    source = Source(io.BytesIO("USE x;".encode("utf-16")))
    with pytest.raises(FileFormatError, match="UTF-16"):
        source.peek(1)


def test_a_match_never_decides_at_a_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqldump_source, "CHUNK", 3)
    source = Source(io.BytesIO(b"abcdefgh;"))
    found = source.match(re.compile(rb"[a-z]*+"), 100)
    assert found is not None
    assert found[0] == b"abcdefgh"


def test_a_cut_or_damaged_gzip_is_named() -> None:
    packed = gzip.compress(b"INSERT" * 1000)
    with pytest.raises(FileFormatError, match="cut short"):
        read_all(Source(io.BytesIO(packed[:-9])))
    with pytest.raises(FileFormatError, match="damaged gzip"):
        read_all(Source(io.BytesIO(packed[:20] + b"\xff" * 20)))


@pytest.mark.slow
def test_a_bomb_is_stopped_long_before_it_is_whole() -> None:
    packer = zlib.compressobj(9, wbits=31)
    packed = b"".join(packer.compress(b"\n" * 1_000_000) for _ in range(40)) + packer.flush()
    source = Source(io.BytesIO(packed))
    with pytest.raises(FileFormatError, match="inflates to more than 300 times"):
        read_all(source)


@pytest.mark.parametrize(("name", "message"), [("MAX_LINE", "a line"), ("MAX_TOTAL", "the dump")])
def test_limits_hold_at_the_byte(name: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqldump_source, name, 100)
    assert len(read_all(Source(io.BytesIO(b"x" * 100)))) == 100
    with pytest.raises(FileFormatError, match=f"{message} is l"):
        read_all(Source(io.BytesIO(b"x" * 101)))
