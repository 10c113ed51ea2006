import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.a2s.messages import (
    INFO_QUERY,
    PREFIX,
    A2sAnswer,
    A2sInfo,
    A2sPlayer,
    A2sQuery,
    pull_answer,
    pull_challenge,
    pull_info,
    pull_players,
    pull_query,
    pull_rules,
    push_challenge,
    push_info,
    push_players,
    push_query,
    push_rules,
)
from emu.errors import MalformedMessage

TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=20)
U8, U16 = st.integers(0, 0xFF), st.integers(0, 0xFFFF)
INFOS = st.builds(
    A2sInfo, TEXTS, TEXTS, TEXTS, TEXTS, U8, U8, TEXTS, app_id=U16, bots=U8,
    kind=st.sampled_from("dlp"), system=st.sampled_from("lwm"), private=st.booleans(),
    secured=st.booleans(), port=U16, keywords=TEXTS, game_id=st.integers(0, (1 << 64) - 1),
)  # fmt: skip
PLAYERS = st.builds(
    A2sPlayer, TEXTS, st.integers(-0x80000000, 0x7FFFFFFF), st.floats(0, 1e9, width=32)
)
RULES = st.tuples(TEXTS, TEXTS)
SPACE = 1 << 20


@given(st.sampled_from(A2sQuery), st.none() | st.integers(0, 0xFFFFFFFE), st.binary(max_size=9))
def test_a_question_comes_back_whatever_stands_behind_it(query, number, behind) -> None:
    expected = None if query is A2sQuery.CHALLENGE else number
    asked = push_query(query, number)
    assert pull_query(asked) == (query, expected)
    if number is not None:
        assert pull_query(asked + behind) == (query, expected)


@pytest.mark.parametrize(
    "data",
    ["", "ffffffff", "ffffffff99", "ffffffff54", "ffffffff55", "ffffffff56010203", "feffffff57",
     "ffffffff54536f7572636520456e67696e652051756572", "ffffffff6900"],
)  # fmt: skip
def test_what_is_no_question_is_refused(data: str) -> None:
    with pytest.raises(MalformedMessage):
        pull_query(bytes.fromhex(data))


def test_an_info_without_a_whole_number_asks_for_one() -> None:
    assert pull_query(INFO_QUERY + b"\1\2\3") == (A2sQuery.INFO, None)
    assert pull_query(INFO_QUERY + b"\xff\xff\xff\xff") == (A2sQuery.INFO, None)


@given(INFOS)
def test_an_info_comes_back(info: A2sInfo) -> None:
    kind, reader = pull_answer(push_info(info))
    assert (kind, pull_info(reader), reader.is_done) == (A2sAnswer.INFO, info, True)


def test_counts_that_do_not_fit_are_255() -> None:
    info = A2sInfo("a", "b", "c", "d", players=1000, places=500, version="1")
    _, reader = pull_answer(push_info(info))
    shown = pull_info(reader)
    assert (shown.players, shown.places) == (255, 255)


def test_an_info_of_other_servers_is_read() -> None:
    plain = push_info(A2sInfo("a", "b", "c", "d", 1, 2, "1.0"))
    cut = plain.index(b"1.0\0") + 4
    _, reader = pull_answer(plain[:cut])
    assert pull_info(reader).port == 0
    more = b"\xf1" + struct.pack("<HQH", 27015, 7, 27020) + b"tv\0tags\0" + struct.pack("<Q", 9)
    _, reader = pull_answer(plain[:cut] + more)
    shown = pull_info(reader)
    assert (shown.port, shown.keywords, shown.game_id) == (27015, "tags", 9)


@given(st.lists(PLAYERS, max_size=20))
def test_players_come_back(players: list[A2sPlayer]) -> None:
    kind, reader = pull_answer(push_players(players, SPACE))
    assert (kind, pull_players(reader), reader.is_done) == (A2sAnswer.PLAYERS, players, True)


@given(st.lists(RULES, max_size=20))
def test_rules_come_back(rules: list[tuple[str, str]]) -> None:
    kind, reader = pull_answer(push_rules(rules, SPACE))
    assert (kind, pull_rules(reader), reader.is_done) == (A2sAnswer.RULES, rules, True)


@given(st.integers(7, 3000))
def test_what_does_not_fit_is_left_out(bench: int) -> None:
    players = [A2sPlayer(f"Player{number:03}", number, 1.0) for number in range(300)]
    rules = [(f"rule{number:03}", "x" * 20) for number in range(300)]
    for data, pull, all_of_them in (
        (push_players(players, bench), pull_players, players),
        (push_rules(rules, bench), pull_rules, rules),
    ):
        assert len(data) <= bench
        _, reader = pull_answer(data)
        shown = pull(reader)
        assert shown == all_of_them[: len(shown)]
        assert reader.is_done
    assert len(pull_players(pull_answer(push_players(players, SPACE))[1])) == 255


def test_a_challenge_comes_back() -> None:
    kind, reader = pull_answer(push_challenge(0x1D4F6AA1))
    assert (kind, pull_challenge(reader)) == (A2sAnswer.CHALLENGE, 0x1D4F6AA1)


@given(st.sampled_from(A2sAnswer), st.binary(max_size=100))
def test_any_bytes_are_an_answer_or_refused(kind: A2sAnswer, data: bytes) -> None:
    pulls = (pull_challenge, pull_info, pull_players, pull_rules)
    for start in (b"", PREFIX, PREFIX + bytes((kind,))):
        for pull in pulls:
            with suppress(MalformedMessage):
                pull(pull_answer(start + data)[1])
