import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.ssq.query import (
    Auth,
    ColumnList,
    Comparison,
    Headers,
    Ping,
    Query,
    Select,
    SsqVersion,
    StoredProcedure,
    pull_query,
)
from emu.errors import MalformedMessage

WHERE = Comparison("ping", ">", "10")


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("AUTH John's word", Auth("John's word")),
        ("auth X", Auth("X")),
        ("AUTH", Auth("")),
        ("SP Players", StoredProcedure("players")),
        ("SP ping", Ping()),
        ("ping", Ping()),
        ("CL", ColumnList(is_long=False)),
        ("cl long\0\r\n ", ColumnList(is_long=True)),
        ("VERSION", SsqVersion()),
        ("\tSELECT\thostname\n", Select(("hostname",))),
        ("auth\tX", Auth("X")),
        ("SELECT hostname", Select(("hostname",))),
        ("select A , b,a", Select(("a", "b", "a"))),
        ("SELECT a WHERE ping > 10", Select(("a",), WHERE)),
        ("SELECT a IDENTIFIED aBc", Select(("a",), None, "aBc")),
        (
            "SELECT a where ping>10 identified 'x' headers NULL",
            Select(("a",), WHERE, "x", Headers.NULL),
        ),
        ("SELECT a HEADERS compact", Select(("a",), headers=Headers.COMPACT)),
    ],
)
def test_questions(text: str, query: Query) -> None:
    assert pull_query(text.encode()) == query


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "SELECT", "SELECT ,", "SELECT a,", "SELECT a b", "SELECT a WHERE", "SELECT 'a'",
        "SELECT where", "SELECT a IDENTIFIED", "SELECT a HEADERS what", "SELECT a; DELETE b",
        "SELECT a WHERE ping > 10 ; x", "SP", "SP a b", "CL SHORT", "VERSION 1", "PING x",
        "DROP TABLE players", "SELECT a\0b", "SELECT " + "a," * 64 + "a", "SELECT " + "a" * 5000,
    ],
)  # fmt: skip
def test_what_is_no_question(text: str) -> None:
    with pytest.raises(MalformedMessage):
        pull_query(text.encode())


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(MalformedMessage):
        pull_query(b"SELECT \xff")


@given(st.binary(max_size=200))
def test_garbage(body: bytes) -> None:
    with contextlib.suppress(MalformedMessage):
        pull_query(b"SELECT a WHERE " + body)
