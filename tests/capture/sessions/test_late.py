"""Messages of a session that began before the capture: found, decoded, or counted as lost."""

from __future__ import annotations

import zlib

import pytest

from emu.capture.sessions.late import (
    BEFORE,
    MAX_MESSAGES,
    NO_KEY,
    NO_PLACE,
    NO_VERSION,
    TOO_FEW,
    LateInflater,
    LateMessages,
)
from emu.session import LateMessage, Role, SessionConfig
from emu.session.codec import MessageCodec

KEY = bytes((8, 7, 6, 5, 4, 3, 2, 1))
SAID = [(n % 9, bytes([n]) * (n % 30)) for n in range(60)]


def cipher_texts(role: Role, said: list[tuple[int, bytes]]) -> list[bytes]:
    codec = MessageCodec(SessionConfig(), role, KEY)
    texts = [codec.encode(opcode, body) for opcode, body in said]
    return [text[1:] if text[0] == 0 else text for text in texts]


def late(role: Role, first_bytes: range = range(9)) -> LateMessages:
    made = LateMessages(from_client=role is Role.CLIENT, first_bytes=first_bytes, opcode_width=2)
    made.set_key(KEY)
    return made


def read(messages: LateMessages, texts: list[bytes]) -> list[tuple[int, bytes]]:
    return [(one.opcode, one.payload) for text in texts for one in messages.receive(text)]


@pytest.mark.slow
@pytest.mark.parametrize("role", [Role.CLIENT, Role.SERVER])
def test_messages_are_held_until_their_place_is_found(role: Role) -> None:
    messages = late(role)
    first, *others = cipher_texts(role, SAID)[20:]
    assert read(messages, [first]) == []
    assert read(messages, others) == SAID[20:]
    assert not messages.unread


def test_wide_opcodes_of_a_server_are_read() -> None:
    said = [*SAID, (300, b"wide")]
    assert read(late(Role.SERVER), cipher_texts(Role.SERVER, said)[20:]) == said[20:]


def test_a_key_may_come_later() -> None:
    messages = LateMessages(from_client=False, first_bytes=(), opcode_width=2)
    texts = cipher_texts(Role.SERVER, SAID)
    assert read(messages, texts[20:23]) == []
    messages.set_key(KEY)
    assert read(messages, texts[23:]) == SAID[20:]


def counted(messages: LateMessages, texts: list[bytes]) -> dict[str, int]:
    assert read(messages, texts) == []
    messages.close()
    return dict(messages.unread)


def test_what_cannot_be_read_is_counted_by_reason() -> None:
    texts = cipher_texts(Role.SERVER, SAID)[20:]
    keyless = LateMessages(from_client=False, first_bytes=(), opcode_width=2)
    assert counted(keyless, texts) == {NO_KEY: 40}
    assert counted(late(Role.SERVER), texts[:6]) == {TOO_FEW: 6}
    assert counted(late(Role.CLIENT, range(0)), texts) == {NO_VERSION: 40}
    wrong = LateMessages(from_client=False, first_bytes=(), opcode_width=2)
    wrong.set_key(KEY[::-1])
    assert counted(wrong, texts) == {NO_PLACE: 40}


def test_what_is_held_is_bounded() -> None:
    keyless = LateMessages(from_client=False, first_bytes=(), opcode_width=2)
    for _ in range(MAX_MESSAGES + 1):
        keyless.receive(b"x")
    assert keyless.unread == {NO_KEY: MAX_MESSAGES + 1}
    many = LateMessages(from_client=False, first_bytes=(), opcode_width=2)
    for _ in range(9):
        many.receive(bytes(500_000))
    assert many.unread == {NO_KEY: 9}


def pieces() -> tuple[list[bytes], list[bytes]]:
    packer = zlib.compressobj(9, zlib.DEFLATED, 13, 9)
    texts = [bytes(range(n, n + 150)) for n in (0, 3, 100, 6)]
    made = [packer.compress(text) + packer.flush(zlib.Z_SYNC_FLUSH) for text in texts]
    return texts, made


def test_a_deflate_stream_is_read_from_its_first_piece() -> None:
    texts, made = pieces()
    inflater = LateInflater()
    assert [inflater.inflate(piece) for piece in made] == texts


def test_pieces_that_refer_to_missing_ones_are_not_guessed() -> None:
    texts, made = pieces()
    inflater = LateInflater()
    assert inflater.inflate(made[1]) is None
    alone = zlib.compressobj(9, zlib.DEFLATED, -13, 9)
    piece = alone.compress(texts[2]) + alone.flush(zlib.Z_SYNC_FLUSH)
    assert inflater.inflate(piece) == texts[2]
    assert inflater.inflate(b"\xff\xff\xff") is None


def test_a_message_with_a_missing_past_is_counted() -> None:
    long = bytes(range(200))
    said = [(5, long), *SAID, (5, long), (6, long), (7, b"plain")]
    messages = late(Role.SERVER)
    texts = cipher_texts(Role.SERVER, said)[1:]
    *before, last = [one for text in texts for one in messages.receive(text)]
    assert [(one.opcode, one.payload) for one in before] == SAID
    assert [one.after_gap for one in before] == [True] + [False] * 59
    assert last == LateMessage(7, b"plain", after_gap=True)
    assert messages.unread == {BEFORE: 2}
