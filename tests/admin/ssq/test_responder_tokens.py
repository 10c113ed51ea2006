from itertools import count

import pytest

from emu.admin.ssq.responder import MOST_TOKENS, SsqTokens
from emu.times import Monotonic

NOW = Monotonic(1000.0)
HOST = "192.0.2.9"


def ask(tokens: SsqTokens, password: str, host: str = HOST, now: Monotonic = NOW) -> str | None:
    """Ask for a token as AUTH does: empty for a wrong password, None for one try too many."""
    is_right = tokens.judge(password, host, now)
    return None if is_right is None else tokens.give(host, now) if is_right else ""


def at(seconds: float) -> Monotonic:
    return Monotonic(NOW + seconds)


@pytest.fixture
def tokens() -> SsqTokens:
    numbers = count()
    return SsqTokens("john", lambda size: next(numbers).to_bytes(size, "big"))


def test_the_password_brings_a_token(tokens: SsqTokens) -> None:
    token = ask(tokens, "john")
    assert token == "0" * 32
    assert tokens.accepts(token, HOST, NOW)
    assert not tokens.accepts(token, "192.0.2.10", NOW)
    assert not tokens.accepts("", HOST, NOW)


def test_guessing_ends_in_silence_and_begins_again(tokens: SsqTokens) -> None:
    assert [ask(tokens, "no") for _ in range(6)] == [""] * 5 + [None]
    assert ask(tokens, "john") is None
    assert ask(tokens, "john", "192.0.2.10")
    assert ask(tokens, "john", now=at(13))


def test_without_a_password_nobody_gets_a_token() -> None:
    assert ask(SsqTokens("", bytes), "") == ""


def test_a_token_ends(tokens: SsqTokens) -> None:
    token = ask(tokens, "john") or ""
    assert tokens.accepts(token, HOST, at(890))
    assert tokens.accepts(token, HOST, at(1700))
    assert not tokens.accepts(token, HOST, at(2700))
    token = ask(tokens, "john") or ""
    for seconds in range(0, 3601, 600):
        assert tokens.accepts(token, HOST, at(seconds))
    assert not tokens.accepts(token, HOST, at(3601))


def test_the_tokens_unused_for_longest_are_forgotten(tokens: SsqTokens) -> None:
    given = [ask(tokens, "john") or "" for _ in range(2)]
    assert tokens.accepts(given[0], HOST, NOW)
    for _ in range(MOST_TOKENS - 1):
        ask(tokens, "john")
    assert tokens.accepts(given[0], HOST, NOW)
    assert not tokens.accepts(given[1], HOST, NOW)


def test_a_right_password_costs_nothing_and_no_other_address_pays(tokens: SsqTokens) -> None:
    assert all(tokens.judge("john", HOST, NOW) for _ in range(100))
    for number in range(5):
        assert tokens.judge("no", f"2001:db8::{number}", NOW) is False
    assert tokens.judge("john", "2001:db8::9", NOW) is None
    assert tokens.judge("john", "2001:db8:1::9", NOW)
