"""Floods of invented addresses at each query protocol, and honest askers who are answered still.

The cores stand behind their real limits; time is simulated.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from secrets import randbelow

import pytest

from emu.admin.a2s.client import A2sQuestion
from emu.admin.a2s.messages import A2sQuery, push_query
from emu.admin.a2s.responder import A2sResponder
from emu.admin.ggmp.client import GgmpClient
from emu.admin.ggmp.messages import GgmpMessage, GgmpMessageType, push_message, utf8
from emu.admin.ggmp.server import ANSWER_RULES as GGMP_RULES
from emu.admin.ggmp.server import GgmpRules, GgmpServer
from emu.admin.ogp.client import OgpQuestion
from emu.admin.ogp.fields import SERVER, V91
from emu.admin.ogp.messages import DefaultQuery
from emu.admin.ogp.responder import OgpResponder, Presentation, content_of
from emu.admin.ssq.packets import SsqQuestion, auth_question, token_of, with_token
from emu.admin.ssq.responder import SsqResponder, SsqTokens
from emu.admin.ssq.tables import SsqContent
from emu.cli.query import Question
from emu.config.administration import QueryConfig, SsqConfig
from emu.limits.rates import AnswerLimits, AnswerRules, Challenges
from emu.net.admin.queries import ssq_answer_rules
from emu.net.udp.query import QueryCore
from emu.times import Monotonic
from tests.support.admin.ggmp import GRANT, TOKEN, FakeActors
from tests.support.admin.statuses import server_status

ADDRESSES = 50_000
SECONDS = 10
A_SECOND = ADDRESSES // SECONDS
ASKED_A_SECOND = 4
REGULAR = ("192.0.2.1", 5000)
NEWCOMER = ("192.0.2.2", 5000)


@dataclass
class Endpoint:
    """A core behind its limits, as `emu.net.udp.query` joins them."""

    core: QueryCore
    rules: AnswerRules

    def __post_init__(self) -> None:
        self.limits = AnswerLimits(self.rules, Monotonic(0.0), self.core.validates)
        self.answered = 0

    def take(self, data: bytes, address: tuple[str, int], now: float) -> list[bytes]:
        if not self.limits.take(data, address, Monotonic(now)):
            return []
        answers = list(self.core.answer(data, address, Monotonic(now)))
        self.answered += len(answers)
        return answers

    def ask(self, question: Question, address: tuple[str, int], now: float) -> bool:
        """Ask until nothing more comes, as a tool does; say whether it was answered."""
        goes_on = True
        while goes_on and not question.is_answered:
            goes_on = False
            for answer in self.take(question.datagram(), address, now):
                goes_on |= question.receive(answer)
        return question.is_answered


def ogp() -> OgpQuestion:
    return OgpQuestion(1, V91, DefaultQuery(SERVER, server=1))


def a2s() -> A2sQuestion:
    return A2sQuestion(A2sQuery.INFO)


def ogp_core() -> OgpResponder:
    reported = content_of(server_status(), Presentation())
    return OgpResponder(lambda _now: reported, Challenges(bytes(16)))


def a2s_core() -> A2sResponder:
    reported = server_status()
    return A2sResponder(lambda _now: reported, Challenges(bytes(16)))


CHALLENGED: dict[str, tuple[Callable[[], Question], Callable[[], QueryCore]]] = {
    "ogp": (ogp, ogp_core),
    "a2s": (a2s, a2s_core),
}


def flood(*questions: bytes) -> Iterator[tuple[float, bytes, tuple[str, int]]]:
    """Yield when, what and from where, in an order that nobody can plan with."""
    dice = random.Random(11)
    for number in dice.sample(range(ADDRESSES), ADDRESSES):
        host = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"
        yield dice.random(), dice.choice(questions), (host, 1024 + number % 60_000)


def under_flood(endpoint: Endpoint, questions: list[bytes], act: Callable[[float], None]) -> None:
    """Flood for ten seconds; `act` is called four times a second."""
    for number, (jitter, data, address) in enumerate(flood(*questions)):
        now = 1.0 + (number + jitter) / A_SECOND
        endpoint.take(data, address, now)
        if number % (A_SECOND // ASKED_A_SECOND) == 0:
            act(now)


@pytest.mark.parametrize("name", CHALLENGED)
def test_a_regular_and_a_newcomer_are_answered_in_a_flood(name: str) -> None:
    ask, make_core = CHALLENGED[name]
    endpoint = Endpoint(make_core(), AnswerRules(share_burst=500, share_rate=500))
    assert endpoint.ask(ask(), REGULAR, 0.0)
    reported: dict[tuple[str, int], list[bool]] = {REGULAR: [], NEWCOMER: []}

    def act(now: float) -> None:
        for address, heard in reported.items():
            heard.append(endpoint.ask(ask(), address, now))

    under_flood(endpoint, [ask().datagram(), push_query(A2sQuery.INFO, 77)], act)
    assert all(reported[REGULAR])
    first = reported[NEWCOMER].index(True)
    assert first < 30, "an unknown peer has the same chance as all"
    assert all(reported[NEWCOMER][first:])
    assert endpoint.answered < 2 * 500 + 500 * SECONDS + 400


def test_ssq_hears_who_has_the_password_in_a_flood() -> None:
    reported = SsqContent(server_status(), "192.0.2.1")
    endpoint = Endpoint(
        SsqResponder(lambda _now: reported, SsqTokens("john", bytes)),
        ssq_answer_rules(SsqConfig(), QueryConfig()),
    )
    heard: list[bool] = []
    tokens: list[str] = []

    def act(now: float) -> None:
        if not tokens:
            auth = auth_question(1, "john")
            assert endpoint.ask(auth, NEWCOMER, now)
            tokens.append(token_of(auth.rows or []))
        question = SsqQuestion(2, with_token("SELECT hostname", tokens[0]))
        heard.append(endpoint.ask(question, NEWCOMER, now))

    guess = f"\0\0SELECT a IDENTIFIED {'0' * 31}1".encode()
    under_flood(endpoint, [b"\0\0SP players", b"\0\0AUTH guess", guess], act)
    assert heard == [True] * ASKED_A_SECOND * SECONDS
    assert endpoint.answered < 100 * (SECONDS + 2) + 50


def test_ggmp_lets_in_who_has_a_token_in_a_flood() -> None:
    core = GgmpServer(FakeActors(), GgmpRules((GRANT,)), randbelow)
    rules = replace(GGMP_RULES, share_burst=500.0, share_rate=500.0)
    endpoint = Endpoint(core, rules)
    client = GgmpClient()
    reported = 0

    def act(now: float) -> None:
        nonlocal reported
        if not client.id:
            client.join(TOKEN, Monotonic(now))
        else:
            client.query(0, Monotonic(now))
        for _ in range(3):
            for data in client.data_to_send():
                for answer in endpoint.take(data, NEWCOMER, now):
                    client.receive(answer, Monotonic(now))
        while client.next_delivery() is not None:
            reported += 1

    wrong = push_message(GgmpMessage(GgmpMessageType.ARB_DATA, 0, 0, values=(utf8("x" * 16),)))
    stolen = push_message(GgmpMessage(GgmpMessageType.RAW_DATA, 1, 5, data=b"x"))
    under_flood(endpoint, [wrong, stolen, b"nonsense"], act)
    assert client.id == 1
    assert reported == ASKED_A_SECOND * SECONDS - 1
    assert len(core) == 1


@pytest.mark.parametrize("rate", [20, 50, 1000])
@pytest.mark.parametrize("name", CHALLENGED)
def test_a_monitor_is_answered_while_its_own_address_is_forged(name: str, rate: int) -> None:
    """Every poll begins without a challenge and comes from another port, as monitors ask."""
    ask, make_core = CHALLENGED[name]
    endpoint = Endpoint(make_core(), AnswerRules())
    heard: list[bool] = []
    for number in range(10 * rate):
        now = 1.0 + number / rate
        endpoint.take(ask().datagram(), (REGULAR[0], 4000), now)
        if number % rate == rate // 2:
            heard.append(endpoint.ask(ask(), (REGULAR[0], 40_000 + len(heard)), now))
    assert heard == [True] * 10


@pytest.mark.parametrize("rate", [20, 50, 1000])
def test_ssq_answers_a_token_while_its_address_is_forged(rate: int) -> None:
    reported = SsqContent(server_status(), "192.0.2.1")
    core = SsqResponder(lambda _now: reported, SsqTokens("john", bytes))
    endpoint = Endpoint(core, ssq_answer_rules(SsqConfig(), QueryConfig()))
    auth = auth_question(1, "john")
    assert endpoint.ask(auth, REGULAR, 0.0)
    token = token_of(auth.rows or [])
    heard: list[bool] = []
    for number in range(10 * rate):
        now = 1.0 + number / rate
        endpoint.take(b"\0\0SP info", (REGULAR[0], 4000 + number % 3), now)
        if number % rate == rate // 2:
            question = SsqQuestion(2, with_token("SELECT hostname", token))
            heard.append(endpoint.ask(question, (REGULAR[0], 40_000), now))
    assert heard == [True] * 10


def test_guesses_at_ssq_are_five_a_minute_however_many_are_sent() -> None:
    """A right guess among the wrong ones is not answered, and opens no bucket of its own."""
    reported = SsqContent(server_status(), "192.0.2.1")
    core = SsqResponder(lambda _now: reported, SsqTokens("john", bytes))
    endpoint = Endpoint(core, ssq_answer_rules(SsqConfig(), QueryConfig()))
    for number in range(3000):
        password = "john" if number % 100 == 99 else f"guess {number}"
        answers = endpoint.take(f"\0\0AUTH {password}".encode(), REGULAR, 1.0 + number / 3000)
        assert all(b"00000000" not in answer for answer in answers)
    assert core.counters["wrong password"] <= 5
    assert core.counters["authenticated"] == 0


def test_ssq_follows_the_limits_of_all_query_ports() -> None:
    for most in (1, 7, 300):
        rules = ssq_answer_rules(SsqConfig(per_second=4 * most), QueryConfig(per_address=most))
        core = SsqResponder(lambda _now: SsqContent(server_status(), "x"), SsqTokens("", bytes))
        endpoint = Endpoint(core, rules)
        for _ in range(5 * most):
            endpoint.take(b"\0\0PING", REGULAR, 1.0)
        assert endpoint.answered == 2 * most
        for number in range(5 * most):
            endpoint.take(b"\0\0PING", REGULAR, 2.0 + number / (5 * most))
        assert 4 * most - 2 <= endpoint.answered <= 4 * most
