"""Creating characters: refusals, answers early, late and never.

Sources: docs/protocol/characters.md#create, docs/protocol/characters.md#create-reply.
"""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from emu.errors import StoreError
from emu.login.client import Client, ClientState
from emu.login.events import AnswerDropped, CharacterCreated, CreateRefused, ServiceFault
from emu.login.settings import LoginServiceConfig
from emu.model import Color, CreateResponse, PlayResponse
from emu.versions import LOGIN_VERSION_STEPS
from tests.support.login.login_fakes import FakeLink
from tests.support.login.login_harness import Harness, character, create_request, str16

MADE = CreateResponse(1, 7, 42, 1)
CREATE = "OP_CreateCharacterRequestMsg"


def reply(version: int, code: int, name: bytes = b"") -> tuple[int, bytes]:
    middle = b"" if version < 1189 else (b"\xff" * 4 if code == 1 else bytes(4))
    return 12, struct.pack("<I", 7) + middle + bytes([code]) + str16(name)


def asking(version: int = 1208, name: bytes = b"Aldana") -> tuple[Harness, Client, FakeLink]:
    harness = Harness()
    client, link = harness.login(version)
    harness.send(client, CREATE, create_request(version, name))
    return harness, client, link


@pytest.mark.parametrize("version", LOGIN_VERSION_STEPS)
def test_a_created_character_is_saved_replied_and_listed(version: int) -> None:
    harness, client, link = asking(version)
    assert harness.worlds.creates == [(1, 7, version, create_request(version))]
    assert link.take() == []
    harness.server.create_answered(MADE, harness.now)
    first, second, *others = link.take()
    assert first == reply(version, 1, b"Aldana")
    assert second[0] == 10
    assert second[1][0] == 1
    assert b"Aldana" in second[1]
    assert others == []
    (row,) = harness.store.rows
    assert (row.account_id, row.world_id, row.char_id, row.name) == (7, 1, 42, "Aldana")
    assert (row.race, row.gender, row.deity, row.class_, row.level) == (9, 1, 2, 3, 1)
    assert row.client_version == version
    assert (row.created, row.last_played) == (harness.clock.moment(), 0.0), "nobody has played it"
    assert harness.events.of(CharacterCreated)[0].name == "Aldana"
    assert (client.state is ClientState.PLAYING) == (version <= 561)


@pytest.mark.parametrize("version", LOGIN_VERSION_STEPS)
def test_colors_are_coded_by_the_client_s_family(version: int) -> None:
    harness, _, _ = asking(version)
    harness.server.create_answered(MADE, harness.now)
    (row,) = harness.store.rows
    old = version <= 561
    wanted = Color(125, -69, -6, signed=True) if old else Color(127, 191, 255)
    names = {"skin_color", "eye_color", "hair_color1", "hair_color2", "hair_type_color"}
    names |= {"hair_face_highlight_color", "shirt_color", "unknown_legs_color", "unknown9"}
    assert {name: row.colors[name] for name in names} == dict.fromkeys(names, wanted)
    sliders = {"eye_type", "ear_type", "eye_brow_type", "cheek_type", "lip_type", "chin_type"}
    assert all(row.colors[name] == Color(-25, 0, 50, signed=True) for name in sliders)
    assert row.appearance["body_size"] == 50
    assert {row.appearance[name] for name in ("race_type", "hair_type", "legs_type")} == {134}
    assert ("soga_race_type" in row.appearance) == (not old)


def test_old_clients_are_taken_straight_to_play() -> None:
    harness, client, link = asking(546)
    harness.server.create_answered(MADE, harness.now)
    link.take()
    assert harness.worlds.plays == [(1, 7, 42, "192.0.2.1")]
    harness.server.play_answered(PlayResponse(1, 7, 42, 9, 1, "203.0.113.9", 9001), harness.now)
    assert link.take()[0][0] == 19
    assert client.state is ClientState.LOGGED_IN


@pytest.mark.parametrize("version", [546, 1208])
def test_no_reply_follows_later(version: int) -> None:
    harness, client, link = asking(version)
    harness.server.create_answered(MADE, harness.now)
    harness.server.play_answered(PlayResponse(1, 7, 42, 9, 1, "203.0.113.9", 9001), harness.now)
    link.take()
    harness.pass_time(client, 60)
    assert link.take() == []


@pytest.mark.parametrize("code", [0, 2, 5, 10, 11, 12, 13, 15, 18])
@pytest.mark.parametrize("version", [546, 1188, 1208, 64753])
def test_a_world_s_refusal_is_passed_on_as_it_is(version: int, code: int) -> None:
    harness, client, link = asking(version)
    harness.server.create_answered(replace(MADE, response=code), harness.now)
    assert link.take() == [reply(version, code)]
    assert harness.store.rows == []
    harness.pass_time(client, 60)
    assert link.take() == []


