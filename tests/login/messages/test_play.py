"""Play requests: every answer, and every way of getting none.

Sources: docs/protocol/characters.md#play, docs/protocol/characters.md#play-reply.
"""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from emu.errors import StoreError
from emu.login.client import Client, ClientState
from emu.login.events import AnswerDropped, CharacterDeleted, PlayGranted, PlayRefused, ServiceFault
from emu.model import PlayResponse
from emu.reply_codes import PlayCode
from emu.versions import LOGIN_VERSION_STEPS
from tests.support.login.login_fakes import FakeLink, Later
from tests.support.login.login_harness import NORRATH, Harness, character, play_request

YES = PlayResponse(1, 7, 5, 0x11223344, 1, "203.0.113.9", 9001)
HEADS = {546: 0, 1096: 2, 60085: 6}


def reply_number(version: int) -> int:
    return 19 if version < 60085 else 21


def reply(version: int, code: int, server: bytes = b"", port: int = 0, key: int = 0) -> bytes:
    gap = bytes(HEADS[max(step for step in HEADS if step <= version)])
    tail = struct.pack("<HII", port, 7, key)
    return bytes([code]) + gap + bytes([len(server)]) + server + tail


def asking(version: int = 546) -> tuple[Harness, Client, FakeLink]:
    harness = Harness()
    harness.store.rows = [character()]
    client, link = harness.login(version)
    harness.send(client, "OP_PlayCharacterRequestMsg", play_request(version, 5))
    return harness, client, link


@pytest.mark.parametrize("version", LOGIN_VERSION_STEPS)
def test_a_granted_request_sends_the_client_on(version: int) -> None:
    harness, client, link = asking(version)
    assert harness.worlds.plays == [(1, 7, 5, "192.0.2.1")]
    assert client.state is ClientState.PLAYING
    assert link.take() == []
    harness.server.play_answered(YES, harness.now)
    wanted = reply(version, 1, b"203.0.113.9", 9001, 0x11223344)
    assert link.take() == [(reply_number(version), wanted)]
    assert client.state is ClientState.LOGGED_IN
    assert harness.events.of(PlayGranted)[0].port == 9001


def test_an_answer_within_the_call_counts(harness: Harness) -> None:
    harness.store.rows = [character()]
    harness.worlds.play_answer = YES
    client, link = harness.login(546)
    harness.send(client, "OP_PlayCharacterRequestMsg", play_request(546, 5))
    assert link.take() == [(19, reply(546, 1, b"203.0.113.9", 9001, 0x11223344))]
    harness.pass_time(client, 20)
    assert link.take() == []


def test_a_character_that_was_let_in_has_been_played() -> None:
    harness, _, _ = asking()
    harness.server.play_answered(replace(YES, response=7), harness.now)
    assert harness.store.rows[0].last_played == 2000.0
    harness, _, _ = asking()
    harness.clock.seconds += 3
    harness.server.play_answered(YES, harness.now)
    assert harness.store.rows[0].last_played == harness.clock.moment()


def test_a_store_that_cannot_note_the_moment_keeps_nobody_out() -> None:
    harness, _, link = asking()
    harness.store.error = StoreError("the disk is full")
    harness.server.play_answered(YES, harness.now)
    assert link.take() == [(19, reply(546, 1, b"203.0.113.9", 9001, 0x11223344))]
    assert harness.events.of(ServiceFault)[0].reason == "the disk is full"


@pytest.mark.parametrize("code", [0, 4, 6, 7, 10, 18, 253])
def test_a_world_s_refusal_is_passed_on_as_it_is(code: int) -> None:
    harness, client, link = asking()
    harness.server.play_answered(replace(YES, response=code, access_key=9), harness.now)
    assert link.take() == [(19, reply(546, code))]
    assert client.state is ClientState.LOGGED_IN
    assert len(harness.store.rows) == 1
    assert not harness.store.rows[0].deleted


def test_a_character_that_its_world_does_not_have_is_marked_deleted() -> None:
    harness, _, link = asking()
    harness.server.play_answered(replace(YES, response=5), harness.now)
    assert link.take() == [(19, reply(546, 5))]
    assert harness.store.rows[0].deleted
    assert harness.events.of(CharacterDeleted)[0].reason == "its world does not have it"


def test_a_world_that_never_answers_is_given_up_after_five_seconds() -> None:
    harness, client, link = asking()
    harness.pass_time(client, 4.9)
    assert link.take() == []
    harness.pass_time(client, 0.2)
    assert link.take() == [(19, reply(546, 8))]
    assert client.state is ClientState.LOGGED_IN


