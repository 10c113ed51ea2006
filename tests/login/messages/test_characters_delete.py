"""Deleting characters (docs/protocol/characters.md#delete, docs/protocol/characters.md#list)."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

import pytest

from emu.errors import StoreError
from emu.login.events import CharacterDeleted, DeleteRefused
from emu.versions import LOGIN_VERSION_STEPS
from tests.support.login.login_harness import Harness, character, delete_request, str16

DELETE = "OP_DeleteCharacterRequestMsg"


def reply(
    version: int, code: int, char_id: int, name: bytes, world_id: int = 1
) -> tuple[int, bytes]:
    head = struct.pack("<BII", code, world_id, char_id)
    # The 2006 client reads the name here (its study, message 17).
    head += b"" if version <= 561 else struct.pack("<I", 7)
    return 17 if version < 60085 else 19, head + str16(name) + struct.pack("<I", 10)


@pytest.mark.parametrize("version", LOGIN_VERSION_STEPS)
def test_a_deleted_character_is_gone_here_and_its_world_is_notified(
    harness: Harness, version: int
) -> None:
    harness.store.rows = [character(), character(6, "Borvik")]
    client, link = harness.login(version)
    harness.send(client, DELETE, delete_request(5, b"Aldana"))
    first, (number, listed) = link.take()
    assert first == reply(version, 1, 5, b"Aldana")
    assert number == 10
    assert b"Borvik" in listed
    assert b"Aldana" not in listed
    assert harness.worlds.deletes == [(1, 7, 5)]
    assert [row.deleted for row in harness.store.rows] == [True, False]
    assert harness.events.of(CharacterDeleted)[0].name == "Aldana"
    old = version <= 561
    assert listed[0] == (2 if old else 1)
    assert (b"(deleted)" in listed) == old


def test_a_character_that_was_deleted_meanwhile_is_refused(harness: Harness) -> None:
    harness.store.rows = [character()]
    client, link = harness.login(1208)

    async def nothing(*_row: object) -> bool:
        return False

    characters: Any = harness.service.characters
    characters.delete_character = nothing
    harness.send(client, DELETE, delete_request(5, b"Aldana"))
    assert link.take()[0] == reply(1208, 0, 5, b"Aldana")
    assert [event.name for event in harness.events.of(DeleteRefused)] == ["Aldana"]
    assert harness.worlds.deletes == []


def test_deleted_entries_stay_for_this_session_only(harness: Harness) -> None:
    harness.store.rows = [character()]
    client, link = harness.login(546)
    harness.send(client, DELETE, delete_request(5, b"Aldana"))
    link.take()
    listed = harness.list_worlds(client, link)[2][1]
    assert listed[:9] == b"\x01" + b"\xff" * 8
    assert listed[9:20] == str16(b"(deleted)")
    client, link = harness.login(546)
    assert harness.list_worlds(client, link)[2][1][0] == 0


def test_a_deleted_entry_stays_where_it_was(harness: Harness) -> None:
    names = ("Aldana", "Borvik", "Corwyn")
    harness.store.rows = [
        replace(character(5 + place, name), id=place + 1) for place, name in enumerate(names)
    ]
    client, link = harness.login(546)
    harness.send(client, DELETE, delete_request(6, b"Borvik"))
    listed = link.take()[1][1]
    places = [listed.index(name) for name in (b"Aldana", b"(deleted)", b"Corwyn")]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("char_id", "name", "world_id"),
    [(6, b"Aldana", 1), (5, b"Borvik", 1), (5, b"aldana", 1), (5, b"Aldana", 2), (5, b"", 1)],
)
def test_what_does_not_match_is_refused_and_the_list_follows(
    harness: Harness, char_id: int, name: bytes, world_id: int
) -> None:
    harness.store.rows = [character()]
    client, link = harness.login(1208)
    harness.send(client, DELETE, delete_request(char_id, name, world_id))
    first, second = link.take()
    assert first == reply(1208, 0, char_id, name, world_id)
    assert second[1][0] == 1
    assert harness.worlds.deletes == []
    assert len(harness.events.of(DeleteRefused)) == 1


def test_another_account_s_character_is_safe(harness: Harness) -> None:
    harness.store.rows = [character(account_id=8)]
    client, link = harness.login(1208)
    harness.send(client, DELETE, delete_request(5, b"Aldana"))
    assert link.take()[0] == reply(1208, 0, 5, b"Aldana")
    assert not harness.store.rows[0].deleted


def test_a_character_of_a_world_that_is_away_is_kept(harness: Harness) -> None:
    harness.store.rows = [character()]
    client, link = harness.login(1208)
    harness.worlds.remove(1)
    harness.send(client, DELETE, delete_request(5, b"Aldana"))
    assert link.take()[0] == reply(1208, 0, 5, b"Aldana")
    assert not harness.store.rows[0].deleted


def test_the_same_number_and_name_on_two_worlds_is_no_trouble(harness: Harness) -> None:
    harness.store.rows = [character(world_id=2), character()]
    client, _ = harness.login(1208)
    harness.send(client, DELETE, delete_request(5, b"Aldana"))
    assert [row.deleted for row in harness.store.rows] == [False, True]


def test_a_store_that_fails_is_reported_and_answered(harness: Harness) -> None:
    client, link = harness.login(1208)
    harness.store.error = StoreError("disk full")
    harness.send(client, DELETE, delete_request(5, b"Aldana"))
    assert link.take() == [reply(1208, 0, 5, b"Aldana")]
    assert client.is_logged_in
    assert harness.service.journal.counters["service fault"] == 1


@pytest.mark.slow
def test_kept_entries_are_bounded(harness: Harness) -> None:
    client, link = harness.login(546)
    for char_id in range(1, 121):
        harness.store.rows = [character(char_id)]
        harness.send(client, DELETE, delete_request(char_id, b"Aldana"))
    assert link.take()[-1][1][0] == 100
