import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.ssq.packets import SsqQuestion, auth_question, split, token_of, with_token
from emu.admin.ssq.query import PONG, Headers, Select, pull_query, push_rows
from emu.errors import CommandError, MalformedMessage


def test_a_question_and_its_answer() -> None:
    question = SsqQuestion(5, "SP info")
    assert question.datagram() == b"\x05\x00SP info"
    table = [["a"], *([f"row {n}"] for n in range(500))]
    datagrams = split(5, push_rows(table))
    assert len(datagrams) > 2
    for data in reversed(datagrams):
        assert not question.is_answered
        assert question.receive(data) is False
    assert question.rows == table


def test_a_pong() -> None:
    question = SsqQuestion(5, "PING")
    question.receive(b"\x05\x00" + PONG)
    assert question.rows == [["j"]]


@pytest.mark.parametrize(
    "data", [b"", b"\x05\x00", b"\x06\x00\n\0", b"\x05\x00half", b"\x05\x01\n\0"]
)
def test_what_is_no_answer(data: bytes) -> None:
    with pytest.raises(MalformedMessage):
        SsqQuestion(5, "SP info").receive(data)


def test_tokens() -> None:
    assert auth_question(1, "secret word").datagram() == b"\x01\x00AUTH secret word"
    assert token_of([["token"], ["abc"]]) == "abc"
    for rows in ([["token"], [""]], [[]], [["token"]]):
        with pytest.raises(CommandError, match="password"):
            token_of(rows)


def test_a_token_stands_where_it_belongs() -> None:
    shown = with_token("select a where b = ' headers x' headers Null", "t1")
    query = pull_query(shown.encode())
    assert isinstance(query, Select)
    assert (query.token, query.headers) == ("t1", Headers.NULL)
    assert with_token("SELECT a", "t1") == "SELECT a IDENTIFIED t1"
    assert with_token("SP info", "t1") == "SP info"


@given(st.binary(max_size=80))
def test_garbage(data: bytes) -> None:
    with contextlib.suppress(MalformedMessage):
        SsqQuestion(5, "SP info").receive(data)
