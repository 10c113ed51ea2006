import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.ogp.messages import (
    PREFIX,
    AnswerHead,
    QueryHead,
    find_body,
    is_answer,
    pull_answer_head,
    pull_query_head,
    push_answer_head,
    push_query_head,
    with_challenge,
)
from emu.errors import MalformedDatagram, MalformedMessage

U8 = st.integers(0, 0xFF)
U32 = st.none() | st.integers(0, 0xFFFFFFFF)
QUERIES = st.builds(QueryHead, U8, U32, U32, st.none() | st.integers(0, 0xFFFF))
ANSWERS = st.builds(AnswerHead, U8, U32, U32, st.none() | st.tuples(U8, U8))


@given(QUERIES, st.binary(max_size=40))
def test_the_head_of_a_question_comes_back(head: QueryHead, body: bytes) -> None:
    data = push_query_head(head) + body
    at = find_body(data)
    assert (pull_query_head(data, at), data[at:]) == (head, body)
    assert not is_answer(data)


@given(ANSWERS, st.binary(max_size=40))
def test_the_head_of_an_answer_comes_back(head: AnswerHead, body: bytes) -> None:
    data = push_answer_head(head) + body
    at = find_body(data)
    assert (pull_answer_head(data, at), data[at:]) == (head, body)
    assert is_answer(data)


@given(QUERIES, st.binary(max_size=40), st.integers(1, 0x7FFFFFFF))
def test_a_question_with_a_challenge_is_the_same_with_the_number_in_it(head, body, number) -> None:
    data = push_query_head(head) + body
    again = with_challenge(data, find_body(data), number)
    at = find_body(again)
    shown = pull_query_head(again, at)
    assert shown == QueryHead(head.type, number, head.request_id, head.most_bytes)
    assert again[at:] == body


def test_what_is_behind_the_known_fields_is_ignored_and_kept() -> None:
    data = PREFIX + bytes.fromhex("09 01 12 11223344 aabb") + b"body"
    at = find_body(data)
    assert pull_query_head(data, at) == QueryHead(1, challenge=0x44332211)
    assert with_challenge(data, at, 7) == PREFIX + bytes.fromhex("09 01 12 07000000 aabb") + b"body"


@pytest.mark.parametrize(
    "data", ["", "ffffffff4f475000", "ffffffff4f4750000200", "ffffffff4f475000020000",
             "ffffffff4f475000040000", "ffffffff4f475100030000", "ffffffff54536f75726365"],
)  # fmt: skip
def test_what_is_not_ogp_is_distinguished(data: str) -> None:
    with pytest.raises(MalformedDatagram):
        find_body(bytes.fromhex(data))


@pytest.mark.parametrize("head", ["040001", "0400 81", "030002", "0500040000", "03008000"])
def test_a_head_that_lies_about_itself_is_refused(head: str) -> None:
    data = PREFIX + bytes.fromhex(head)
    with pytest.raises((MalformedMessage, MalformedDatagram)):
        pull_answer_head(data, find_body(data))


def test_a_head_without_space_for_a_challenge_is_refused() -> None:
    data = PREFIX + bytes((0xFF, 1, 0)) + bytes(0xFC)
    with pytest.raises(MalformedMessage, match="head too long"):
        with_challenge(data, find_body(data), 1)
