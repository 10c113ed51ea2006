"""The asking side, against our own responder and against servers that misbehave."""

import pytest

from emu.admin.a2s.client import A2sQuestion
from emu.admin.a2s.messages import PREFIX, A2sQuery, push_challenge, push_players
from emu.admin.a2s.responder import A2sResponder
from emu.errors import CommandError, MalformedMessage
from emu.limits.rates import Challenges
from emu.times import Monotonic
from tests.support.admin.statuses import crowd, server_status

NOW = Monotonic(5.0)


def ask(query: A2sQuery, challenge: int | None = None, **status) -> tuple[A2sQuestion, int]:
    """Carry datagrams to and fro until the answer is there; returns how many were asked."""
    shown = server_status(**status)
    responder = A2sResponder(lambda _now: shown, Challenges(bytes(16)))
    question, asked = A2sQuestion(query, challenge), 0
    while not question.is_answered:
        asked += 1
        assert asked < 5
        for answer in reversed(responder.answer(question.datagram(), ("192.0.2.7", 5), NOW)):
            question.receive(answer)
    return question, asked


def test_each_question_takes_two_rounds_and_one_with_a_number() -> None:
    info, asked = ask(A2sQuery.INFO)
    assert asked == 2
    assert info.info is not None
    assert info.info.name == "Qeynos"
    players, asked = ask(A2sQuery.PLAYERS, info.challenge, players=crowd(60))
    assert asked == 1
    assert [player.name for player in players.players or ()][-1] == "Player0059"
    rules = tuple((f"rule {number:04}", "x" * 40) for number in range(100))
    shown, _ = ask(A2sQuery.RULES, info.challenge, rules=rules)
    assert set(rules) <= set(shown.rules or ())


@pytest.mark.parametrize(
    "data", [b"", PREFIX, PREFIX + b"Z", push_players([], 99), PREFIX + b"I\x11cut", b"\xfe"]
)
def test_what_is_no_answer_is_refused(data: bytes) -> None:
    question = A2sQuestion(A2sQuery.INFO)
    with pytest.raises(MalformedMessage):
        question.receive(data)
    assert not question.is_answered


def test_an_empty_list_is_an_answer() -> None:
    question = A2sQuestion(A2sQuery.PLAYERS)
    assert not question.receive(push_players([], 99))
    assert (question.players, question.is_answered) == ([], True)


def test_a_server_that_never_takes_its_own_number_is_given_up() -> None:
    question = A2sQuestion(A2sQuery.RULES)
    for _ in range(3):
        assert question.receive(push_challenge(5))
    with pytest.raises(CommandError, match="challenge"):
        question.receive(push_challenge(5))
