"""World list, second reply, character list, and world changes.

Sources: docs/protocol/login.md, docs/protocol/characters.md.
"""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from emu.errors import StoreError
from emu.login.settings import CompatibilityChoices, LoginServiceConfig
from emu.versions import LOGIN_VERSION_STEPS
from emu.worlds import WorldEntry, ZoneDescription
from tests.support.login.login_harness import NORRATH, Harness, character, str16

FREEPORT = WorldEntry(2, "Freeport", up=True, locked=True, players=70000, development=True)
DOWN = WorldEntry(9, "Sleeping", up=False, locked=False, players=0)


def world(version: int, entry: WorldEntry, position: int, load: int) -> bytes:
    """Put one entry together from docs/protocol/login.md#world-list."""
    name = str16(entry.name.encode())
    races = 0xFFFFFFFF if version < 1212 else 0xFFFFF if version < 60006 else 0x1FFFFF
    place = position if version < 1212 else 0
    flags = bytes([entry.up, entry.locked, 0, place])
    players = struct.pack("<H", min(entry.players, 0xFFFF))
    middle = bytes([load, 1]) + (b"\0" if version < 562 else b"\0\0")
    return (
        struct.pack("<I", entry.id) + name * 2 + flags + players + middle + struct.pack("<I", races)
    )


@pytest.mark.parametrize("version", LOGIN_VERSION_STEPS)
def test_the_list_is_followed_by_flags_and_characters(harness: Harness, version: int) -> None:
    harness.worlds.entries |= {2: FREEPORT, 9: DOWN}
    client, link = harness.login(version)
    (first, worlds), (second, flags), (third, characters) = harness.list_worlds(client, link)
    assert (first, second, third) == (8, 4, 10)
    wanted = b"\x03" + world(version, NORRATH, 1, 0) + world(version, FREEPORT, 2, 2)
    wanted += world(version, DOWN, 3, 2) + (b"" if version < 562 else b"\0")
    assert worlds == wanted
    assert flags[0] == 10
    assert flags[16:20] == bytes(4)
    info = struct.pack("<IIHIB", 7, 0xFFFFFFFF, 0, 7, 0)
    assert characters == b"\0" + info + (b"" if version <= 561 else b"\xff" * 12 + bytes(6))


def test_a_development_world_says_so_when_it_is_not_locked(harness: Harness) -> None:
    harness.worlds.entries = {2: replace(FREEPORT, locked=False)}
    client, link = harness.login(546)
    worlds = harness.list_worlds(client, link)[0][1]
    assert worlds == b"\x01" + world(546, replace(FREEPORT, locked=False), 1, 1)


def test_the_oldest_clients_have_a_shorter_entry(harness: Harness) -> None:
    client, link = harness.login(283)
    worlds = harness.list_worlds(client, link)[0][1]
    assert worlds == b"\x01" + struct.pack("<I", 1) + str16(b"Norrath") + bytes([1, 0, 1, 1, 0])


def test_no_world_and_more_worlds_than_a_byte_counts(harness: Harness) -> None:
    harness.worlds.entries = {}
    client, link = harness.login(546)
    assert harness.list_worlds(client, link)[0] == (8, b"\0")
    harness.worlds.entries = {n: replace(NORRATH, id=n) for n in range(1, 301)}
    assert harness.list_worlds(client, link)[0][1][0] == 255


def test_lists_of_two_versions_are_both_fresh_after_a_change(harness: Harness) -> None:
    first, first_link = harness.login(546)
    second, second_link = harness.login(1208, b"other")
    for client, link in ((first, first_link), (second, second_link)):
        harness.list_worlds(client, link)
    harness.worlds.entries[1] = replace(NORRATH, players=99)
    assert harness.list_worlds(first, first_link)[0][1][27:29] == struct.pack("<H", 99)
    assert harness.list_worlds(second, second_link)[0][1][27:29] == struct.pack("<H", 99)


def test_only_characters_of_connected_worlds_are_listed(harness: Harness) -> None:
    harness.worlds.entries[9] = DOWN
    harness.store.rows = [
        character(),
        character(6, "Elsewhere", world_id=2),
        character(7, "Asleep", world_id=9),
        character(8, "Gone", deleted=True),
        character(9, "Foreign", account_id=8),
    ]
    client, link = harness.login(1208)
    listed = harness.list_worlds(client, link)[2][1]
    assert listed[0] == 1
    assert b"Aldana" in listed


def test_characters_are_read_again_for_every_list(harness: Harness) -> None:
    client, link = harness.login(1208)
    assert harness.list_worlds(client, link)[2][1][0] == 0
    harness.store.rows = [character()]
    assert harness.list_worlds(client, link)[2][1][0] == 1


def test_the_setting_and_the_veterans_are_sent_to_newer_clients() -> None:
    harness = Harness(LoginServiceConfig(max_characters=12))
    harness.store.rows = [character(1, level=50), character(2, level=49), character(3, level=51)]
    client, link = harness.login(1208)
    info = harness.list_worlds(client, link)[2][1][-33:]
    assert info[10:14] == struct.pack("<I", 12)
    assert info[31:] == b"\x02\x00"
    old, link = harness.login(546)
    assert harness.list_worlds(old, link)[2][1][-15:][10:14] == struct.pack("<I", 7)


def test_zone_texts_are_by_file_for_old_clients_and_by_name_for_new_ones(harness: Harness) -> None:
    harness.store.rows = [character()]
    harness.store.zones = [ZoneDescription(24, "Qeynos", "The City of Qeynos")]
    client, link = harness.login(1208)
    old = harness.list_worlds(client, link)[2][1]
    assert str16(b"qey") in old
    assert str16(b"The City of Qeynos") in old
    client, link = harness.login(57080)
    assert str16(b"Qeynos") in harness.list_worlds(client, link)[2][1]


