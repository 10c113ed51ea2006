"""The server as a whole: a session from connect to play, and what it keeps."""

from __future__ import annotations

import gc
import weakref

import pytest

from emu.login.client import ClientState
from emu.login.settings import LoginServiceConfig
from emu.model import CreateResponse, PlayResponse
from emu.versions import LOGIN_VERSION_STEPS
from tests.support.login.login_harness import (
    NORRATH,
    Harness,
    create_request,
    delete_request,
    login_request,
    play_request,
)

MADE = CreateResponse(1, 7, 42, 1)
LET_IN = PlayResponse(1, 7, 42, 99, 1, "203.0.113.9", 9001)


@pytest.mark.parametrize("version", LOGIN_VERSION_STEPS)
def test_a_whole_session_of_every_version_step(version: int) -> None:
    """Log in, list, create, list, play, delete; every message has its number and its turn."""
    late = version >= 60085
    delete, play = (19, 21) if late else (17, 19)
    harness = Harness()
    client, link = harness.connect()
    harness.send(client, 0, login_request(b"tester", b"secret", version))
    harness.send(client, 7)
    harness.send(client, "OP_CreateCharacterRequestMsg", create_request(version))
    harness.server.create_answered(MADE, harness.now)
    if version <= 561:
        harness.server.play_answered(LET_IN, harness.now)
    harness.send(client, 7)
    harness.send(client, "OP_PlayCharacterRequestMsg", play_request(version, 42))
    harness.server.play_answered(LET_IN, harness.now)
    harness.send(client, "OP_DeleteCharacterRequestMsg", delete_request(42, b"Aldana"))
    numbers = [number for number, _ in link.take()]
    created = [12, 10, play] if version <= 561 else [12, 10]
    assert numbers == [4, 8, 4, 10, *created, 8, 4, 10, play, delete, 10]
    assert client.drops == {}
    assert harness.service.journal.counters["service fault"] == 0
    assert harness.worlds.deletes == [(1, 7, 42)]
    harness.pass_time(client, 30)
    assert link.take() == []


def test_it_subscribes_to_the_worlds(harness: Harness) -> None:
    assert harness.worlds.observer is harness.server


def test_a_thousand_sessions_leave_nothing_behind() -> None:
    often = LoginServiceConfig(logins_at_once=1000, address_logins_at_once=1000)
    harness = Harness(config=often)
    seen = weakref.WeakSet()
    for _ in range(1000):
        client, link = harness.login(546)
        harness.list_worlds(client, link)
        seen.add(link)
        client.closed()
    harness.events.clear()
    del client, link
    gc.collect()
    assert len(seen) == 0
    assert len(harness.service.logged_in) == 0
    assert harness.service.logged_in._addresses == {}


def test_an_account_in_use_is_never_in_the_way(harness: Harness) -> None:
    clients = [harness.login(546, address=f"192.0.2.{n}") for n in range(10)]
    assert [link.closed is None for _, link in clients] == [False] * 9 + [True]
    assert len(harness.service.logged_in) == 1
    assert all(client.state is ClientState.CLOSED for client, _ in clients[:-1])


def test_a_world_whose_link_is_replaced_has_no_pending_answers(harness: Harness) -> None:
    """The directory says gone and then changed: requests end, and no client is sent a change."""
    creating, create_link = harness.login(1208)
    harness.list_worlds(creating, create_link)
    harness.send(creating, "OP_CreateCharacterRequestMsg", create_request(1208))
    harness.server.world_gone(1, harness.now)
    harness.server.world_changed(NORRATH, harness.now)
    harness.pass_time(creating, 1)
    assert [(number, payload[8]) for number, payload in create_link.take()] == [(12, 2)]
    harness.send(creating, "OP_CreateCharacterRequestMsg", create_request(1208, b"Borvik"))
    harness.server.create_answered(MADE, harness.now)
    assert [row.name for row in harness.store.rows] == ["Borvik"]


def test_other_clients_hear_nothing_of_one_s_play_and_creation(harness: Harness) -> None:
    client, link = harness.login(546)
    other, other_link = harness.login(546, b"other", "192.0.2.2")
    harness.list_worlds(other, other_link)
    harness.send(client, "OP_CreateCharacterRequestMsg", create_request(546))
    harness.server.create_answered(MADE, harness.now)
    harness.server.play_answered(LET_IN, harness.now)
    assert len(link.take()) == 3
    assert other_link.take() == []


def test_counters_count_outcomes(harness: Harness) -> None:
    client, _ = harness.login(546)
    harness.send(client, "OP_CreateCharacterRequestMsg", create_request(546))
    harness.server.create_answered(MADE, harness.now)
    harness.server.play_answered(LET_IN, harness.now)
    wanted = {"clients connected", "login accepted", "characters created", "play granted"}
    assert harness.service.counters == dict.fromkeys(wanted, 1)
