"""Bodies come back in both versions, fit where they must, and lies about them are refused."""

from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.ogp.elements import Name, bit, push_bits
from emu.admin.ogp.fields import COLORED, DIALECTS, PLAYERS, SERVER, V91, V94
from emu.admin.ogp.messages import (
    MOST_EMPTY,
    DefaultQuery,
    OgpContent,
    everything,
    pull_answer,
    pull_query,
    push_answer,
    push_query,
)
from emu.errors import MalformedMessage
from tests.support.admin.ogp_contents import contents

SPACE = 1 << 20
BITS = st.integers(0, (1 << 28) - 1)


@given(st.data())
def test_what_is_reported_comes_back(data: st.DataObject) -> None:
    dialect = data.draw(st.sampled_from(DIALECTS))
    content, colored = data.draw(contents(dialect))
    query = everything(dialect)
    if not colored:
        query = replace(query, requests=query.requests & ~COLORED)
    assert pull_answer(push_answer(content, query, dialect, SPACE), dialect) == content


@given(st.builds(DefaultQuery, *([BITS] * 7)), st.sampled_from(DIALECTS))
def test_a_question_is_read_in_the_version_it_was_written_in(query, dialect) -> None:
    body = push_query(query, dialect)
    found, read = pull_query(body, DIALECTS)
    assert found is dialect
    assert pull_query(push_query(read, dialect), DIALECTS) == (dialect, read)


def test_a_later_question_may_leave_out_the_arrays_that_it_has_no_use_for() -> None:
    mod, place = bit(1, 0), bit(1, 3)
    for server, more, mods, maps in (
        (mod, [0x1F], 0x1F, 0), (place, [3], 0, 3), (mod | place, [2, 1], 2, 1),
    ):  # fmt: skip
        body = b"".join(map(push_bits, [SERVER | PLAYERS, server, *more, 7]))
        expected = DefaultQuery(SERVER | PLAYERS, server, mods, maps, players=7)
        assert pull_query(body, DIALECTS) == (V94, expected)
    for wrong in ([SERVER, mod, 1, 2], [SERVER]):
        with pytest.raises(MalformedMessage):
            pull_query(b"".join(map(push_bits, wrong)), DIALECTS)


def test_a_question_of_one_version_is_refused_by_the_other() -> None:
    for ours, theirs in ((V91, V94), (V94, V91)):
        with pytest.raises(MalformedMessage):
            pull_query(push_query(everything(ours), ours), [theirs])


@pytest.mark.parametrize("body", ["", "81", "01", "010101", "00" * 9, "80" * 17])
def test_bodies_that_are_no_question(body: str) -> None:
    with pytest.raises(MalformedMessage):
        pull_query(bytes.fromhex(body), DIALECTS)


def crowd(count: int) -> OgpContent:
    return OgpContent(
        server={"host_name": Name("Qeynos")},
        players=[{"slot": slot, "name": Name(f"Player{slot:05}")} for slot in range(count)],
        rules=[(f"rule{number:03}", "x" * 20) for number in range(100)],
    )


@given(st.integers(100, 40_000))
def test_an_answer_fits_players_are_left_out_before_rules(bench: int) -> None:
    body = push_answer(crowd(1000), everything(V91), V91, bench)
    assert len(body) <= bench
    shown = pull_answer(body, V91)
    assert shown.server == {"host_name": Name("Qeynos")}
    if shown.players:
        assert len(shown.rules or ()) == 100
        assert shown.players == list(crowd(len(shown.players)).players or ())
    if bench > 20_000:
        assert len(shown.players or ()) == 1000


def test_fields_that_are_not_asked_for_are_not_reported() -> None:
    query = DefaultQuery(PLAYERS, players=1 << 1)
    shown = pull_answer(push_answer(crowd(3), query, V91, SPACE), V91)
    assert shown == OgpContent(players=[{"slot": 0}, {"slot": 1}, {"slot": 2}])
    nothing = push_answer(crowd(3), DefaultQuery(PLAYERS), V91, SPACE)
    assert pull_answer(nothing, V91).players == [{}, {}, {}]


def test_a_next_map_is_not_reported_without_the_map_in_the_later_version() -> None:
    place = {"name": "Harbor", "file": "qey_harbor"}
    content = OgpContent(server={"next_map": place})
    assert pull_answer(push_answer(content, everything(V94), V94, SPACE), V94).server == {}
    assert pull_answer(push_answer(content, everything(V91), V91, SPACE), V91) == content


@pytest.mark.parametrize(
    "body",
    ["", "00", "000004", "000004ffffffffffffff02", "000008ff", "00000800ff", "000001ff7f",
     "0000010141", "00000481", "0000040102"],
)  # fmt: skip
def test_answers_that_lie_are_refused(body: str) -> None:
    with pytest.raises(MalformedMessage):
        pull_answer(bytes.fromhex(body), V91)


def test_a_count_of_empty_entries_is_believed_up_to_a_bound() -> None:
    shown = pull_answer(bytes.fromhex("000004ffffffffffffff00"), V91)
    assert len(shown.players or ()) == MOST_EMPTY


@given(st.binary(max_size=200), st.sampled_from(DIALECTS))
def test_any_bytes_are_read_or_refused(body: bytes, dialect) -> None:
    for read in (lambda: pull_answer(body, dialect), lambda: pull_query(body, [dialect])):
        with suppress(MalformedMessage):
            read()


def test_everything_asks_for_each_section_of_the_version() -> None:
    assert everything(V91).requests == 0xBF
    assert everything(V94).requests == 0x3F
    assert everything(V91).requests & SERVER


@given(st.data())
def test_what_was_written_for_one_question_is_right_for_another(data: st.DataObject) -> None:
    dialect = data.draw(st.sampled_from(DIALECTS))
    content, _ = data.draw(contents(dialect))
    for _ in range(3):
        query = replace(everything(dialect), players=data.draw(BITS), teams=data.draw(BITS))
        query = replace(query, requests=query.requests ^ data.draw(st.sampled_from((0, COLORED))))
        fresh = replace(content, columns={})
        assert push_answer(content, query, dialect, SPACE) == push_answer(
            fresh, query, dialect, SPACE
        )
