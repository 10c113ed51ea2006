from hypothesis import given
from hypothesis import strategies as st

from emu.texts import read_text


def test_utf_8_is_read_as_such_and_other_bytes_as_latin_1() -> None:
    assert read_text("Ælfrīc".encode()) == "Ælfrīc"
    assert read_text("Ælfric".encode("latin-1")) == "Ælfric"
    assert read_text(b"") == ""


@given(st.text())
def test_what_was_written_as_utf_8_comes_back(text: str) -> None:
    data = text.encode("utf-8", "replace")
    assert read_text(data) == data.decode()


@given(st.binary())
def test_no_bytes_are_refused(data: bytes) -> None:
    assert isinstance(read_text(data), str)
