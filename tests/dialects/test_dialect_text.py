"""Names between bytes and text (docs/protocol/index.md#notation)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from emu.dialects.dialect import read_name, read_secret, wire_name, wire_texts


def test_utf8_bytes_read_as_utf8_and_others_as_latin1() -> None:
    assert read_name("Björn".encode().decode("latin-1")) == "Björn"
    assert read_name("Björn") == "Björn"
    assert read_name("plain") == "plain"


def test_a_password_keeps_its_bytes() -> None:
    assert read_secret("\xff\x00a") == b"\xff\x00a"


def test_texts_of_a_message_are_written_at_every_depth() -> None:
    raw = "Björn".encode().decode("latin-1")
    values = {"name": "Björn", "n": 1, "rows": [{"name": "Björn", "list": ["Björn", 2]}]}
    assert wire_texts(values) == {"name": raw, "n": 1, "rows": [{"name": raw, "list": [raw, 2]}]}


@given(st.text())
def test_what_is_sent_reads_back(name: str) -> None:
    name = name.encode("utf-8", "replace").decode()
    assert read_name(wire_name(name)) == name


@given(st.binary())
def test_any_bytes_can_be_read(raw: bytes) -> None:
    assert isinstance(read_name(raw.decode("latin-1")), str)
