"""Which message may come when, and that no message can do harm."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.login.client import END_STATES, ClientState
from emu.login.events import UnknownMessage, format_event
from emu.model import CreateResponse, PlayResponse
from emu.versions import LOGIN_VERSION_STEPS
from tests.support.examples import tries
from tests.support.login.login_harness import (
    Harness,
    character,
    create_request,
    delete_request,
    login_request,
    play_request,
)

NAMES = sorted(Harness().server.messages)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "OP_LoginRequestMsg"])
def test_before_login_nothing_else_is_handled(harness: Harness, name: str) -> None:
    client, link = harness.connect()
    harness.send(client, name, bytes(64))
    assert link.take() == []
    assert link.closed is None
    assert client.state is ClientState.CONNECTED
    assert client.drops == {"message before login": 1}
    harness.send(client, 0, login_request(b"tester", b"secret", 546))
    assert client.is_logged_in


@pytest.mark.parametrize("name", ["OP_KeymapLoadMsg", "OP_AllCharactersDescRequestMsg"])
@pytest.mark.parametrize("version", LOGIN_VERSION_STEPS)
def test_messages_that_need_no_answer_get_none(harness: Harness, name: str, version: int) -> None:
    client, link = harness.login(version)
    harness.send(client, name, b"whatever")
    assert link.take() == []
    assert client.drops == {}


@pytest.mark.parametrize("number", [15, 153 + 1, 254, 255, 65535])
def test_messages_nobody_handles_are_counted_and_the_session_stays(
    harness: Harness, number: int
) -> None:
    client, link = harness.login(546)
    harness.send(client, number, b"whatever")
    assert link.take() == []
    assert link.closed is None
    assert client.drops == {"unknown message": 1}
    assert harness.service.journal.counters["unknown message"] == 1
    (logged,) = harness.events.of(UnknownMessage)
    assert (logged.opcode, logged.version, logged.length) == (number, 546, 8)
    assert logged.begin == b"whatever".hex(" ")
    assert logged.level == "info"
    harness.send(client, number, b"again")
    assert harness.service.journal.counters["unknown message"] == 2
    assert len(harness.events.of(UnknownMessage)) == 1


def test_an_unknown_message_has_its_name_and_is_logged_again_for_another_account(
    harness: Harness,
) -> None:
    client, _ = harness.login(546)
    number = client.dialect.table.number("OP_WSServerLockMsg")
    harness.send(client, number, b"")
    (logged,) = harness.events.of(UnknownMessage)
    assert f"unknown message {number} OP_WSServerLockMsg of tester from" in format_event(logged)
    assert "client 546: 0 bytes" in format_event(logged)


@pytest.mark.parametrize(
    "name",
    ["OP_CreateCharacterRequestMsg", "OP_DeleteCharacterRequestMsg", "OP_PlayCharacterRequestMsg"],
)
def test_while_a_world_is_asked_to_let_in_nothing_else_is_changed(
    harness: Harness, name: str
) -> None:
    harness.store.rows = [character(), character(6, "Borvik")]
    client, link = harness.login(1208)
    harness.send(client, "OP_PlayCharacterRequestMsg", play_request(1208, 5))
    bodies = {
        "OP_CreateCharacterRequestMsg": create_request(1208),
        "OP_DeleteCharacterRequestMsg": delete_request(6, b"Borvik"),
        "OP_PlayCharacterRequestMsg": play_request(1208, 6),
    }
    harness.send(client, name, bodies[name])
    assert link.take() == []
    assert client.drops == {"message out of order": 1}
    assert harness.worlds.creates == harness.worlds.deletes == []
    assert len(harness.worlds.plays) == 1


def test_lists_and_logs_may_come_while_a_world_is_asked(harness: Harness) -> None:
    harness.store.rows = [character()]
    client, link = harness.login(1208)
    harness.send(client, "OP_PlayCharacterRequestMsg", play_request(1208, 5))
    assert [number for number, _ in harness.list_worlds(client, link)] == [8, 4, 10]


def sane(harness: Harness, client: object) -> None:
    """Check what must hold whatever a client has sent."""
    assert client.state is not ClientState.AUTHENTICATING  # type: ignore[attr-defined]
    waits = client.pending_play is not None  # type: ignore[attr-defined]
    assert (client.state is ClientState.PLAYING) == waits  # type: ignore[attr-defined]
    assert harness.service.journal.counters["service fault"] == 0


bodies = st.one_of(
    st.binary(max_size=80),
    st.binary(max_size=40).map(lambda tail: b"\xff" * 40 + tail),
    st.tuples(st.sampled_from(LOGIN_VERSION_STEPS), st.integers(0, 1000)).map(
        lambda pair: create_request(pair[0])[: pair[1]]
    ),
    st.tuples(st.integers(4, 6), st.integers(0, 3)).map(lambda pair: play_request(546, *pair)),
    st.integers(4, 6).map(lambda char_id: delete_request(char_id, b"Aldana")),
    st.sampled_from(LOGIN_VERSION_STEPS).map(
        lambda version: login_request(b"tester", b"secret", version)
    ),
)
steps = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(NAMES), bodies),
        st.tuples(st.integers(0, 65535), bodies),
        st.tuples(st.just("time"), st.floats(0, 40)),
        st.tuples(st.just("play answer"), st.integers(0, 255)),
        st.tuples(st.just("create answer"), st.integers(0, 255)),
        st.tuples(st.just("world"), st.booleans()),
    ),
    max_size=12,
)


@pytest.mark.slow
@tries(50)
@given(st.sampled_from(LOGIN_VERSION_STEPS), st.booleans(), steps)
def test_any_messages_in_any_order_leave_the_client_sane(
    version: int, logged_in: bool, sequence: list[tuple[object, object]]
) -> None:
    harness = Harness()
    harness.store.rows = [character()]
    world = harness.worlds.entries[1]
    client, link = harness.login(version) if logged_in else harness.connect()
    for what, value in sequence:
        match what, value:
            case "time", float(seconds):
                harness.pass_time(client, seconds)
            case "play answer", int(code):
                answer = PlayResponse(1, 7, 5, 9, code, "203.0.113.9", 9001)
                harness.server.play_answered(answer, harness.now)
            case "create answer", int(code):
                harness.server.create_answered(CreateResponse(1, 7, 42, code), harness.now)
            case "world", bool(up):
                if up:
                    harness.worlds.change(world, harness.now)
                elif 1 in harness.worlds.entries:
                    harness.worlds.remove(1, harness.now)
            case str() | int(), bytes(body):
                if isinstance(what, int) or client.dialect.table.get(what) is not None:
                    harness.send(client, what, body)
        sane(harness, client)
    harness.pass_time(client, 10_000)
    assert client.pending_play is None
    assert client.state in END_STATES
    assert link.closed is not None
    assert len(harness.service.logged_in) == 0
    assert client.get_timer() is None
