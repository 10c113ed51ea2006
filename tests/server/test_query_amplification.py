"""What a datagram without a proof draws at most: nobody can have a forged address flooded."""

from __future__ import annotations

from collections.abc import Callable
from secrets import randbelow

import pytest

from emu.admin.a2s.messages import A2sQuery, push_query
from emu.admin.a2s.responder import A2sResponder
from emu.admin.ggmp.acting import EVERYTHING, Grant
from emu.admin.ggmp.messages import GgmpAct, GgmpMessage, GgmpMessageType, push_message, utf8
from emu.admin.ggmp.server import GgmpRules, GgmpServer
from emu.admin.ogp.responder import OgpResponder, Presentation, content_of
from emu.admin.ssq.responder import SsqResponder, SsqTokens
from emu.admin.ssq.tables import SsqContent
from emu.limits.rates import Challenges
from emu.net.udp.query import QueryCore
from emu.times import Monotonic
from tests.support.admin.ggmp import GRANT, FakeActors
from tests.support.admin.statuses import crowd, server_status

NOW = Monotonic(100.0)
STATUS = server_status(players=crowd(500), rules=tuple((f"rule{n}", "x" * 80) for n in range(100)))


def a2s() -> QueryCore:
    return A2sResponder(lambda _now: STATUS, Challenges(bytes(16)))


def ogp() -> QueryCore:
    reported = content_of(STATUS, Presentation())
    return OgpResponder(lambda _now: reported, Challenges(bytes(16)))


def ssq() -> QueryCore:
    return SsqResponder(lambda _now: SsqContent(STATUS, "192.0.2.1"), SsqTokens("john", bytes))


def ggmp() -> QueryCore:
    anybody = Grant("anybody", "", EVERYTHING)
    return GgmpServer(FakeActors(), GgmpRules((GRANT,), anybody), randbelow)


def act(kind: GgmpMessageType, data: bytes = b"") -> bytes:
    return push_message(GgmpMessage(kind, 0, 0, act=GgmpAct(0, 1), data=data))


OGP = b"\xff\xff\xff\xffOGP\0"
CASES: dict[str, tuple[Callable[[], QueryCore], bytes, Callable[[int], int]]] = {
    "a2s info": (a2s, push_query(A2sQuery.INFO, None), lambda _size: 9),
    "a2s info, foreign challenge": (a2s, push_query(A2sQuery.INFO, 77), lambda _size: 9),
    "a2s players": (a2s, push_query(A2sQuery.PLAYERS, None), lambda _size: 9),
    "a2s rules": (a2s, push_query(A2sQuery.RULES, 77), lambda _size: 9),
    "a2s challenge": (a2s, b"\xff\xff\xff\xff\x57", lambda _size: 9),
    "ogp ping": (ogp, OGP + bytes.fromhex("030000"), lambda size: size + 4),
    "ogp query": (ogp, OGP + bytes.fromhex("030100"), lambda size: 2 * size + 9),
    "ogp every list": (ogp, OGP + bytes.fromhex("0301003f ff ff ff ff"), lambda size: 2 * size + 9),
    "ogp foreign challenge": (
        ogp, OGP + bytes.fromhex("07010211223344") + b"\x01\x80\x81\x03", lambda size: 2 * size + 9,
    ),
    "ogp unknown type": (ogp, OGP + bytes.fromhex("032200"), lambda size: size + 5),
    "ssq columns": (ssq, b"\0\0CL", lambda _size: 610),
    "ssq columns, long": (ssq, b"\0\0CL LONG", lambda _size: 920),
    "ssq wrong password": (ssq, b"\0\0AUTH x", lambda _size: 14),
    "ssq nonsense": (ssq, b"\0\0NO", lambda size: size),
    "ssq players": (ssq, b"\0\0SP players", lambda _size: 1400),
    "ssq rules": (ssq, b"\0\0SP rules", lambda _size: 1400),
    "ssq every column": (ssq, b"\0\0SELECT name,rulename,x-zone,x-zonename", lambda _size: 1400),
    "ggmp act": (ggmp, act(GgmpMessageType.ACTION), lambda size: size),
    "ggmp act with data": (ggmp, act(GgmpMessageType.ACTION_DATA_END, b"x"), lambda size: size),
    "ggmp raw data": (
        ggmp,
        push_message(GgmpMessage(GgmpMessageType.RAW_DATA, 0, 0, data=b"x")),
        lambda size: 2 * size,
    ),
    "ggmp wrong token": (
        ggmp, push_message(GgmpMessage(GgmpMessageType.ARB_DATA, 0, 0, values=(utf8("x" * 16),))),
        lambda _size: 0,
    ),
}  # fmt: skip
"""Core, question, and the most bytes that it draws, by its own size."""


@pytest.mark.parametrize("name", CASES)
def test_a_question_without_a_proof_draws_no_more_than_is_written_down(name: str) -> None:
    make, question, most = CASES[name]
    core = make()
    for port in range(1, 5):
        address = ("192.0.2.9", port)
        assert not core.validates(question, address, NOW)
        answers = core.answer(question, address, NOW)
        assert sum(map(len, answers)) <= most(len(question))
        assert len(answers) <= 2
