"""Nonsense of every kind at each query protocol: nothing raises, little comes back, it goes on."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import count

import pytest

from emu.admin.a2s.responder import A2sResponder
from emu.admin.ggmp.acting import EVERYTHING, Grant
from emu.admin.ggmp.messages import GgmpAct, GgmpMessage, GgmpMessageType, push_message, utf8
from emu.admin.ggmp.server import GgmpRules, GgmpServer
from emu.admin.ogp.responder import OgpResponder, Presentation, content_of
from emu.admin.ssq.responder import SsqResponder, SsqTokens
from emu.admin.ssq.tables import SsqContent
from emu.net.udp.query import LONGEST_QUESTION, QueryCore
from emu.times import Monotonic
from tests.support.admin.ggmp import GRANT, TOKEN, FakeActors
from tests.support.admin.query_vectors import OneChallenge, read_examples
from tests.support.admin.statuses import crowd, server_status
from tests.support.admin.worked_examples import examples

DATAGRAMS = 3000
STATUS = server_status(players=crowd(60))
OGP_NUMBER, A2S_NUMBER = 0x11223344, 0x1D4F6AA1
MOST_ANSWERED = 16 * 1500


def ogp() -> QueryCore:
    content = content_of(STATUS, Presentation())
    return OgpResponder(lambda _now: content, OneChallenge(OGP_NUMBER))


def a2s() -> QueryCore:
    return A2sResponder(lambda _now: STATUS, OneChallenge(A2S_NUMBER))


def ssq() -> QueryCore:
    reported = SsqContent(STATUS, "192.0.2.1")
    return SsqResponder(lambda _now: reported, SsqTokens("john", bytes))


def ggmp() -> QueryCore:
    numbers = count()
    rules = GgmpRules((GRANT,), Grant("anybody", "", EVERYTHING))
    return GgmpServer(FakeActors(), rules, lambda end: next(numbers) % end)


def asked(name: str) -> list[bytes]:
    return [question for example in read_examples(name) for question, _ in example.exchanges]


def sent(name: str) -> list[bytes]:
    return [bytes.fromhex(question) for one in examples(name) for question in one["questions"]]


LONG = b"\1\0SELECT name,rulename WHERE ((ping > 10) or name != 'x') IDENTIFIED a HEADERS NULL"
ACTS = [
    push_message(GgmpMessage(GgmpMessageType.ARB_DATA, 0, 0, values=(utf8(TOKEN),))),
    push_message(GgmpMessage(GgmpMessageType.ACTION, 1, 5, act=GgmpAct(7, 2, 1, 100))),
    push_message(
        GgmpMessage(GgmpMessageType.ACTION_DATA_END, 1, 6, act=GgmpAct(7, 4), data=bytes(24))
    ),
]
PROTOCOLS: dict[str, tuple[Callable[[], QueryCore], list[bytes], bytes]] = {
    "ogp": (ogp, asked("ogp"), bytes.fromhex("ffffffff4f475000030000")),
    "a2s": (a2s, asked("a2s"), b"\xff\xff\xff\xffTSource Engine Query\0"),
    "ssq": (ssq, [*sent("ssq"), LONG, b"\1\0AUTH john"], b"\1\0PING"),
    "ggmp": (ggmp, [*sent("ggmp"), *ACTS], ACTS[0]),
}
"""By name: a core, questions that are broken, and one that is answered whatever came before."""


def broken(question: bytes, dice: random.Random) -> bytes:
    """Change a question in a few places."""
    data = bytearray(question)
    for _ in range(dice.randrange(1, 6)):
        at = dice.randrange(len(data) + 1)
        kind = dice.randrange(6)
        if kind == 0:
            data[at : at + dice.randrange(3)] = dice.randbytes(dice.randrange(4))
        elif kind == 1 and data:
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            data[at:at] = data[: dice.randrange(len(data) + 1)] * dice.choice((1, 2, 8))
        else:
            data[at:at] = bytes([dice.choice(b"\0\xff\x80()' ,\"")]) * dice.choice((1, 4, 300))
    return bytes(data[:LONGEST_QUESTION])


def nonsense(questions: list[bytes], dice: random.Random) -> bytes:
    if dice.random() < 0.8:
        return broken(dice.choice(questions), dice)
    return dice.randbytes(dice.choice((0, 1, 8, 24, 60, 1500, LONGEST_QUESTION)))


@pytest.mark.parametrize("name", PROTOCOLS)
def test_nonsense_ends_nothing(name: str) -> None:
    make, questions, good = PROTOCOLS[name]
    core, dice = make(), random.Random(23)
    for number in range(DATAGRAMS):
        data = nonsense(questions, dice)
        address = (f"10.0.0.{dice.randrange(20)}", dice.randrange(1, 4))
        now = Monotonic(number * 0.001)
        core.validates(data, address, now)
        assert sum(map(len, core.answer(data, address, now))) <= MOST_ANSWERED
        if isinstance(core, GgmpServer) and number % 20 == 0:
            core.handle_timer(now)
            core.data_to_send()
    assert core.answer(good, ("192.0.2.99", 9), Monotonic(10.0))
