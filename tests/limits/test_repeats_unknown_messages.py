"""Which unknown messages are reported."""

from __future__ import annotations

import pytest

from emu.limits import repeats
from emu.limits.repeats import MOST_OPCODES, UnknownMessages, first_bytes


def test_each_opcode_of_each_client_is_reported_once() -> None:
    unknown = UnknownMessages()
    assert unknown.is_new("alice", 7)
    assert not unknown.is_new("alice", 7)
    assert unknown.is_new("alice", 8)
    assert unknown.is_new("bob", 7)
    assert not unknown.is_new("bob", 7)


def test_invented_opcodes_of_a_client_are_reported_up_to_a_number() -> None:
    unknown = UnknownMessages()
    assert sum(unknown.is_new("alice", opcode) for opcode in range(1000)) == MOST_OPCODES


def test_the_client_silent_for_longest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats, "MOST_CLIENTS", 2)
    unknown = UnknownMessages()
    for client in ("alice", "bob", "alice", "carol"):
        unknown.is_new(client, 7)
    assert not unknown.is_new("alice", 7)
    assert unknown.is_new("bob", 7)


@pytest.mark.parametrize(
    ("body", "text"),
    [(b"", ""), (b"\x01\xff", "01 ff"), (bytes(16), "00 " * 15 + "00"),
     (bytes(17), "00 " * 16 + "...")],
)  # fmt: skip
def test_the_beginning_is_shown_as_digits(body: bytes, text: str) -> None:
    assert first_bytes(body) == text