def test_a_late_answer_is_dropped() -> None:
    harness, client, link = asking()
    harness.pass_time(client, 6)
    link.take()
    harness.server.play_answered(YES, harness.now)
    assert link.take() == []
    assert len(harness.events.of(AnswerDropped)) == 1


@pytest.mark.parametrize(
    "answer", [replace(YES, char_id=6), replace(YES, world_id=2), replace(YES, account_id=8)]
)
def test_an_answer_to_something_else_is_dropped(answer: PlayResponse) -> None:
    harness, client, link = asking()
    harness.server.play_answered(answer, harness.now)
    assert link.take() == []
    assert client.state is ClientState.PLAYING


def test_a_world_that_goes_while_asked_is_answered_at_once() -> None:
    harness, client, link = asking()
    harness.worlds.remove(1)
    assert link.take() == [(19, reply(546, 0))]
    assert client.state is ClientState.LOGGED_IN
    harness.pass_time(client, 10)
    assert link.take() == []


def test_another_world_that_goes_changes_nothing() -> None:
    harness, client, link = asking()
    harness.server.world_gone(2, harness.now)
    assert client.state is ClientState.PLAYING
    assert link.take() == []


def test_a_world_that_vanished_before_the_request_is_a_problem_at_once(harness: Harness) -> None:
    harness.store.rows = [character()]
    client, link = harness.listing(546)
    harness.worlds.remove(1)
    harness.send(client, "OP_PlayCharacterRequestMsg", play_request(546, 5))
    assert link.take() == [(19, reply(546, 0))]
    assert harness.events.of(PlayRefused)[0].reason == "world not connected"


@pytest.mark.parametrize(("char_id", "world_id"), [(6, 1), (5, 2), (0, 0), (0xFFFFFFFF, 1)])
def test_a_character_that_is_not_there_is_a_problem_at_once(
    harness: Harness, char_id: int, world_id: int
) -> None:
    harness.store.rows = [character(), character(6, account_id=8), character(9, deleted=True)]
    client, link = harness.login(546)
    harness.send(client, "OP_PlayCharacterRequestMsg", play_request(546, char_id, world_id))
    assert link.take() == [(19, reply(546, 0))]
    assert harness.worlds.plays == []


def test_a_second_request_while_one_waits_is_dropped() -> None:
    harness, client, link = asking()
    harness.send(client, "OP_PlayCharacterRequestMsg", play_request(546, 5))
    assert client.drops == {"message out of order": 1}
    assert len(harness.worlds.plays) == 1
    harness.server.play_answered(YES, harness.now)
    assert len(link.take()) == 1


def test_after_a_refusal_the_client_may_ask_again() -> None:
    harness, client, link = asking()
    harness.server.play_answered(replace(YES, response=7), harness.now)
    harness.send(client, "OP_PlayCharacterRequestMsg", play_request(546, 5))
    harness.server.play_answered(YES, harness.now)
    assert [payload[0] for _, payload in link.take()] == [7, 1]


def test_a_client_that_leaves_while_it_waits_leaves_nothing_behind() -> None:
    harness, client, link = asking()
    client.closed()
    harness.server.play_answered(YES, harness.now)
    assert link.sent == []
    assert client.get_timer() is None
    again, link = harness.login(546)
    harness.send(again, "OP_PlayCharacterRequestMsg", play_request(546, 5))
    harness.server.play_answered(YES, harness.now)
    assert link.take()[0][1][0] == 1


def test_a_client_that_leaves_while_its_characters_are_read_asks_no_world(harness: Harness) -> None:
    harness.store.rows = [character()]
    client, _ = harness.login(546)
    harness.store.holds = True
    harness.send(client, "OP_PlayCharacterRequestMsg", play_request(546, 5))
    client.closed()
    harness.store.release()
    assert harness.worlds.plays == []


@pytest.mark.parametrize(
    "answer",
    [
        replace(YES, address="x" * 300),
        replace(YES, port=70000),
        replace(YES, port=-1),
        replace(YES, address=""),
        replace(YES, address="192.0.2.1\r\n"),
        replace(YES, address="my world"),
        replace(YES, address="10.0.0.300"),
        replace(YES, address="-"),
        replace(YES, address="[::1]"),
        replace(YES, address="\x00\x80w\xfcrld"),
        replace(YES, port=0),
    ],
)
def test_an_address_that_cannot_be_sent_is_a_problem(answer: PlayResponse) -> None:
    harness, client, link = asking()
    harness.server.play_answered(answer, harness.now)
    assert link.take() == [(19, reply(546, 0))]
    assert client.state is ClientState.LOGGED_IN


