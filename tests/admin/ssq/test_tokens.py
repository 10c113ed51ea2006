from itertools import count

import pytest

from emu.admin.ssq.tokens import MOST_TOKENS, Tokens
from emu.times import Monotonic

NOW = Monotonic(1000.0)
HOST = "192.0.2.9"


def at(seconds: float) -> Monotonic:
    return Monotonic(NOW + seconds)


@pytest.fixture
def tokens() -> Tokens:
    numbers = count()
    return Tokens("john", lambda size: next(numbers).to_bytes(size, "big"))


def test_the_password_brings_a_token(tokens: Tokens) -> None:
    token = tokens.give("john", HOST, NOW)
    assert token == "0" * 32
    assert tokens.accepts(token, HOST, NOW)
    assert not tokens.accepts(token, "192.0.2.10", NOW)
    assert not tokens.accepts("", HOST, NOW)


def test_guessing_ends_in_silence_and_begins_again(tokens: Tokens) -> None:
    assert [tokens.give("no", HOST, NOW) for _ in range(6)] == [""] * 5 + [None]
    assert tokens.give("john", HOST, NOW) is None
    assert tokens.give("john", "192.0.2.10", NOW)
    assert tokens.give("john", HOST, at(13))


def test_without_a_password_nobody_gets_a_token() -> None:
    assert Tokens("", bytes).give("", HOST, NOW) == ""


def test_a_token_ends(tokens: Tokens) -> None:
    token = tokens.give("john", HOST, NOW) or ""
    assert tokens.accepts(token, HOST, at(890))
    assert tokens.accepts(token, HOST, at(1700))
    assert not tokens.accepts(token, HOST, at(2700))
    token = tokens.give("john", HOST, NOW) or ""
    for seconds in range(0, 3601, 600):
        assert tokens.accepts(token, HOST, at(seconds))
    assert not tokens.accepts(token, HOST, at(3601))


def test_the_tokens_unused_for_longest_are_forgotten(tokens: Tokens) -> None:
    given = [tokens.give("john", HOST, NOW) or "" for _ in range(2)]
    assert tokens.accepts(given[0], HOST, NOW)
    for _ in range(MOST_TOKENS - 1):
        tokens.give("john", HOST, NOW)
    assert tokens.accepts(given[0], HOST, NOW)
    assert not tokens.accepts(given[1], HOST, NOW)