def test_a_client_that_leaves_while_its_characters_are_read_is_sent_no_more(
    harness: Harness,
) -> None:
    client, link = harness.login(546)
    harness.store.holds = True
    harness.send(client, 7)
    client.closed()
    harness.store.release()
    assert link.sent == []


def test_all_lists_leave_together_and_worlds_are_those_of_that_moment(harness: Harness) -> None:
    client, link = harness.login(546)
    harness.store.holds = True
    harness.send(client, 7)
    harness.worlds.change(replace(NORRATH, id=5), harness.now)
    assert link.take() == []
    harness.store.release()
    worlds, *others = link.take()
    assert [number for number, _ in others] == [4, 10]
    assert (worlds[0], worlds[1][0]) == (8, 2)
    harness.pass_time(client, 0.3)
    assert link.take() == []


def test_a_store_that_fails_is_reported_and_the_next_request_works(harness: Harness) -> None:
    client, link = harness.login(546)
    harness.store.error = StoreError("disk full")
    assert [number for number, _ in harness.list_worlds(client, link)] == [8, 4]
    harness.store.error = None
    assert [number for number, _ in harness.list_worlds(client, link)] == [8, 4, 10]


@pytest.mark.parametrize("version", LOGIN_VERSION_STEPS)
def test_a_world_that_comes_or_goes_is_sent_in_seven_bytes(harness: Harness, version: int) -> None:
    client, link = harness.listing(version)
    harness.worlds.remove(1, harness.now)
    assert link.take() == []
    harness.pass_time(client, 0.3)
    assert link.take() == [(6, struct.pack("<IBBB", 1, 0, 0, 0))]
    harness.worlds.change(NORRATH, harness.now)
    harness.worlds.change(replace(NORRATH, id=5), harness.now)
    harness.pass_time(client, 0.3)
    assert link.take() == [
        (6, struct.pack("<IBBB", 1, 1, 0, 0)),
        (6, struct.pack("<IBBB", 5, 1, 0, 0)),
    ]


@pytest.mark.parametrize("version", LOGIN_VERSION_STEPS)
def test_a_lock_is_sent_in_eight_bytes(harness: Harness, version: int) -> None:
    client, link = harness.listing(version)
    for locked in (True, False):
        harness.worlds.change(replace(NORRATH, locked=locked), harness.now)
        harness.pass_time(client, 0.3)
        assert link.take() == [(6, struct.pack("<IBBBB", 1, 1, locked, 0, 0))]


def test_a_world_that_comes_up_locked_is_sent_in_both_forms(harness: Harness) -> None:
    client, link = harness.listing(546)
    harness.worlds.change(FREEPORT, harness.now)
    harness.pass_time(client, 0.3)
    assert link.take() == [
        (6, struct.pack("<IBBB", 2, 1, 0, 0)),
        (6, struct.pack("<IBBBB", 2, 1, 1, 0, 0)),
    ]


def test_eight_bytes_in_every_case_are_a_setting() -> None:
    harness = Harness(LoginServiceConfig(choices=CompatibilityChoices(long_status_only=True)))
    client, link = harness.listing(546)
    harness.worlds.change(FREEPORT, harness.now)
    harness.worlds.remove(1, harness.now)
    harness.pass_time(client, 0.3)
    assert link.take() == [
        (6, struct.pack("<IBBBB", 1, 0, 0, 0, 0)),
        (6, struct.pack("<IBBBB", 2, 1, 1, 0, 0)),
    ]


def test_what_does_not_change_is_not_pushed(harness: Harness) -> None:
    client, link = harness.listing(546)
    for players in range(100):
        harness.worlds.change(replace(NORRATH, players=players), harness.now)
    harness.pass_time(client, 600)
    assert link.take() == []


def test_a_world_that_flaps_within_the_delay_is_not_mentioned(harness: Harness) -> None:
    client, link = harness.listing(546)
    for _ in range(50):
        harness.worlds.remove(1, harness.now)
        harness.worlds.change(NORRATH, harness.now)
    harness.pass_time(client, 1)
    assert link.take() == []


def test_a_change_between_the_push_and_a_new_list_is_sent_once(harness: Harness) -> None:
    client, link = harness.listing(546)
    harness.worlds.remove(1, harness.now)
    assert harness.list_worlds(client, link)[0] == (8, b"\0")
    harness.pass_time(client, 1)
    assert link.take() == []


def test_a_client_without_a_list_gets_no_status(harness: Harness) -> None:
    client, link = harness.login(546)
    other, strange_link = harness.connect("192.0.2.2")
    harness.worlds.remove(1, harness.now)
    harness.pass_time(client, 1)
    other.handle_timer(harness.now)
    assert link.take() == strange_link.take() == []


def test_the_timer_is_asked_for_again_when_a_world_changes(harness: Harness) -> None:
    client, link = harness.listing(546)
    wakes = link.wakes
    harness.worlds.remove(1, harness.now)
    assert link.wakes == wakes + 1
    assert client.get_timer() == pytest.approx(harness.now + 0.25)


def test_a_client_that_is_idle_for_half_an_hour_is_closed(harness: Harness) -> None:
    client, link = harness.listing(546)
    harness.pass_time(client, 1799)
    harness.send(client, 9)
    harness.pass_time(client, 1799)
    assert link.closed is None
    harness.pass_time(client, 2)
    assert link.closed == "idle at the character list"
