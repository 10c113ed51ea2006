"""The responder: the worked examples byte for byte, abuse, and any bytes at all."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.ogp.client import OgpQuestion
from emu.admin.ogp.fields import V91, V94
from emu.admin.ogp.messages import (
    PREFIX,
    AnswerHead,
    Error,
    OgpContent,
    QueryHead,
    Type,
    everything,
    find_body,
    pull_answer_head,
    push_answer_head,
    push_query,
    push_query_head,
)
from emu.admin.ogp.responder import OgpResponder, Presentation, content_of, master_uplink
from emu.admin.ogp.rules import OgpRules
from emu.limits.rates import PERIOD, Challenges
from emu.times import Monotonic
from tests.support.admin.ogp_contents import content_of as state_of
from tests.support.admin.query_vectors import Example, OneChallenge, read_examples
from tests.support.admin.statuses import crowd, server_status
from tests.support.examples import tries
from tests.support.patience import within

ASKER = ("192.0.2.7", 5000)
NOW = Monotonic(1000.0)
NUMBER = 0x11223344
EXAMPLES = read_examples("ogp")


def responder(content: OgpContent | None = None, **rules) -> OgpResponder:
    shown = content or content_of(server_status(), Presentation())
    return OgpResponder(lambda _now: shown, OneChallenge(NUMBER), OgpRules(**rules))


def question(dialect=V91, kind: int = Type.DEFAULT, **head) -> bytes:
    fields = {"challenge": NUMBER, **head}
    return push_query_head(QueryHead(kind, **fields)) + push_query(everything(dialect), dialect)


def error_of(answers: list[bytes]) -> tuple[Error, AnswerHead]:
    (answer,) = answers
    at = find_body(answer)
    head = pull_answer_head(answer, at)
    assert head.type == Type.ERROR
    return Error(answer[at]), head


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_worked_examples_byte_for_byte(example: Example) -> None:
    made = OgpResponder(
        lambda _now: state_of(example.state), OneChallenge(example.state["challenge"])
    )
    for asked, answers in example.exchanges:
        assert [one.hex() for one in made.answer(asked, ASKER, NOW)] == [
            one.hex() for one in answers
        ]


def test_a_question_without_a_number_comes_back_to_be_sent_again() -> None:
    made = responder()
    for challenge in (None, 0, 99):
        (answer,) = made.answer(question(challenge=challenge, request_id=5), ASKER, NOW)
        at = find_body(answer)
        assert pull_answer_head(answer, at) == AnswerHead(Type.ERROR, NUMBER, 5)
        assert answer[at] == Error.CHALLENGE
        (shown,) = made.answer(answer[at + 1 :], ASKER, NOW)
        assert pull_answer_head(shown, find_body(shown)) == AnswerHead(Type.DEFAULT, None, 5)


def test_a_number_is_an_addresses_own_and_does_not_last() -> None:
    made = OgpResponder(lambda _now: OgpContent(), Challenges(bytes(16)))
    _, head = error_of(made.answer(question(challenge=None), ASKER, NOW))
    asked = question(challenge=head.challenge)
    elsewhere, later = ("192.0.2.8", 5000), Monotonic(NOW + 2 * PERIOD)
    assert pull_answer_head(*with_body(made.answer(asked, (ASKER[0], 6), NOW))).type == 1
    for host, now in ((elsewhere, NOW), (ASKER, later)):
        assert error_of(made.answer(asked, host, now))[0] is Error.CHALLENGE


def with_body(answers: list[bytes]) -> tuple[bytes, int]:
    return answers[0], find_body(answers[0])


@pytest.mark.parametrize("kind", [Type.RCON, Type.MASTER, Type.ERROR, 0x42])
def test_types_that_are_no_question_are_error_1(kind: int) -> None:
    assert error_of(responder().answer(question(kind=kind), ASKER, NOW))[0] is Error.TYPE


@pytest.mark.parametrize("most", [0, 499, 1501, 0xFFFF])
def test_a_datagram_size_out_of_range_is_error_2(most: int) -> None:
    error, head = error_of(responder().answer(question(most_bytes=most, request_id=7), ASKER, NOW))
    assert (error, head.request_id) == (Error.HEAD, 7)


def test_a_head_that_ends_too_early_is_error_2() -> None:
    data = PREFIX + bytes.fromhex("03 01 02")
    assert error_of(responder().answer(data, ASKER, NOW)) == (Error.HEAD, AnswerHead(Type.ERROR))


def test_answers_are_never_answered() -> None:
    made = responder()
    for head in (AnswerHead(Type.DEFAULT), AnswerHead(Type.ERROR, 5), AnswerHead(Type.PING)):
        assert made.answer(push_answer_head(head), ASKER, NOW) == []
    assert made.answer(master_uplink(3), ASKER, NOW) == []
    assert made.counters == {"an answer": 4}


def test_request_id_0_is_replaced_by_one_of_ours() -> None:
    made = responder()
    ids = set()
    for _ in range(3):
        (answer,) = made.answer(question(kind=Type.PING, request_id=0), ASKER, NOW)
        ids.add(pull_answer_head(answer, find_body(answer)).request_id)
    assert len(ids) == 3
    assert not ids & {0, None}


def test_a_long_answer_has_at_most_so_many_parts_and_players_are_left_out() -> None:
    content = content_of(server_status(players=crowd(5000)), Presentation())
    for parts in (1, 4, 16):
        answers = responder(content, most_parts=parts).answer(question(most_bytes=500), ASKER, NOW)
        assert len(answers) == parts
        assert all(len(answer) <= 500 for answer in answers)


@given(st.integers(500, 1500), st.integers(0, 150), st.sampled_from((V91, V94)))
@tries(40)
def test_parts_of_any_size_are_the_whole_answer(most: int, players: int, dialect) -> None:
    content = content_of(server_status(players=crowd(players)), Presentation())
    asked = question(dialect, most_bytes=most, request_id=7)
    answers = responder(content).answer(asked, ASKER, NOW)
    assert all(len(answer) <= most for answer in answers)
    asking = OgpQuestion(7, dialect)
    for answer in reversed(answers):
        asking.receive(answer)
    assert asking.answer is not None
    assert len(asking.answer.players or ()) == players


def test_a_version_that_an_operator_excludes_is_error_4() -> None:
    asked = question(V94)
    assert error_of(responder(dialects=(V91,)).answer(asked, ASKER, NOW))[0] is Error.BODY
    assert responder(dialects=(V94,)).answer(asked, ASKER, NOW)


def test_a_banned_address_is_notified_now_and_then() -> None:
    made = OgpResponder(
        lambda _now: OgpContent(), OneChallenge(NUMBER), is_banned=lambda host: host == ASKER[0]
    )
    assert error_of(made.answer(question(), ASKER, NOW))[0] is Error.BANNED
    assert made.answer(question(), ASKER, Monotonic(NOW + 9)) == []
    assert made.answer(question(), ASKER, Monotonic(NOW + 11))
    assert made.answer(question(), ("192.0.2.8", 1), NOW)[0][9] == Type.DEFAULT


def test_an_answer_is_made_once_for_all_who_ask_the_same() -> None:
    made = responder()
    first = made.answer(question(), ASKER, NOW)
    assert made.answer(question(), ("192.0.2.8", 1), NOW) == first
    assert len(made._bodies) == 1
    for fields in range(300):
        head = push_query_head(QueryHead(Type.DEFAULT, NUMBER))
        made.answer(head + bytes((1, fields & 0x7F)), ASKER, NOW)
    assert len(made._bodies) <= 64


@given(st.binary(max_size=600), st.booleans())
def test_any_bytes_draw_little_without_a_number(data: bytes, prefixed: bool) -> None:
    made = OgpResponder(lambda _now: OgpContent(), Challenges(bytes(16)))
    data = PREFIX + data if prefixed else data
    answers = made.answer(data, ASKER, NOW)
    assert sum(map(len, answers)) <= len(data) + 20


@given(st.data())
def test_mutated_questions_raise_nothing(data: st.DataObject) -> None:
    examples = [asked for example in EXAMPLES for asked, _ in example.exchanges]
    asked = bytearray(data.draw(st.sampled_from(examples)))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(8, len(asked) - 1))
        asked[place : place + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=3))
        if len(asked) < 9:
            break
    assert sum(map(len, responder().answer(bytes(asked), ASKER, NOW))) <= 16 * 1500


@pytest.mark.slow
def test_a_flood_of_invented_addresses_leaves_nothing_behind() -> None:
    made = OgpResponder(lambda _now: OgpContent(), Challenges(bytes(16)))
    asked = question(challenge=None)
    tracemalloc.start()
    with within(60):
        try:
            for number in range(10_000):
                host = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"
                made.answer(asked, (host, 5000), NOW)
            grown, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert grown < 100_000


def test_a_master_server_is_sent_the_game() -> None:
    assert master_uplink(258) == PREFIX + bytes.fromhex("03 03 01 0201")


def test_only_a_challenge_of_this_address_proves_it() -> None:
    challenges = Challenges(bytes(16))
    made = OgpResponder(lambda _now: OgpContent(), challenges)
    number = challenges.issue(ASKER[0], 0, NOW)
    assert made.validates(question(challenge=number), ASKER, NOW)
    assert not made.validates(question(challenge=number), ("192.0.2.8", 5000), NOW)
    assert not made.validates(question(challenge=number), ASKER, Monotonic(NOW + 2 * PERIOD))
    for data in (b"", PREFIX, question(challenge=0), question(challenge=None)):
        assert not made.validates(data, ASKER, NOW)
