from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.console import LONGEST_LINE, MOST_WAITING, ConsoleSession
from emu.admin.ports import CommandGiven, SessionEnded
from emu.commands import Caller, Reply

CALLER = Caller("root", 1000, "console")


def asked(session: ConsoleSession) -> list[str]:
    lines = []
    while isinstance(event := session.next_event(), CommandGiven):
        assert event.caller == CALLER
        lines.append(event.line)
        session.answered(Reply((f"did {event.line}",), {"n": len(lines)}), 0.0)
    return lines


def replies(session: ConsoleSession) -> list[dict[str, object]]:
    return [json.loads(line) for line in b"".join(session.data_to_send()).splitlines()]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_requests_in_both_forms_are_answered_in_order(size: int) -> None:
    session = ConsoleSession(CALLER)
    data = b'status\n\n{"id": [7], "line": "kick Bob"}\r\n{broken\n{"x": 1}\n'
    lines = []
    for at in range(0, len(data), size):
        session.receive_data(data[at : at + size], 0.0)
        lines += asked(session)
    assert lines == ["status", "kick Bob", "{broken", '{"x": 1}']
    first, second, *_ = replies(session)
    assert first == {"id": None, "ok": True, "lines": ["did status"], "data": {"n": 1}}
    assert (second["id"], second["lines"]) == ([7], ["did kick Bob"])


def test_one_command_at_a_time_and_no_more_than_have_space() -> None:
    session = ConsoleSession(CALLER)
    session.receive_data(b"status\n" * (MOST_WAITING + 1), 0.0)
    assert not session.wants_data
    assert isinstance(session.next_event(), CommandGiven)
    assert session.next_event() is None
    session.answered(Reply(), 0.0)
    assert session.wants_data


@pytest.mark.parametrize("data", [b"x" * (LONGEST_LINE + 1), b"x" * (LONGEST_LINE + 1) + b"\n"])
def test_an_endless_line_ends_it(data: bytes) -> None:
    session = ConsoleSession(CALLER)
    session.receive_data(data, 0.0)
    assert session.next_event() == SessionEnded("line too long")
    session.receive_data(b"status\n", 0.0)
    assert session.next_event() is None


def test_the_longest_line_is_taken() -> None:
    session = ConsoleSession(CALLER)
    session.receive_data(b"x" * LONGEST_LINE + b"\n", 0.0)
    assert asked(session) == ["x" * LONGEST_LINE]


def test_control_characters_do_not_get_through() -> None:
    session = ConsoleSession(CALLER)
    session.receive_data(json.dumps({"line": "a\nb\x1b"}).encode() + b"\n", 0.0)
    assert asked(session) == ["a b"]


def test_data_that_json_does_not_know_is_text() -> None:
    session = ConsoleSession(CALLER)
    session.receive_data(b"x\n", 0.0)
    session.answered(Reply(data={"at": {1}}), 0.0)
    assert replies(session)[0]["data"] == {"at": "{1}"}


@given(st.lists(st.binary(max_size=50)))
def test_nothing_raises(chunks: list[bytes]) -> None:
    session = ConsoleSession(CALLER)
    for chunk in chunks:
        session.receive_data(chunk, 0.0)
        asked(session)
    session.connection_lost(0.0)
    assert session.closed
    assert session.data_to_send() == []