def test_after_a_refusal_the_client_may_try_again() -> None:
    harness, client, link = asking()
    harness.server.create_answered(replace(MADE, response=13), harness.now)
    harness.send(client, CREATE, create_request(1208, b"Borvik"))
    harness.server.create_answered(MADE, harness.now)
    assert [payload for number, payload in link.take() if number == 12] == [
        reply(1208, 13)[1],
        reply(1208, 1, b"Borvik")[1],
    ]


def test_an_account_asks_worlds_only_so_often_in_an_hour() -> None:
    harness = Harness(LoginServiceConfig(creations_per_hour=3))
    client, link = harness.login(1208)
    codes = []
    for _ in range(5):
        harness.send(client, CREATE, create_request(1208))
        harness.server.create_answered(replace(MADE, response=13), harness.now)
        codes += [payload[8] for number, payload in link.take() if number == 12]
    assert codes == [13, 13, 13, 14, 14]
    assert len(harness.worlds.creates) == 3
    refused = harness.events.of(CreateRefused)[-1]
    assert (refused.code, refused.reason) == (14, "too many requests lately")
    harness.pass_time(client, 1200)
    harness.send(client, CREATE, create_request(1208))
    assert len(harness.worlds.creates) == 4


def test_a_request_that_reaches_no_world_does_not_count() -> None:
    harness = Harness(LoginServiceConfig(creations_per_hour=1))
    client, link = harness.login(1208)
    harness.worlds.deaf = True
    for _ in range(3):
        harness.send(client, CREATE, create_request(1208))
    assert [payload[8] for number, payload in link.take() if number == 12] == [2, 2, 2]
    harness.worlds.deaf = False
    harness.send(client, CREATE, create_request(1208))
    assert len(harness.worlds.creates) == 1


def test_a_world_that_never_answers_is_given_up_with_a_play_reply() -> None:
    harness, client, link = asking(546)
    harness.pass_time(client, 14.9)
    assert link.take() == []
    harness.pass_time(client, 0.2)
    assert link.take() == [(19, struct.pack("<BBHII", 8, 0, 0, 7, 0))]
    assert client.state is ClientState.LOGGED_IN
    harness.pass_time(client, 100)
    assert link.take() == []


def test_a_late_success_is_saved_and_shown_but_not_played() -> None:
    harness, client, link = asking(546)
    harness.pass_time(client, 16)
    link.take()
    harness.server.create_answered(MADE, harness.now)
    assert [number for number, _ in link.take()] == [12, 10]
    assert len(harness.store.rows) == 1
    assert harness.worlds.plays == []


def test_a_character_made_after_its_client_left_is_saved() -> None:
    harness, client, link = asking()
    client.closed()
    harness.server.create_answered(MADE, harness.now)
    assert [row.name for row in harness.store.rows] == ["Aldana"]
    assert link.sent == []
    again, link = harness.login(1208)
    assert b"Aldana" in harness.list_worlds(again, link)[2][1]


def test_a_client_that_leaves_while_its_character_is_saved_loses_nothing() -> None:
    harness, client, link = asking()
    harness.store.holds = True
    harness.server.create_answered(MADE, harness.now)
    client.closed()
    harness.store.release()
    assert [row.name for row in harness.store.rows] == ["Aldana"]
    assert link.sent == []


def test_answers_after_a_new_login_belong_to_the_oldest_request() -> None:
    harness, client, _ = asking(1208, b"Aldana")
    client.closed()
    again, link = harness.login(1208)
    harness.send(again, CREATE, create_request(1208, b"Borvik"))
    harness.server.create_answered(MADE, harness.now)
    assert [row.name for row in harness.store.rows] == ["Aldana"]
    assert link.take() == []
    harness.server.create_answered(replace(MADE, char_id=43), harness.now)
    assert [row.name for row in harness.store.rows] == ["Aldana", "Borvik"]
    assert link.take()[0] == reply(1208, 1, b"Borvik")


def test_a_second_request_while_one_waits_is_refused() -> None:
    harness, client, link = asking()
    harness.send(client, CREATE, create_request(1208, b"Borvik"))
    assert link.take() == [reply(1208, 3)]
    assert len(harness.worlds.creates) == 1
    harness.server.create_answered(MADE, harness.now)
    assert link.take()[0] == reply(1208, 1, b"Aldana")


