"""The responder: the worked examples byte for byte, abuse, and any bytes at all."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.a2s.messages import (
    MOST_BYTES,
    A2sInfo,
    A2sQuery,
    pull_query,
    push_info,
    push_query,
    push_rules,
)
from emu.admin.a2s.responder import MOST_DATAGRAMS, A2sResponder
from emu.limits.rates import PERIOD, Challenges
from emu.times import Monotonic
from tests.support.admin.query_vectors import Example, OneChallenge, read_examples
from tests.support.admin.statuses import crowd, server_status

ASKER = ("192.0.2.7", 5000)
NOW = Monotonic(1000.0)
NUMBER = 0x1D4F6AA1
EXAMPLES = read_examples("a2s")
REPORTED = {
    A2sQuery.INFO: push_info(
        A2sInfo("Qeynos", "qey_harbor", "eq2", "EverQuest II", 2, 255, "0.1.0", port=9000,
             keywords="eq2,pve")
    ),
    A2sQuery.RULES: push_rules([("motd", "hi")], MOST_BYTES),
}  # fmt: skip
"""The server of the worked examples."""


def responder(**status) -> A2sResponder:
    shown = server_status(**status)
    return A2sResponder(lambda _now: shown, OneChallenge(NUMBER))


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_worked_examples_byte_for_byte(example: Example) -> None:
    made = responder(places=255)
    for asked, answers in example.exchanges:
        query, number = pull_query(asked)
        if number == NUMBER:
            assert [REPORTED[query]] == answers
        if number != NUMBER or query is A2sQuery.INFO:
            assert made.answer(asked, ASKER, NOW) == answers


@pytest.mark.parametrize("query", list(A2sQuery), ids=lambda one: one.name)
def test_without_a_number_there_are_nine_bytes_only(query: A2sQuery) -> None:
    made = responder(players=crowd(200))
    for number in (None, 5):
        (answer,) = made.answer(push_query(query, number), ASKER, NOW)
        assert answer == bytes.fromhex("ffffffff41a16a4f1d")


def test_a_number_is_an_addresses_own_whatever_its_port_and_does_not_last() -> None:
    challenges = Challenges(bytes(16))
    made = A2sResponder(lambda _now: server_status(), challenges)
    (shown,) = made.answer(push_query(A2sQuery.INFO, None), ASKER, NOW)
    asked = push_query(A2sQuery.INFO, int.from_bytes(shown[5:], "little"))
    assert made.answer(asked, (ASKER[0], 6), NOW)[0][4:5] == b"I"
    assert made.answer(asked, ("192.0.2.8", 5000), NOW)[0][4:5] == b"A"
    assert made.answer(asked, ASKER, Monotonic(NOW + 2 * PERIOD))[0][4:5] == b"A"


def test_players_are_kept_to_one_datagram_and_rules_to_a_few() -> None:
    rules = tuple((f"rule {number:04}", "x" * 40) for number in range(1000))
    made = responder(players=crowd(500), rules=rules)
    (players,) = made.answer(push_query(A2sQuery.PLAYERS, NUMBER), ASKER, NOW)
    assert len(players) <= MOST_BYTES
    parts = made.answer(push_query(A2sQuery.RULES, NUMBER), ASKER, NOW)
    assert len(parts) == MOST_DATAGRAMS
    assert all(len(part) <= MOST_BYTES for part in parts)


def test_numbers_of_split_answers_look_compressed_to_nobody() -> None:
    made = responder(rules=tuple((f"rule {number:04}", "x" * 40) for number in range(100)))
    made._number = 0x7FFD
    ids = set()
    for _ in range(5):
        for part in made.answer(push_query(A2sQuery.RULES, NUMBER), ASKER, NOW):
            ids.add(int.from_bytes(part[4:8], "little"))
    assert len(ids) == 5
    assert not any(one & 0x80008000 for one in ids)


def test_an_answer_is_made_once_for_each_status() -> None:
    statuses = [server_status()]
    made = A2sResponder(lambda _now: statuses[-1], OneChallenge(NUMBER))
    asked = push_query(A2sQuery.INFO, NUMBER)
    (first,) = made.answer(asked, ASKER, NOW)
    assert made.answer(asked, ASKER, NOW)[0] is first
    statuses.append(server_status(name="Freeport"))
    assert b"Freeport" in made.answer(asked, ASKER, NOW)[0]


def test_what_is_no_question_is_counted_by_its_reason() -> None:
    made = responder()
    for data in (b"", b"\xff\xff\xff\xff\x99", b"\xfe\xff\xff\xff\x55"):
        assert made.answer(data, ASKER, NOW) == []
    assert made.counters == {"no question": 2, "unknown question": 1}


def test_our_own_answers_are_no_questions() -> None:
    made = responder()
    for query in A2sQuery:
        for number in (None, NUMBER):
            for answer in made.answer(push_query(query, number), ASKER, NOW):
                assert made.answer(answer, ASKER, NOW) == []


@given(st.binary(max_size=100), st.sampled_from([b"", b"\xff\xff\xff\xff", b"\xff\xff\xff\xffU"]))
def test_any_bytes_draw_nine_at_most_without_a_number(data: bytes, start: bytes) -> None:
    made = A2sResponder(lambda _now: server_status(), Challenges(bytes(16)))
    assert sum(map(len, made.answer(start + data, ASKER, NOW))) <= 9


@pytest.mark.slow
def test_a_flood_of_invented_addresses_leaves_nothing_behind() -> None:
    made = A2sResponder(lambda _now: server_status(), Challenges(bytes(16)))
    asked = push_query(A2sQuery.INFO, None)
    tracemalloc.start()
    try:
        for number in range(10_000):
            host = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"
            made.answer(asked, (host, 5000), NOW)
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert grown < 100_000


def test_only_a_challenge_of_this_address_proves_it() -> None:
    made = A2sResponder(lambda _now: server_status(), challenges := Challenges(bytes(16)))
    number = challenges.issue(ASKER[0], 0, NOW)
    for query in (A2sQuery.INFO, A2sQuery.PLAYERS, A2sQuery.RULES):
        assert made.validates(push_query(query, number), ASKER, NOW)
        assert not made.validates(push_query(query, number), ("192.0.2.8", 5000), NOW)
        assert not made.validates(push_query(query, number), ASKER, NOW + 2 * PERIOD)
        assert not made.validates(push_query(query, None), ASKER, NOW)
    assert not made.validates(b"", ASKER, NOW)
