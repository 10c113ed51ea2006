from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.console import (
    LONGEST_LINE,
    LONGEST_TOKEN,
    MOST_WAITING,
    ConsoleFile,
    ConsoleSession,
)
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


def test_a_token_is_asked_for_before_the_first_command() -> None:
    session = ConsoleSession(CALLER, "secret")
    session.receive_data(b"sec", 0.0)
    assert asked(session) == []
    session.receive_data(b"ret\nstatus\n", 0.0)
    assert asked(session) == ["status"]


@pytest.mark.parametrize("line", [b"status\n", b"\n", b"secret2\nstatus\n", b"secre\nstatus\n"])
def test_a_wrong_token_ends_the_session(line: bytes) -> None:
    session = ConsoleSession(CALLER, "secret")
    session.receive_data(line, 0.0)
    assert asked(session) == []
    assert (session.closed, session.close_reason) == (True, "wrong token")


def test_without_a_token_little_is_kept() -> None:
    session = ConsoleSession(CALLER, "secret")
    session.receive_data(b"x" * (LONGEST_TOKEN + 1), 0.0)
    assert session.close_reason == "line too long"


def test_the_file_of_a_port_is_read_as_it_was_written() -> None:
    file = ConsoleFile(7777, "0123abcd")
    assert ConsoleFile.parse(file.written()) == file
    for text in ("", "7777 0123", "emu-console x y", "emu-console 1 2 3", "[database]"):
        assert ConsoleFile.parse(text) is None
