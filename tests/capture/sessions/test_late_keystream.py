"""Finding the place of cipher text in a key stream whose key is known."""

from __future__ import annotations

import random

import pytest

from emu.capture.sessions.late import KeyStream, find_positions, messages_needed
from emu.session import Role
from emu.session.codec import CipherPair

KEY = bytes((8, 7, 6, 5, 4, 3, 2, 1))


@pytest.mark.parametrize("from_client", [True, False])
def test_a_stream_is_the_one_of_its_direction(from_client: bool) -> None:
    pair = CipherPair(KEY, Role.CLIENT if from_client else Role.SERVER)
    whole = pair.encrypt(bytes(100))
    assert KeyStream(KEY, from_client=from_client).apply(whole) == bytes(100)
    assert KeyStream(KEY, from_client=from_client, position=60).apply(whole[60:]) == bytes(40)


def cipher_texts(position: int, first_bytes: list[int], count: int) -> list[bytes]:
    draw = random.Random(position)
    stream = KeyStream(KEY, from_client=False, position=position)
    return [
        stream.apply(bytes((draw.choice(first_bytes),)) + draw.randbytes(draw.randrange(60)))
        for _ in range(count)
    ]


FURTHER = [pytest.param(at, marks=pytest.mark.slow) for at in (1, 68, 5_000_000)]


@pytest.mark.slow
@pytest.mark.parametrize("position", [0, 70_000, *FURTHER])
@pytest.mark.parametrize("first_bytes", [[0, 1], list(range(60))])
def test_the_place_is_found_with_the_messages_that_are_needed(
    position: int, first_bytes: list[int]
) -> None:
    needed = messages_needed(first_bytes)
    assert needed is not None
    messages = cipher_texts(position, first_bytes, needed)
    stream = KeyStream(KEY, from_client=False)
    assert find_positions(stream, messages, first_bytes) == (position, True)


def test_too_few_messages_fit_at_many_places_and_a_wrong_key_at_none() -> None:
    messages = cipher_texts(1000, [0, 1], 8)
    place, only = find_positions(KeyStream(KEY, from_client=False), messages[:1], [0, 1])
    assert place >= 0
    assert not only
    other = KeyStream(KEY[::-1], from_client=False)
    assert find_positions(other, messages, [0, 1]) == (-1, False)


def test_what_says_nothing_needs_more_messages_than_there_are() -> None:
    assert messages_needed(range(2)) == 7
    assert messages_needed(()) is None
    assert messages_needed(range(256)) is None
    assert messages_needed(range(255)) is None
