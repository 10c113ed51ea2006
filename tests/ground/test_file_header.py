"""The frame of headers: what it refuses, and where it says the fault is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import FileFormatError
from emu.ground.file_header import HeaderForm

FORM = HeaderForm("test file", b"EMUTESTS", 3, "IQ")


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1))
def test_the_values_make_the_way_and_back(small: int, large: int) -> None:
    packed = FORM.pack(small, large)
    assert len(packed) == FORM.size
    assert FORM.unpack(packed + b"what follows") == (small, large)


def test_the_bytes_are_the_kind_the_form_the_values_and_their_checksum() -> None:
    body = b"EMUTESTS" + (3).to_bytes(4, "little") + (5).to_bytes(4, "little")
    body += (6).to_bytes(8, "little")
    assert FORM.pack(5, 6)[:-4] == body
    assert FORM.pack(5, 6)[-4:].hex() == "c8a8cf64"  # zlib.crc32 of these bytes


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (FORM.pack(1, 2)[:-1], "is too short for a test file"),
        (b"X" + FORM.pack(1, 2)[1:], "is no test file"),
        (HeaderForm("", b"EMUTESTS", 4, "IQ").pack(1, 2), "has form 4, this server reads 3"),
        (FORM.pack(1, 2)[:-1] + b"\0", "the header's checksum is wrong"),
    ],
)
def test_a_wrong_header_is_refused_with_its_reason(data: bytes, text: str) -> None:
    with pytest.raises(FileFormatError, match=text):
        FORM.unpack(data)
