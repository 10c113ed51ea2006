import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.ogp.messages import AnswerHead, find_body, pull_answer_head, push_answer_head
from emu.admin.ogp.responder import OgpJoiner, capacity, split
from emu.errors import MalformedMessage

HEADS = st.builds(
    AnswerHead, st.just(1), st.none() | st.integers(1, 9), st.none() | st.integers(1, 9), st.none()
)


@given(HEADS, st.integers(500, 1500), st.data())
def test_an_answer_is_cut_and_joined_in_any_order(head: AnswerHead, most: int, data) -> None:
    body = bytes(range(256)) * 80
    body = body[: data.draw(st.integers(0, len(body)))]
    parts = split(head, body, most, 77)
    assert all(len(part) <= most for part in parts)
    joiner, joined = OgpJoiner(), None
    for part in data.draw(st.permutations([*parts, parts[0]] if len(parts) > 1 else parts)):
        at = find_body(part)
        reported = pull_answer_head(part, at)
        if reported.split is not None:
            assert reported.split[0] == len(parts)
            assert reported.request_id == 77
            assert (reported.challenge == head.challenge) == (
                reported.split[1] == 0 or not head.challenge
            )
        joined = joiner.join(reported, part[at:]) if joined is None else joined
    assert joined == body


@given(HEADS, st.integers(500, 1500))
def test_what_fills_a_datagram_is_not_split_and_a_byte_more_is(head: AnswerHead, most: int) -> None:
    fits = bytes(most - len(push_answer_head(head)))
    assert [len(part) for part in split(head, fits, most, 77)] == [most]
    assert len(split(head, fits, most - 1, 77)[0]) == most - 1
    assert len(split(head, fits + b"x", most, 77)) == 2


@given(st.integers(500, 1500), st.integers(1, 127))
def test_what_there_is_space_for_fits(most: int, parts: int) -> None:
    head = AnswerHead(1, None, 5)
    fits = capacity(most, parts)
    assert len(split(head, bytes(fits), most, 5)) <= parts
    assert len(split(head, bytes(fits + 7), most, 5)) > parts


@pytest.mark.parametrize("second", [(2, 2), (3, 1), (200, 1)], ids=["number", "count", "too many"])
def test_parts_that_cannot_belong_together_are_refused(second: tuple[int, int]) -> None:
    joiner = OgpJoiner()
    assert joiner.join(AnswerHead(1, None, 7, (2, 0)), b"a") is None
    with pytest.raises(MalformedMessage, match="wrong split"):
        joiner.join(AnswerHead(1, None, 7, second), b"b")
    with pytest.raises(MalformedMessage, match="another answer"):
        joiner.join(AnswerHead(1, None, 8, (2, 1)), b"b")
    assert joiner.join(AnswerHead(1, None, 7, (2, 1)), b"b") == b"ab"


def test_an_answer_has_127_datagrams_at_most() -> None:
    assert OgpJoiner().join(AnswerHead(1, None, 7, (127, 126)), b"a") is None
    with pytest.raises(MalformedMessage, match="wrong split"):
        OgpJoiner().join(AnswerHead(1, None, 7, (128, 127)), b"a")
