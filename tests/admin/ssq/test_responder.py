"""The worked examples byte for byte, and which answers anonymous senders get."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from emu.admin.ssq.packets import SsqPacket, pull_packet, push_packet
from emu.admin.ssq.query import PONG, Headers, pull_rows
from emu.admin.ssq.responder import SsqResponder, SsqRules, SsqTokens
from emu.admin.ssq.tables import INFO, PLAYERS, TABLES, SsqColumn, SsqContent, SsqTable
from emu.times import Monotonic
from tests.support.admin.worked_examples import examples, player_status, server_status
from tests.support.examples import tries

NOW = Monotonic(50.0)
ADDRESS = ("192.0.2.77", 5000)
EXAMPLES = {example["id"]: example for example in examples("ssq")}
COUNTS = {"frags": {"Bob": 10, "Zo\u00eb": 2}, "deaths": {"Bob": 3, "Zo\u00eb": 0}}


def counted(column: SsqColumn) -> SsqColumn:
    """The examples' players have killed and died, which ours never do."""
    counts = COUNTS.get(column.name)
    if counts is None:
        return column
    return dataclasses.replace(column, value=lambda _, player: counts[player.name])


def worked_tables(name: str) -> tuple[SsqTable, ...]:
    players = dataclasses.replace(PLAYERS, columns=tuple(map(counted, PLAYERS.columns)))
    if name != "ssq-cl-long":
        return (INFO, players, *TABLES[2:])
    shown = tuple(column for column in INFO.columns if column.name in ("hostname", "map"))
    return (dataclasses.replace(INFO, columns=shown),)


def responder(
    reported: SsqContent | None = None, password: str = "john", **rules: Any
) -> SsqResponder:
    reported = reported or SsqContent(server_status(), "192.0.2.1")
    return SsqResponder(lambda _now: reported, SsqTokens(password, bytes), SsqRules(**rules))


def body(made: SsqResponder, question: str, address: tuple[str, int] = ADDRESS) -> bytes:
    datagram = push_packet(SsqPacket(7, 1, 0, question.encode()))
    (answer,) = made.answer(datagram, address, NOW)
    packet = pull_packet(answer)
    assert packet.id == 7
    return packet.body


def rows(made: SsqResponder, question: str) -> list[list[str]]:
    return pull_rows(body(made, question))


def crowd(count: int) -> SsqContent:
    players = tuple(player_status(n, f"Player{n:04}") for n in range(count))
    return SsqContent(server_status(players=players), "192.0.2.1")


@pytest.mark.parametrize("name", EXAMPLES)
def test_worked_examples(name: str) -> None:
    worked = EXAMPLES[name]
    reported = crowd(300) if name == "ssq-split" else None
    made = responder(reported, server="eq2emu-py", tables=worked_tables(name), open_packets=16)
    (question,) = worked["questions"]
    asked = bytes.fromhex(question)
    answers = made.answer(asked, ADDRESS, NOW)
    assert [answer.hex() for answer in answers] == worked["answers"]


def test_a_token_opens_what_is_private_and_long() -> None:
    made = responder(crowd(300))
    (header, (token,)) = rows(made, "AUTH john")
    assert header == ["token"]
    question = push_packet(SsqPacket(1, 1, 0, f"SELECT name,playerip IDENTIFIED {token}".encode()))
    answers = made.answer(question, ADDRESS, NOW)
    assert len(answers) == 5
    assert b"192.0.2.9" in answers[0]
    (foreign,) = made.answer(question, ("192.0.2.78", 5000), NOW)
    assert b"192.0.2.9" not in foreign


def test_an_answer_without_a_token_is_one_datagram() -> None:
    made = responder(crowd(5000))
    assert 1380 < len(body(made, "SELECT playername")) <= 1398
    assert made.counters["cut"] == 1
    assert len(made.answer(b"\0\0CL LONG", ADDRESS, NOW)) == 1


def test_without_a_token_only_so_many_cells_are_looked_at() -> None:
    """A shown column and a compared one are two cells of each player."""
    question = "SELECT name WHERE name != 'nobody'"
    for count in (19, 20, 21, 22, 23):
        made = responder(crowd(count), open_cells=40, cells=44)
        assert len(rows(made, question)) == 1 + min(count, 20)
        (_, (token,)) = rows(made, "AUTH john")
        assert len(rows(made, f"{question} IDENTIFIED {token}")) == 1 + min(count, 22)
        wrong = "1" * len(token)
        assert len(rows(made, f"{question} IDENTIFIED {wrong}")) == 1 + min(count, 20)


