"""Whoever repeats himself gets one line, then a number."""

from __future__ import annotations

import tracemalloc

import pytest

from emu.limits.repeats import (
    MOST_NEWS,
    MOST_NEWS_OF_BOTH,
    MOST_NEWS_OF_ONE,
    MOST_ORDINARY_OF_ACCOUNT,
    MOST_ORDINARY_OF_ADDRESS,
    MOST_REASONS,
    OTHER_REASONS,
    Repeats,
)

HERE = "192.0.2.1"


def counted(repeats: Repeats) -> list[tuple[str, str, str, dict[str, int]]]:
    return [
        (one.kind, one.account, one.address, dict(one.reasons)) for one in repeats.take_counts()
    ]


def test_the_first_is_reported_and_the_rest_are_counted_by_reason() -> None:
    repeats = Repeats()
    assert repeats.is_news("login", "Bob", HERE, "bad password")
    for _ in range(9):
        assert not repeats.is_news("login", "bob", HERE, "bad password")
    assert repeats.is_news("login", "BOB", HERE, "too many attempts"), "another reason"
    assert not repeats.is_news("login", "BOB", HERE, "too many attempts")
    assert repeats.is_news("play", "Bob", HERE, "locked"), "another matter"
    assert repeats.is_news("login", "Bob", "192.0.2.2", "bad password")
    assert counted(repeats) == [("login", "bob", HERE, {"bad password": 9, "too many attempts": 1})]
    assert counted(repeats) == []
    assert repeats.is_news("login", "bob", HERE, "bad password"), "counting begins anew"


def test_many_names_from_one_address_and_one_name_from_many_are_summed_up() -> None:
    repeats = Repeats()
    news = [repeats.is_news("login", f"user{n}", HERE, "no such account") for n in range(500)]
    assert news.count(True) == MOST_NEWS_OF_ONE
    assert counted(repeats) == [
        ("login", "", HERE, {"no such account": 500 - MOST_NEWS_OF_ONE}),
    ]
    news = [repeats.is_news("login", "bob", f"10.0.{n}.1", "bad password") for n in range(200)]
    assert news.count(True) == MOST_NEWS_OF_ONE
    assert counted(repeats) == [("login", "bob", "", {"bad password": 200 - MOST_NEWS_OF_ONE})]


def test_those_without_an_account_are_kept_apart_by_address() -> None:
    repeats = Repeats()
    assert all(repeats.is_news("entry", "", f"10.0.0.{n}", "no key") for n in range(50))


def test_reasons_that_quote_a_peer_are_not_reported_for_long() -> None:
    repeats = Repeats()
    news = [repeats.is_news("login", "bob", HERE, f"version {n}") for n in range(100)]
    assert news.count(True) == MOST_NEWS_OF_BOTH
    ((*_, reasons),) = counted(repeats)
    assert sum(reasons.values()) == 100 - MOST_NEWS_OF_BOTH
    assert len(reasons) == MOST_REASONS + 1


@pytest.mark.slow
def test_lines_and_memory_are_bounded_for_any_sender() -> None:
    repeats = Repeats()
    tracemalloc.start()
    news = sum(
        repeats.is_news("login", f"user{n}", f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}", f"why {n}")
        for n in range(50_000)
    )
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert news == MOST_NEWS
    assert most < 500_000
    ((_, account, address, reasons),) = counted(repeats)
    assert (account, address) == ("", "")
    assert len(reasons) == MOST_REASONS + 1
    assert sum(reasons.values()) == 50_000 - MOST_NEWS
    assert reasons[OTHER_REASONS] == 50_000 - MOST_NEWS - MOST_REASONS


def test_ordinary_events_of_an_account_are_reported_up_to_a_number_and_then_counted() -> None:
    repeats = Repeats()
    for _ in range(MOST_ORDINARY_OF_ACCOUNT):
        assert repeats.is_within_rate("arrivals", "Bob", HERE, "came in")
    for _ in range(5):
        assert not repeats.is_within_rate("arrivals", "bob", HERE, "came in")
    assert repeats.is_within_rate("departures", "bob", HERE, "quit"), "another matter"
    assert repeats.is_within_rate("arrivals", "ann", HERE, "came in"), "somebody else"
    assert counted(repeats) == [("arrivals", "bob", "", {"came in": 5})]
    assert repeats.is_within_rate("arrivals", "bob", HERE, "came in"), "counting begins anew"


def test_ordinary_acts_are_summed_up_for_an_address_as_well() -> None:
    repeats = Repeats()
    for number in range(MOST_ORDINARY_OF_ADDRESS):
        assert repeats.is_within_rate("arrivals", f"player{number}", HERE, "came in")
    assert not repeats.is_within_rate("arrivals", "one more", HERE, "came in")
    assert repeats.is_within_rate("arrivals", "elsewhere", "192.0.2.77", "came in")
    assert counted(repeats) == [("arrivals", "", HERE, {"came in": 1})]
