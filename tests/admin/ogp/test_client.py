"""The asking side, against our own responder and against servers that misbehave."""

import pytest

from emu.admin.ogp.client import OgpQuestion
from emu.admin.ogp.fields import SERVER, V91, V94
from emu.admin.ogp.messages import (
    PREFIX,
    AnswerHead,
    DefaultQuery,
    Error,
    OgpContent,
    Type,
    push_answer_head,
)
from emu.admin.ogp.responder import OgpResponder, Presentation, content_of
from emu.errors import CommandError, MalformedMessage
from emu.limits.rates import Challenges
from emu.times import Monotonic
from tests.support.admin.statuses import crowd, server_status

NOW = Monotonic(5.0)


def ask(question: OgpQuestion, content: OgpContent) -> int:
    """Carry datagrams to and fro until the answer is there; returns how many were asked."""
    responder = OgpResponder(lambda _now: content, Challenges(bytes(16)))
    asked = 0
    while not question.is_answered:
        asked += 1
        assert asked < 5
        for answer in reversed(responder.answer(question.datagram(), ("192.0.2.7", 5), NOW)):
            question.receive(answer)
    return asked


@pytest.mark.parametrize("dialect", [V91, V94], ids=lambda one: one.name)
def test_a_question_takes_two_rounds_and_brings_everything(dialect) -> None:
    content = content_of(server_status(players=crowd(200)), Presentation(258))
    question = OgpQuestion(7, dialect)
    assert ask(question, content) == 2
    shown = question.answer
    assert shown is not None
    assert shown.game_id == 258
    assert str(shown.server["host_name"]) == "Qeynos"
    assert shown.players == list(content.players)
    assert (shown.rules, shown.limits) == (list(content.rules), content.limits)


def test_only_what_is_wanted_is_asked_for() -> None:
    question = OgpQuestion(7, V91, DefaultQuery(SERVER, server=1))
    ask(question, content_of(server_status(), Presentation()))
    assert question.answer == OgpContent(server={"game_name": "EverQuest II"})


@pytest.mark.parametrize(
    "data",
    [b"", PREFIX, push_answer_head(AnswerHead(Type.DEFAULT, request_id=8)) + bytes(3),
     push_answer_head(AnswerHead(Type.PING)), push_answer_head(AnswerHead(Type.ERROR)) + b"\x09",
     push_answer_head(AnswerHead(Type.ERROR)), OgpQuestion(7).datagram()],
)  # fmt: skip
def test_what_is_no_answer_is_refused_and_changes_nothing(data: bytes) -> None:
    question = OgpQuestion(7)
    before = question.datagram()
    with pytest.raises(MalformedMessage):
        question.receive(data)
    assert (question.datagram(), question.is_answered) == (before, False)


@pytest.mark.parametrize("error", [Error.BANNED, Error.TYPE, Error.HEAD, Error.BODY])
def test_a_refusal_is_given_in_words(error: Error) -> None:
    with pytest.raises(CommandError, match="the server refuses: it "):
        OgpQuestion(7).receive(push_answer_head(AnswerHead(Type.ERROR)) + bytes((error,)))


def test_a_copy_of_something_else_is_not_sent() -> None:
    refused = push_answer_head(AnswerHead(Type.ERROR, 5)) + b"\x03"
    for copy in (b"rm -rf", OgpQuestion(7).datagram() + b"x", push_answer_head(AnswerHead(1))):
        with pytest.raises(MalformedMessage, match="the copy is"):
            OgpQuestion(7).receive(refused + copy)


def test_a_server_that_never_takes_its_own_number_is_given_up() -> None:
    question = OgpQuestion(7)
    refused = push_answer_head(AnswerHead(Type.ERROR, 5)) + b"\x03" + question.datagram()
    for _ in range(3):
        assert question.receive(refused)
    with pytest.raises(CommandError, match="challenge"):
        question.receive(refused)
