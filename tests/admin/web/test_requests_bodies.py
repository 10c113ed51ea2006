from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.web.requests import FORM, JSON, read_fields
from emu.admin.web.sessions import RequestRefused

NAMES = st.text(min_size=1, max_size=32).filter(lambda text: text.isprintable())


def refused(content_type: str, body: bytes) -> int:
    with pytest.raises(RequestRefused) as caught:
        read_fields(content_type, body)
    return caught.value.code


def test_a_form_and_json_say_the_same() -> None:
    expected = {"player": "Aldana", "minutes": "5", "reason": "too loud & läßt"}
    form = b"player=Aldana&minutes=5&reason=too+loud+%26+l%C3%A4%C3%9Ft"
    assert read_fields(f"{FORM}; charset=utf-8", form) == expected
    assert read_fields("Application/JSON", json.dumps(expected).encode()) == expected
    assert read_fields(JSON, b'{"minutes": 5}') == {"minutes": "5"}


def test_nothing_is_no_field() -> None:
    assert read_fields(FORM, b"") == read_fields(JSON, b"{}") == {}


@pytest.mark.parametrize("kind", ["", "text/plain", "multipart/form-data; boundary=x", "json"])
def test_other_bodies_are_not_taken(kind: str) -> None:
    assert refused(kind, b'{"a": "b"}') == 415


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (JSON, b""), (JSON, b"[]"), (JSON, b'"a"'), (JSON, b'{"a": null}'), (JSON, b'{"a": 1.5}'),
        (JSON, b'{"a": true}'), (JSON, b'{"a": {"b": "c"}}'), (JSON, b'{"a": ["b"]}'),
        (JSON, b'{"a": "1", "a": "2"}'), (JSON, b'{"a": "\\ud800"}'), (JSON, b"\xff{}"),
        (JSON, b"[" * 16_000), (JSON, b'{"a": ' + b"9" * 5000 + b"}"), (JSON, b'{"": "x"}'),
        (JSON, json.dumps({"a": "x" * 1001}).encode()),
        (JSON, json.dumps({f"a{n}": "" for n in range(17)}).encode()),
        (FORM, b"a"), (FORM, b"a=1&a=2"), (FORM, b"a=%ff"), (FORM, b"\xff=1"),
        (FORM, b"&".join(b"a%d=" % n for n in range(17))), (FORM, b"x" * 33 + b"=1"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_a_bad_request(kind: str, body: bytes) -> None:
    assert refused(kind, body) == 400


@pytest.mark.slow
@given(st.dictionaries(NAMES, st.text(st.characters(codec="utf-8"), max_size=99), max_size=9))
def test_fields_come_back(fields: dict[str, str]) -> None:
    assert read_fields(JSON, json.dumps(fields).encode()) == fields


@given(st.sampled_from([FORM, JSON]), st.binary(max_size=200))
def test_garbage_is_read_or_refused(kind: str, body: bytes) -> None:
    try:
        fields = read_fields(kind, body)
    except RequestRefused:
        return
    assert all(isinstance(value, str) for value in fields.values())