def test_unanswered_requests_are_bounded_and_forgotten_in_time() -> None:
    harness, client, link = asking()
    for _ in range(3):
        harness.pass_time(client, 16)
        harness.send(client, CREATE, create_request(1208))
    assert len(harness.worlds.creates) == 4
    harness.pass_time(client, 16)
    link.take()
    harness.send(client, CREATE, create_request(1208))
    assert link.take() == [reply(1208, 3)]
    harness.pass_time(client, 120)
    harness.send(client, CREATE, create_request(1208))
    assert len(harness.worlds.creates) == 5
    assert len(harness.service.creates) == 1


def test_a_world_that_is_not_there_is_no_server(harness: Harness) -> None:
    client, link = harness.login(1208)
    harness.send(client, CREATE, create_request(1208, world_id=2))
    assert link.take() == [reply(1208, 2)]
    assert harness.events.of(CreateRefused)[0].reason == "world not connected"
    harness.pass_time(client, 60)
    assert link.take() == []


def test_a_world_that_goes_before_it_was_asked_is_no_server(harness: Harness) -> None:
    client, link = harness.login(1208)
    harness.worlds.deaf = True
    harness.send(client, CREATE, create_request(1208))
    assert link.take() == [reply(1208, 2)]
    assert len(harness.service.creates) == 0
    harness.pass_time(client, 60)
    assert link.take() == []


def test_a_world_that_goes_while_asked_is_answered_at_once() -> None:
    harness, client, link = asking()
    harness.worlds.remove(1)
    assert link.take() == [reply(1208, 2)]
    harness.server.create_answered(MADE, harness.now)
    assert harness.store.rows == []
    assert len(harness.events.of(AnswerDropped)) == 1
    harness.pass_time(client, 60)
    assert link.take() == []


def test_an_answer_without_account_rejects_the_only_one_who_waits() -> None:
    harness, _, link = asking()
    harness.server.create_answered(CreateResponse(1, 0, 0, 0), harness.now)
    assert link.take() == [reply(1208, 0)]


def test_an_answer_without_account_is_dropped_when_two_wait() -> None:
    harness, _, link = asking()
    other, other_link = harness.login(1208, b"other", "192.0.2.2")
    harness.send(other, CREATE, create_request(1208, b"Borvik"))
    harness.server.create_answered(CreateResponse(1, 0, 0, 1), harness.now)
    assert link.take() == other_link.take() == []
    assert len(harness.service.creates) == 2


def test_an_answer_within_the_call_counts(harness: Harness) -> None:
    harness.worlds.create_answer = MADE
    client, link = harness.login(1208)
    harness.send(client, CREATE, create_request(1208))
    assert [number for number, _ in link.take()] == [12, 10]
    harness.pass_time(client, 60)
    assert link.take() == []


@pytest.mark.parametrize(("size", "asked"), [(0, 0), (1, 1), (63, 1), (64, 0), (5000, 0)])
def test_a_name_s_size_is_bounded_before_the_world_is_asked(size: int, asked: int) -> None:
    harness, _, link = asking(1208, b"a" * size)
    assert len(harness.worlds.creates) == asked
    assert link.take() == ([] if asked else [reply(1208, 10)])


def test_an_account_has_a_last_character() -> None:
    harness = Harness(LoginServiceConfig(character_limit=2, max_characters=2))
    harness.store.rows = [character(1), character(2)]
    client, link = harness.login(1208)
    harness.send(client, CREATE, create_request(1208))
    assert link.take() == [reply(1208, 4)]


def test_a_greater_setting_moves_the_last_character() -> None:
    harness = Harness(LoginServiceConfig(character_limit=2, max_characters=3))
    harness.store.rows = [character(1), character(2)]
    client, link = harness.login(1208)
    harness.send(client, CREATE, create_request(1208))
    assert link.take() == []


def test_a_store_that_fails_is_reported_and_answered() -> None:
    harness, client, link = asking()
    harness.store.error = StoreError("disk full")
    harness.server.create_answered(MADE, harness.now)
    assert link.take() == [reply(1208, 0)]
    assert harness.events.of(ServiceFault)[0].reason == "disk full"
    assert harness.events.of(CreateRefused)[0].reason == "server problem"
    assert client.is_logged_in


def test_a_store_that_fails_before_the_world_is_asked_is_reported_and_answered(
    harness: Harness,
) -> None:
    client, link = harness.login(1208)
    harness.store.error = StoreError("disk full")
    harness.send(client, CREATE, create_request(1208))
    assert link.take() == [reply(1208, 0)]
    assert [event.reason for event in harness.events.of(ServiceFault)] == ["disk full"]
    assert harness.worlds.creates == []


def test_the_new_row_replaces_an_older_one_of_the_same_number() -> None:
    harness, _, link = asking()
    harness.store.rows = [character(42, "Older")]
    harness.server.create_answered(MADE, harness.now)
    assert [row.name for row in harness.store.rows if not row.deleted] == ["Aldana"]
    assert link.take()[1][1][0] == 1