def test_a_column_may_be_asked_for_64_times_and_no_more() -> None:
    made = responder(crowd(2))
    found = rows(made, f"SELECT {','.join(['name'] * 64)} WHERE ping > -1")
    assert [len(row) for row in found] == [64, 64]  # there is no space for the second player
    assert rows(made, f"SELECT {','.join(['name'] * 65)}") == [[]]


def test_the_list_of_columns_has_all_tables() -> None:
    names, tables, about = rows(responder(), "CL LONG")
    assert len(names) == len(tables) == len(about)
    assert dict(zip(names, about, strict=True))["playerip"] == "address (private)"
    assert list(dict.fromkeys(tables)) == ["info", "players", "rules", "x-zones", "x-worlds"]
    assert rows(responder(), "CL") == [names, tables]


@pytest.mark.parametrize("word", ["CL", "cl long", "CL LONG\r\n", f"CL IDENTIFIED {'0' * 32}"])
def test_the_list_of_columns_is_answered_as_the_document_describes_it(word: str) -> None:
    """Source: Standard Server Queries 0.31, Columns: the query is `CL [LONG]` and nothing more."""
    made = responder()
    (answer,) = made.answer(b"\7\0" + word.encode(), ADDRESS, NOW)
    assert answer.startswith(b"\7\0hostname\0")
    assert answer.endswith(b"\n\0")


def test_procedures_and_pings() -> None:
    made = responder()
    assert body(made, "PING") == body(made, "SP ping") == PONG
    assert rows(made, "SP x-zones")[1][:2] == ["Qeynos Harbor", "qeynos_harbor"]
    assert rows(made, "SP x-worlds")[1] == ["Norrath", "1", "0", "2"]
    assert rows(made, "SP rules")[1] == ["motd", "a\nb"]
    assert rows(made, "SP nosuch") == [[]]


def test_a_body_is_made_once_for_a_status() -> None:
    reported = [SsqContent(server_status(), "192.0.2.1")]
    made = SsqResponder(lambda _now: reported[0], SsqTokens("", bytes))
    first = body(made, "SP info")
    assert body(made, "SP info") is not None
    assert made.counters == {"select": 1, "answered again": 1}
    reported[0] = SsqContent(server_status(name="Freeport"), "192.0.2.1")
    assert body(made, "SP info") != first
    for number in range(200):
        body(made, f"SELECT a{number}")
    assert made.counters["select"] == 202


def test_guessing_ends_in_silence() -> None:
    made = responder()
    asked = [made.answer(b"\0\0AUTH no", ADDRESS, NOW) for _ in range(7)]
    assert [len(answers) for answers in asked] == [1] * 5 + [0] * 2
    assert made.counters["too many guesses"] == 2


def test_an_address_that_has_guessed_too_often_learns_nothing_of_what_it_sends() -> None:
    made = responder()
    for guess in range(5):
        assert not made.validates(b"\0\0AUTH %d" % guess, ADDRESS, NOW)
        (refused,) = made.answer(b"\0\0AUTH %d" % guess, ADDRESS, NOW)
    for password in (b"john", b"no", b""):
        data = b"\0\0AUTH " + password
        assert not made.validates(data, ADDRESS, NOW), "no bucket of its own, no proof"
        assert made.answer(data, ADDRESS, NOW) == []
    unknown = responder(password="").answer(b"\0\0AUTH john", ADDRESS, NOW)
    assert unknown == [refused]


def test_a_password_that_was_compared_is_not_compared_again() -> None:
    made = responder()
    for _ in range(5):
        data = b"\0\0AUTH no"
        made.validates(data, ADDRESS, NOW)
        assert len(made.answer(data, ADDRESS, NOW)) == 1
    assert made.answer(b"\0\0AUTH john", ADDRESS, NOW) == []
    other = ("192.0.2.78", 5000)
    right = b"\0\0AUTH john"
    assert made.validates(right, other, NOW)
    assert made.answer(right, ("192.0.2.79", 1), NOW), "another address, judged by itself"
    assert made.answer(b"\0\0AUTH x", other, NOW)


def test_a_question_may_come_in_parts() -> None:
    made = responder()
    assert made.answer(b"\x05\x10SP i", ADDRESS, NOW) == []
    (answer,) = made.answer(b"\x05\x11nfo", ADDRESS, NOW)
    assert answer[:2] == b"\x05\x00"
    assert b"Qeynos Harbor" in answer


@pytest.mark.parametrize("data", [b"", b"\0", b"\0\0", b"\0\0x", b"\0\0\n\0", b"\0\0\0\n\0x\0\n\0"])
def test_silence(data: bytes) -> None:
    assert responder().answer(data, ADDRESS, NOW) == []