def test_an_account_that_was_banned_since_its_login_asks_no_world(harness: Harness) -> None:
    asked = []

    async def is_barred(account_id: int, address: str) -> bool:
        asked.append((account_id, address))
        return True

    harness.service.is_barred = is_barred
    harness.store.rows = [character()]
    client, link = harness.login(546)
    harness.send(client, "OP_PlayCharacterRequestMsg", play_request(546, 5))
    assert asked == [(7, "192.0.2.1")]
    assert link.take() == [(19, reply(546, 18))]
    assert harness.worlds.plays == []
    assert client.state is ClientState.LOGGED_IN


def asking_slowly(harness: Harness) -> tuple[Client, FakeLink, Later]:
    """Let a client play while the store has not said whether it is banned."""
    said = Later()

    async def is_barred(_account_id: int, _address: str) -> bool:
        return bool(await said)

    harness.service.is_barred = is_barred
    harness.store.rows = [character()]
    client, link = harness.login(546)
    harness.send(client, "OP_PlayCharacterRequestMsg", play_request(546, 5))
    assert harness.worlds.plays == [(1, 7, 5, "192.0.2.1")]
    return client, link, said


@pytest.mark.parametrize("first", ["world", "store"])
def test_a_world_is_asked_while_the_store_is_asked_about_a_ban(
    harness: Harness, first: str
) -> None:
    client, link, said = asking_slowly(harness)
    answers = [
        lambda: harness.server.play_answered(YES, harness.now),
        lambda: said.resolve(False),
    ]
    for answer in answers if first == "world" else answers[::-1]:
        assert (link.take(), client.state) == ([], ClientState.PLAYING)
        answer()
    assert link.take() == [(19, reply(546, 1, b"203.0.113.9", 9001, 0x11223344))]
    assert client.state is ClientState.LOGGED_IN
    assert len(harness.events.of(PlayGranted)) == 1


@pytest.mark.parametrize("is_answered", [True, False])
def test_a_ban_that_is_known_late_wins_over_the_world(harness: Harness, is_answered: bool) -> None:
    client, link, said = asking_slowly(harness)
    if is_answered:
        harness.server.play_answered(YES, harness.now)
    said.resolve(True)
    assert link.take() == [(19, reply(546, 18))]
    assert client.state is ClientState.LOGGED_IN
    harness.server.play_answered(YES, harness.now)
    assert link.take() == []
    assert harness.events.of(PlayGranted) == []


def test_a_store_that_does_not_say_whether_it_is_banned_lets_nobody_in(harness: Harness) -> None:
    client, link, said = asking_slowly(harness)
    harness.server.play_answered(YES, harness.now)
    said.fail(StoreError("away"))
    assert link.take() == [(19, reply(546, 0))]
    assert client.state is ClientState.LOGGED_IN
    assert harness.service.journal.counters["service fault"] == 1


def test_a_refusal_of_the_world_waits_for_no_store(harness: Harness) -> None:
    client, link, said = asking_slowly(harness)
    harness.server.play_answered(replace(YES, response=PlayCode.PROBLEM), harness.now)
    assert link.take() == [(19, reply(546, 0))]
    said.resolve(True)
    assert link.take() == []
    assert client.state is ClientState.LOGGED_IN


def test_a_store_that_fails_is_reported_and_answered(harness: Harness) -> None:
    client, link = harness.login(546)
    harness.store.error = StoreError("disk full")
    harness.send(client, "OP_PlayCharacterRequestMsg", play_request(546, 5))
    assert link.take() == [(19, reply(546, 0))]
    assert harness.events.of(PlayRefused)[0].reason == "server problem"
    assert client.state is ClientState.LOGGED_IN
    assert harness.service.journal.counters["service fault"] == 1


def test_clients_up_to_283_name_the_character_and_its_world_is_found(harness: Harness) -> None:
    harness.worlds.change(replace(NORRATH, id=2))
    harness.store.rows = [character(), character(5, "Borvik", world_id=2)]
    client, link = harness.login(283)
    body = struct.pack("<I", 5) + struct.pack("<H", 6) + b"Borvik"
    harness.send(client, "OP_PlayCharacterRequestMsg", body)
    assert harness.worlds.plays == [(2, 7, 5, "192.0.2.1")]
    assert link.take() == []