def test_two_servers_set_on_one_another_come_to_an_end() -> None:
    made = responder()
    for question in (b"\0\0SP players", b"\0\0PING", b"\0\0AUTH x", b"\0\0CL LONG", b"\0\0no"):
        turns = 0
        waiting = made.answer(question, ADDRESS, NOW)
        while waiting:
            turns += 1
            waiting = made.answer(waiting[0], ADDRESS, NOW)
        assert turns <= 2


QUESTIONS = (b"SELECT name,hostname WHERE ping > 10 and (name != 'x' or max < 3) IDENTIFIED a",
             b"SP players", b"CL LONG", b"AUTH x", b"VERSION")  # fmt: skip


@pytest.mark.slow
@tries(100)
@given(st.sampled_from(QUESTIONS), st.lists(st.tuples(st.integers(0, 90), st.binary(max_size=3))))
@example(b"", [])
def test_mutated_questions(question: bytes, changes: list[tuple[int, bytes]]) -> None:
    data = bytearray(b"\x07\x00" + question)
    for at, new in changes:
        data[at : at + 1] = new
    made = responder()
    for answer in made.answer(bytes(data), ADDRESS, NOW):
        assert len(answer) <= 1400
    assert body(made, "PING") == PONG


@given(st.lists(st.binary(max_size=60), max_size=20))
def test_random_datagrams(datagrams: list[bytes]) -> None:
    made = responder()
    for data in datagrams:
        assert sum(map(len, made.answer(data, ADDRESS, NOW))) <= 1400
    assert body(made, "PING") == PONG


@pytest.mark.slow
def test_a_flood_of_invented_addresses_leaves_nothing_behind() -> None:
    made = responder()
    for number in range(20_000):
        address = (f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}", 1)
        made.answer(b"\x05\x10SP i%d" % number, address, NOW)
        made.answer(b"\x05\x00SELECT a%d" % number, address, NOW)
    assert len(made._joiner._pending) <= 64
    assert len(made._bodies) <= 64


def test_a_token_of_this_address_or_the_password_proves_it() -> None:
    made = responder()
    (_, (token,)) = rows(made, "AUTH john")
    elsewhere = ("192.0.2.78", 5000)
    for shown in (f"IDENTIFIED {token}", f"identified   '{token}' HEADERS NULL"):
        question = f"\x07\x00SELECT name {shown}".encode()
        assert made.validates(question, ADDRESS, NOW)
        assert not made.validates(question, elsewhere, NOW)
    assert made.validates(b"\x07\x00auth john\r\n", ADDRESS, NOW)
    nothing = (b"", b"\0\0", b"\0\0AUTH", b"\0\0AUTH John", b"\0\0AUTH \xff", b"\0\0SP info")
    assert not any(made.validates(data, ADDRESS, NOW) for data in nothing)
    assert not responder(password="").validates(b"\0\0AUTH ", ADDRESS, NOW)


def test_a_form_of_headers_may_be_preferred_and_another_asked_for() -> None:
    made = responder(headers=Headers.COMPACT)
    assert rows(made, "SELECT name,nosuch")[0] == ["1", "0"]
    assert rows(made, "SP info")[0] == ["1"] * 5
    assert rows(made, "SELECT name HEADERS NORMAL")[0] == ["name"]
    assert rows(responder(headers=Headers.NULL), "SP info")[0] == [""]
    assert rows(made, "CL")[0][0] == "hostname"
    made.configure(SsqRules())
    assert rows(made, "SELECT name,nosuch")[0] == ["name"]


@given(st.integers(512, 1400), st.integers(0, 400))
@tries(30)
def test_no_datagram_is_longer_than_wanted(size: int, count: int) -> None:
    made = responder(crowd(count), datagram_bytes=size)
    (_, (token,)) = rows(made, "AUTH john")
    question = push_packet(SsqPacket(1, 1, 0, f"SELECT name,x-race IDENTIFIED {token}".encode()))
    answers = made.answer(question, ADDRESS, NOW)
    assert all(len(answer) == size for answer in answers[:-1])
    assert len(answers[-1]) <= size
    reported = pull_rows(b"".join(pull_packet(answer).body for answer in answers))
    assert len(reported) == count + 1


def test_rules_have_a_source() -> None:
    status = server_status(rules=(("motd", "hi"), ("version", "1")), rule_sources={"motd": "world"})
    made = responder(SsqContent(status, "192.0.2.1"))
    assert rows(made, "SELECT rulename,source")[1:] == [["motd", "world"], ["version", "server"]]
    assert rows(made, "SELECT rulename WHERE source = World")[1:] == [["motd"]]
    assert rows(made, "SP rules")[0] == ["rulename", "rulevalue"]
